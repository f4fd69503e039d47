//! What differs between two clusters that do the same: ids. Each is replaced by the number in whose order it was first seen.

use millstream_protocol::messages::{StrBytes, Uuid};
use std::collections::BTreeMap;

/// The ids of one side.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    topics: BTreeMap<String, Uuid>,
    uuids: Vec<Uuid>,
    producers: Vec<i64>,
    /// Producers by the test's names for them: id and epoch.
    pub(crate) held: BTreeMap<String, (i64, i16)>,
    /// Where logs are.
    pub(crate) log_dir: Option<StrBytes>,
    /// The id of a client that reports metrics, and of what it is to report.
    pub(crate) metrics: Option<(Uuid, i32)>,
}

impl Ids {
    /// A topic's id: made anew, learned from an answer.
    pub(crate) fn learn_topic(&mut self, name: &str, id: Uuid) {
        self.topics.insert(name.to_owned(), id);
    }
    /// The id of a topic; of one that is not there an id that nobody has.
    pub(crate) fn topic(&self, name: &str) -> Uuid {
        self.topics.get(name).copied().unwrap_or(Uuid::from_u128(0xdead))
    }
    /// The same for the same id on both sides.
    pub(crate) fn tidy(&mut self, id: Uuid) -> Uuid {
        if id.is_nil() || id == Uuid::from_u128(0xdead) {
            return id;
        }
        let at = self.uuids.iter().position(|known| *known == id).unwrap_or_else(|| {
            self.uuids.push(id);
            self.uuids.len() - 1
        });
        Uuid::from_u128(u128::try_from(at).expect("a small number") + 1)
    }
    /// The same for the same producer on both sides; what is negative or the test's own stays.
    pub(crate) fn tidy_producer(&mut self, id: i64) -> i64 {
        if !(0..OWN_PRODUCERS).contains(&id) {
            return id;
        }
        let at = self.producers.iter().position(|known| *known == id).unwrap_or_else(|| {
            self.producers.push(id);
            self.producers.len() - 1
        });
        i64::try_from(at).expect("a small number")
    }
}

/// Producer ids from here on are made up by the test.
pub(crate) const OWN_PRODUCERS: i64 = 1 << 40;
