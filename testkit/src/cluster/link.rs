//! The network between clients and one broker, in a test's hands.

use super::TestCluster;
use crate::network::{Link, LinkConditions, Way};
use millstream_protocol::NodeId;
use std::sync::Arc;
use std::time::Duration;

/// The link between clients and one broker. Changes concern connections that are open, and those to come.
#[derive(Debug, Clone)]
pub struct LinkControl {
    link: Arc<Link>,
    client: Option<String>,
}

impl TestCluster {
    /// The link between clients and a broker.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # use millstream_testkit::{TestCluster, Way};
    /// # use std::time::Duration;
    /// let cluster = TestCluster::start().await;
    /// cluster.link(1).latency(Duration::from_millis(20)).stall(Way::ToClient);
    /// assert!(cluster.link(1).conditions().stalls_to_client);
    /// cluster.link(1).heal();
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// When there is no such broker.
    #[must_use]
    pub fn link(&self, node: impl Into<NodeId>) -> LinkControl {
        let node = node.into();
        let link = self.shared.links().of(node);
        LinkControl { link: link.unwrap_or_else(|| panic!("the cluster has no node {node}")), client: None }
    }
    /// Heals the links of all brokers.
    pub fn heal_links(&self) {
        self.shared.links().all().iter().for_each(|link| link.heal());
    }
}

impl LinkControl {
    /// Only clients of this `client.id`, from their first request on: until then nobody knows who they are.
    #[must_use]
    pub fn client(mut self, client_id: &str) -> Self {
        self.client = Some(client_id.to_owned());
        self
    }
    /// The conditions in force.
    #[must_use]
    pub fn conditions(&self) -> LinkConditions {
        self.link.look(self.client.as_deref()).conditions
    }
    /// Sets all conditions at once.
    ///
    /// # Panics
    ///
    /// When they cannot be: pieces of no bytes, a bandwidth of none, a time above a day.
    #[expect(clippy::must_use_candidate, reason = "what it does is done")]
    pub fn set(&self, conditions: LinkConditions) -> &Self {
        if let Err(reason) = conditions.check() {
            panic!("the link cannot be so: {reason}");
        }
        self.link.set(self.client.as_deref(), conditions);
        self
    }
    fn change(&self, change: impl FnOnce(&mut LinkConditions)) -> &Self {
        let mut conditions = self.conditions();
        change(&mut conditions);
        self.set(conditions)
    }
    /// Bytes are so long under way, each way.
    #[expect(clippy::must_use_candidate, reason = "what it does is done")]
    pub fn latency(&self, latency: Duration) -> &Self {
        self.change(|link| link.latency = latency)
    }
    /// Up to so much longer, by chance; they stay in order.
    #[expect(clippy::must_use_candidate, reason = "what it does is done")]
    pub fn jitter(&self, jitter: Duration) -> &Self {
        self.change(|link| link.jitter = jitter)
    }
    /// So many bytes pass in a second, each way.
    #[expect(clippy::must_use_candidate, reason = "what it does is done")]
    pub fn bandwidth(&self, bytes_per_second: u64) -> &Self {
        self.change(|link| link.bytes_per_second = Some(bytes_per_second))
    }
    /// Bytes arrive in pieces of no more than so many; 1 splits frames at every byte.
    #[expect(clippy::must_use_candidate, reason = "what it does is done")]
    pub fn split(&self, bytes: usize) -> &Self {
        self.change(|link| link.split_bytes = Some(bytes))
    }
    /// What is sent one way, or both, waits until [`heal`](Self::heal): a partition, as applications see it. Connections stay open; in memory
    /// no new ones come about.
    #[expect(clippy::must_use_candidate, reason = "what it does is done")]
    pub fn stall(&self, way: Way) -> &Self {
        self.change(|link| {
            link.stalls_to_broker |= way != Way::ToClient;
            link.stalls_to_client |= way != Way::ToBroker;
        })
    }
    /// As on the first day: for this client, or for all.
    pub fn heal(&self) {
        match &self.client {
            Some(client) => self.link.set(Some(client), LinkConditions::default()),
            None => self.link.heal(),
        }
    }
    /// Resets all connections of this broker.
    pub fn reset(&self) {
        self.link.reset();
    }
    /// Lets the broker forget all its connections without a word: clients find them open, and never hear from them again.
    pub fn half_open(&self) {
        self.link.half_open();
    }
}
