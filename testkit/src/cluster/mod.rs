//! A cluster of in-process brokers on loopback TCP. The brokers' decisions are `broker`'s; here are sockets, the clock, and what tests ask.

mod builder;
mod clock;
mod connection;
mod fault_rule;
mod node;
mod records;
mod request_log;
mod shared;
mod thread;

pub use builder::{StartError, TestClusterBuilder};
pub use fault_rule::FaultRule;
pub use records::ClusterRecord;
pub use request_log::RequestLog;

use crate::broker::Broker;
use millstream_client::ClientSource;
use millstream_protocol::{ApiKey, NodeId, Offset, TopicName, TopicPartition};
use node::Nodes;
use shared::Shared;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thread::ClusterThread;

/// How long a test waits for records before it is told what there is.
const PATIENCE: Duration = Duration::from_secs(60);

/// A cluster of in-process brokers on loopback. `&cluster` is an address: `Producer::builder(&cluster)`. Dropping it ends it: its thread,
/// connections and ports are gone when the drop returns.
///
/// It runs on a thread of its own, so that a test that blocks does not stop it. What a test asks of it wrongly panics, with a sentence.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use millstream_testkit::TestCluster;
///
/// let cluster = TestCluster::builder().brokers(3).topic("orders", 12).start().await;
/// assert_eq!(cluster.bootstrap_servers().split(',').count(), 3);
/// assert!(cluster.records("orders").is_empty());
/// # }
/// ```
#[derive(Debug)]
pub struct TestCluster {
    shared: Arc<Shared>,
    nodes: Mutex<Nodes>,
    bootstrap: String,
    // Last, so that the thread outlives what runs on it.
    _thread: ClusterThread,
}

impl TestCluster {
    /// One broker; topics appear when used.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops what was started.
    ///
    /// # Panics
    ///
    /// When loopback has no free port.
    pub async fn start() -> Self {
        Self::builder().start().await
    }
    /// More.
    pub fn builder() -> TestClusterBuilder {
        TestClusterBuilder::new()
    }
    /// The address, for clients in other languages.
    #[must_use]
    pub fn bootstrap_servers(&self) -> String {
        self.bootstrap.clone()
    }
    /// Makes a topic with the cluster's defaults.
    ///
    /// # Panics
    ///
    /// When there is such a topic.
    pub fn create_topic(&self, name: &str, partitions: usize) {
        self.with_broker(|broker| {
            assert!(!broker.has_topic(name), "the topic `{name}` is there already");
            broker.create_topic(name, partitions);
        });
    }

    /// Everything committed in a topic, by partition and offset: what a read_committed consumer would read from its start.
    #[must_use]
    pub fn records(&self, topic: &str) -> Vec<ClusterRecord> {
        let name = TopicName::from(topic);
        // Decoded after the lock is given back: a large topic holds nobody up.
        let committed = self.shared.look(|broker| broker.committed(topic));
        records::decode(&name, committed)
    }
    /// Their values as text, for short tests; null reads `(null)`.
    #[must_use]
    pub fn values(&self, topic: &str) -> Vec<String> {
        let text = |record: &ClusterRecord| {
            record
                .value
                .as_ref()
                .map_or_else(|| "(null)".to_owned(), |value| String::from_utf8_lossy(value).into_owned())
        };
        self.records(topic).iter().map(text).collect()
    }
    /// Waits until a topic has this many records, and gives them.
    ///
    /// # Panics
    ///
    /// After a minute, with what there is.
    ///
    /// # Cancel safety
    ///
    /// Waiting changes nothing.
    pub async fn wait_for_records(&self, topic: &str, count: usize) -> Vec<ClusterRecord> {
        let mut changes = self.shared.changes();
        let wait = async {
            loop {
                changes.mark_unchanged();
                // Decoding is worth its while only if there can be enough.
                if self.shared.look(|broker| broker.offsets_taken(topic)) >= u64::try_from(count).unwrap_or(u64::MAX) {
                    let records = self.records(topic);
                    if records.len() >= count {
                        return records;
                    }
                }
                if changes.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        match tokio::time::timeout(PATIENCE, wait).await {
            Ok(records) => records,
            Err(_) => {
                let values = self.values(topic);
                panic!("waited {PATIENCE:?} for {count} records in `{topic}`, which has {}: {values:?}", values.len())
            }
        }
    }
    /// What the brokers were asked.
    #[must_use]
    pub fn requests(&self) -> RequestLog<'_> {
        RequestLog::new(self)
    }

    /// Begins a rule for requests of an API: `cluster.on(ApiKey::PRODUCE).times(2).error(code)`.
    pub fn on(&self, api: ApiKey) -> FaultRule<'_> {
        FaultRule::new(self, api)
    }
    /// Takes a broker down, without a goodbye: its connections end, its port is closed, others lead what it led.
    ///
    /// # Panics
    ///
    /// When there is no such broker.
    pub fn crash(&self, node: impl Into<NodeId>) {
        let node = node.into();
        self.nodes().crash(node);
        self.with_broker(|broker| broker.crash(node));
    }
    /// Brings it back, with its data, at the same address.
    ///
    /// # Panics
    ///
    /// When there is no such broker, or another program has taken its port meanwhile.
    pub fn restart(&self, node: impl Into<NodeId>) {
        let node = node.into();
        let listens = self.nodes().restart(node, &self.shared);
        assert!(listens.is_ok(), "node {node} cannot listen again: {listens:?}");
        self.with_broker(|broker| broker.restart(node));
    }
    /// Lets another broker lead.
    ///
    /// # Panics
    ///
    /// When there is no such partition, or the broker is not up.
    pub fn move_leader(&self, partition: impl Into<TopicPartition>, to: impl Into<NodeId>) {
        let (partition, to) = (partition.into(), to.into());
        let moved =
            self.with_broker(|broker| broker.move_leader(partition.topic.as_str(), partition.partition.get(), to));
        assert!(moved, "the leader of {partition} cannot move to node {to}: one of the two is not there");
    }
    /// Flips a bit in the stored batch that holds this offset, as a failing disk does: its checksum is wrong from now on.
    ///
    /// # Panics
    ///
    /// When no batch holds it.
    pub fn corrupt(&self, partition: impl Into<TopicPartition>, offset: impl Into<Offset>) {
        let (partition, offset) = (partition.into(), offset.into());
        let spoilt =
            self.with_broker(|broker| broker.spoil(partition.topic.as_str(), partition.partition.get(), offset.get()));
        assert!(spoilt, "no batch of {partition} holds offset {offset}");
    }

    fn with_broker<T>(&self, act: impl FnOnce(&mut Broker) -> T) -> T {
        self.shared.with_broker(act)
    }
    fn nodes(&self) -> std::sync::MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
impl From<&TestCluster> for ClientSource {
    fn from(cluster: &TestCluster) -> Self {
        Self::from(cluster.bootstrap_servers())
    }
}
