//! What goes wrong, by chance from a seed.

use millstream_client_core::backoff::Random;
use millstream_protocol::{ApiKey, ErrorCode, TopicPartition};
use millstream_testkit::TestCluster;
use millstream_testkit::faults::Then;
use std::time::Duration;

/// What may go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Requests are refused or not heard; whatever is written is acknowledged.
    Refusals,
    /// Besides, answers are lost to what was written.
    LostAnswers,
}
impl Trouble {
    pub(crate) const ALL: [Self; 2] = [Self::Refusals, Self::LostAnswers];
}

/// Something that goes wrong now and then.
pub(crate) struct Troubles<'c> {
    cluster: &'c TestCluster,
    random: Random,
    trouble: Trouble,
    leader: i32,
}

impl<'c> Troubles<'c> {
    /// On a topic of one partition, which the first broker leads.
    pub(crate) const fn new(cluster: &'c TestCluster, trouble: Trouble, seed: u64) -> Self {
        Self { cluster, random: Random::new(seed), trouble, leader: 1 }
    }
    /// A moment, in which something may go wrong.
    pub(crate) async fn pass(&mut self) {
        if self.random.below(8) == 0 {
            self.strike();
        }
        let wait = [0, 0, 0, 3, 20][self.random.below(5)];
        tokio::time::sleep(Duration::from_millis(wait)).await;
    }
    fn strike(&mut self) {
        let produce = || self.cluster.on_api(ApiKey::PRODUCE);
        let times = u64::try_from(self.random.below(3)).expect("small") + 1;
        let kinds = if self.trouble == Trouble::LostAnswers { 8 } else { 5 };
        match self.random.below(kinds) {
            0 => produce().times(times).error(ErrorCode::NOT_ENOUGH_REPLICAS),
            1 => produce().times(times).error(ErrorCode::REQUEST_TIMED_OUT),
            2 => produce().times(times).error(ErrorCode::NOT_LEADER_OR_FOLLOWER),
            3 => produce().times(times).disconnect(),
            4 => self.move_leader(),
            5 => produce().times(times).apply_then(Then::Disconnect),
            6 => produce().times(1).apply_then(Then::Silence),
            _ => self.cluster.link(self.leader).reset(),
        }
    }
    fn move_leader(&mut self) {
        self.leader = self.leader % 3 + 1;
        self.cluster.move_leader(TopicPartition::new("t", 0), self.leader);
    }
}
