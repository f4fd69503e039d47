//! What a cluster is made of when it begins, and when it begins anew.

use super::TestCluster;
use super::places::Places;
use crate::broker::{Broker, Node, Settings, TestTopic};
use millstream_protocol::Timestamp;
use std::io;

/// What a cluster is made of when it begins.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) settings: Settings,
    pub(super) nodes: Vec<Node>,
    pub(super) places: Places,
    pub(super) seed: u64,
    pub(super) topics: Vec<TestTopic>,
    pub(super) users: Vec<(String, String)>,
}
impl Recipe {
    /// A cluster as on its first day.
    pub(super) fn broker(&self, now: Timestamp) -> Broker {
        let mut broker = Broker::new(self.settings.clone(), self.nodes.clone(), self.seed, now);
        self.topics.iter().for_each(|topic| {
            broker.create_topic(topic);
        });
        self.users.iter().for_each(|(name, password)| broker.add_user(name, password));
        broker
    }
}

impl TestCluster {
    /// Begins anew at the same addresses: with the topics, users and options of the start, without data, groups, faults or a log, with all
    /// brokers up and all links healed. Connections end. Cheaper than another cluster, for tests that share one.
    ///
    /// # Errors
    ///
    /// When another program has taken the port of a broker that was down.
    pub fn reset(&self) -> io::Result<()> {
        let broker = self.recipe.broker(self.time());
        self.shared.reset(broker);
        let ids: Vec<_> = self.recipe.nodes.iter().map(|node| node.id).collect();
        let mut nodes = self.nodes();
        nodes.keep(&ids);
        ids.into_iter().try_for_each(|id| nodes.restart(id, &self.shared))
    }
    /// The brokers' time.
    #[must_use]
    pub fn time(&self) -> Timestamp {
        self.shared.now()
    }
}
