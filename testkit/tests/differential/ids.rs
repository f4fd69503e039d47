//! What differs between two clusters that do the same: ids. Each is replaced by the number in whose order it was first seen.

use millstream_protocol::messages::{StrBytes, Uuid};
use std::collections::BTreeMap;

/// What a member of the classic protocol was told.
#[derive(Debug, Clone)]
pub(crate) struct Joined {
    pub(crate) id: StrBytes,
    pub(crate) generation: i32,
    pub(crate) leads: bool,
}
/// What a member of the consumer protocol was told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beating {
    pub(crate) id: StrBytes,
    pub(crate) epoch: i32,
    pub(crate) owned: Vec<(Uuid, Vec<i32>)>,
}

/// The ids of one side.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    topics: BTreeMap<String, Uuid>,
    uuids: Vec<Uuid>,
    producers: Vec<i64>,
    members: Vec<StrBytes>,
    /// Members of groups of the classic protocol by the test's names for them.
    pub(crate) joined: BTreeMap<&'static str, Joined>,
    /// Members of groups of the consumer protocol by the test's names for them.
    pub(crate) beating: BTreeMap<&'static str, Beating>,
    /// Producers by the test's names for them: id and epoch.
    pub(crate) held: BTreeMap<String, (i64, i16)>,
    /// Where logs are.
    pub(crate) log_dir: Option<StrBytes>,
    /// The id of a client that reports metrics, and of what it is to report.
    pub(crate) metrics: Option<(Uuid, i32)>,
    /// The id of the client that finds out whether subscriptions have changed.
    pub(crate) watcher: Option<Uuid>,
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
    /// A member's id, learned from the answer that gave it.
    pub(crate) fn learn_member(&mut self, id: &StrBytes) {
        if !self.members.contains(id) {
            self.members.push(id.clone());
        }
    }
    /// The same for the same member on both sides; of those whose id nobody was told yet, the same for all.
    pub(crate) fn tidy_member(&self, id: &StrBytes) -> StrBytes {
        let at = self.members.iter().position(|known| known == id);
        // A broker's ids end with a UUID.
        let is_made_up = id.len() < 36;
        match at {
            Some(at) => StrBytes::from_string(format!("member {at}")),
            None if is_made_up => id.clone(),
            None => StrBytes::from_static_str("member whose id is on its way"),
        }
    }
    /// A sentence that names members.
    pub(crate) fn tidy_sentence(&self, sentence: &str) -> StrBytes {
        let named =
            |sentence: String, (at, id): (usize, &StrBytes)| sentence.replace(id.as_str(), &format!("member {at}"));
        StrBytes::from_string(self.members.iter().enumerate().fold(sentence.to_owned(), named))
    }
    /// Whether a broker made up the id that [`tidy_member`](Self::tidy_member) has replaced.
    pub(crate) fn is_given(tidy: &StrBytes) -> bool {
        tidy.starts_with("member ")
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
