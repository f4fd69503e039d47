//! What each setting of a producer promises, whatever goes wrong.
//!
//! | | lost | twice | out of order |
//! | --- | --- | --- | --- |
//! | `acks=all`, idempotent or transactional | never | never | never |
//! | plain, one in flight | never | where an answer was lost | never: what comes twice is the same batch again |
//! | plain, five in flight | never | where an answer was lost | where one failed and those behind it did not |
//! | `acks=0` | where the broker hung up | never | where a leader or a connection changes while something is on its way |
//!
//! Java's producer promises the same.

use super::settings::{Kind, Settings, all};
use super::trouble::{Trouble, Troubles};
use millstream_client::{Acks, Error};
use millstream_testkit::TestCluster;
use std::collections::BTreeSet;

const SEEDS: u64 = 4;
const RECORDS: usize = 150;

#[tokio::test(start_paused = true)]
async fn every_setting_keeps_its_promise_through_every_trouble() -> Result<(), Error> {
    let mut seen = Seen::default();
    for settings in all() {
        for trouble in Trouble::ALL {
            for seed in 0..SEEDS {
                let run = Run { settings, trouble, seed };
                run.check(&run.write(&mut seen).await?);
            }
        }
    }
    assert_eq!(Vec::from_iter(seen.0), ["late", "lost", "split", "twice"], "what is not promised does happen");
    Ok(())
}

/// What has happened in any run.
#[derive(Debug, Default)]
struct Seen(BTreeSet<&'static str>);
impl Seen {
    fn note(&mut self, cluster: &TestCluster, log: &[usize]) {
        let apis = cluster.requests().coverage().apis;
        let mut versions = apis.iter().flat_map(|api| &api.versions);
        let is_split = versions.any(|version| version.codes.contains_key("MESSAGE_TOO_LARGE"));
        let set: BTreeSet<usize> = log.iter().copied().collect();
        let (is_lost, is_twice) = (set.len() < RECORDS, set.len() < log.len());
        let met = [("split", is_split), ("lost", is_lost), ("twice", is_twice), ("late", !is_repeated_in_order(log))];
        self.0.extend(met.into_iter().filter(|(_, is_met)| *is_met).map(|(name, _)| name));
    }
}

#[derive(Debug, Clone, Copy)]
struct Run {
    settings: Settings,
    trouble: Trouble,
    seed: u64,
}

impl Run {
    /// What lies in the log in the end, by numbers.
    async fn write(self, seen: &mut Seen) -> Result<Vec<usize>, Error> {
        // Batches may be larger than what the broker takes, and are split then.
        let cluster = TestCluster::builder().brokers(3).in_memory().seed(self.seed);
        let cluster = cluster.config("message.max.bytes", "1000").topic("t", 1).start().await;
        cluster.move_leader(("t", 0), 1);
        let values: Vec<String> = (0..RECORDS).map(|number| format!("{number:0100}")).collect();
        let mut troubles = Troubles::new(&cluster, self.trouble, self.seed);
        let outcomes = self.settings.write(&cluster, &values, async |_| troubles.pass().await).await?;
        for outcome in outcomes {
            assert!(outcome.is_ok(), "{self:?}: {outcome:?}");
        }
        let log: Vec<usize> = cluster.values("t").iter().map(|value| value.parse().expect("a number")).collect();
        seen.note(&cluster, &log);
        Ok(log)
    }
    fn check(self, log: &[usize]) {
        let set: BTreeSet<usize> = log.iter().copied().collect();
        let is_whole = set.len() == RECORDS;
        let has_doubles = set.len() < log.len();
        match self.settings.kind {
            Kind::Idempotent | Kind::Transactional => {
                assert!(is_whole && !has_doubles && log.is_sorted(), "{self:?}: {log:?}");
            }
            // Nothing is on its way for long here.
            Kind::Plain(Acks::None) => assert!(!has_doubles && log.is_sorted(), "{self:?}: {log:?}"),
            Kind::Plain(_) => {
                assert!(is_whole, "{self:?}: {log:?}");
                assert!(!has_doubles || self.trouble == Trouble::LostAnswers, "{self:?}: {log:?}");
                assert!(self.settings.max_in_flight > 1 || is_repeated_in_order(log), "{self:?}: {log:?}");
            }
        }
    }
}

/// Whether both the first and the last places of numbers are in their order: batches came again, and nothing between.
fn is_repeated_in_order(log: &[usize]) -> bool {
    let mut seen = BTreeSet::new();
    let first: Vec<_> = log.iter().filter(|number| seen.insert(**number)).collect();
    seen.clear();
    let last: Vec<_> = log.iter().rev().filter(|number| seen.insert(**number)).collect();
    first.is_sorted() && last.is_sorted_by(|left, right| left >= right)
}
