//! A cluster of in-process brokers on loopback TCP. The brokers' decisions are `broker`'s; here are sockets, the clock, and what tests ask.

mod buffers;
mod builder;
mod clock;
mod connection;
mod coverage;
mod door;
mod expectation;
mod fault_rule;
mod faults;
mod link;
mod listening;
mod logged;
mod membership;
mod node;
mod panics;
mod parked;
mod places;
mod recipe;
mod records;
mod replication;
mod request_log;
mod room;
mod security_options;
mod shared;
mod thread;
#[cfg(feature = "tls")]
mod tls;
mod topology;
mod unread;
mod version_options;

pub use builder::{StartError, TestClusterBuilder};
pub use coverage::{ApiCoverage, Coverage, VersionCoverage};
pub use expectation::Expectation;
pub use fault_rule::{AnyRequest, FaultRule, Reaction};
pub use link::LinkControl;
#[cfg(feature = "server")]
pub(crate) use listening::why as why_not_listening;
pub use logged::{LoggedRequest, Outcome};
pub use parked::Parked;
pub use records::ClusterRecord;
#[cfg(feature = "simulation")]
pub(crate) use records::decode as decode_records;
pub use request_log::RequestLog;
#[cfg(feature = "server")]
pub(crate) use room::{ConnectionLimit, Trouble};
#[cfg(feature = "tls")]
pub use tls::{ClientCertificate, ClusterTls, TlsFiles};

use crate::broker::{Broker, TestTopic};
#[cfg(feature = "client")]
use crate::network::memory::MemoryRuntime;
use clock::{Clock, TooFar};
#[cfg(feature = "client")]
use millstream_client::{Client, ClientSource};
use millstream_protocol::TopicName;
use node::Nodes;
use panics::Verdict;
use recipe::Recipe;
use shared::Shared;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thread::{Host, Place};

/// How long a test waits for records before it is told what there is.
const PATIENCE: Duration = Duration::from_secs(60);

/// A cluster of in-process brokers on loopback. `&cluster` is an address: `Producer::builder(&cluster)`. Dropping it ends it: its thread,
/// connections and ports are gone when the drop returns.
///
/// It runs on a thread of its own, so that a test that blocks does not stop it. What a test asks of it wrongly panics, with a sentence. So does
/// the drop when a broker has panicked, say in a closure that the test has set: with the request that it served.
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
    recipe: Recipe,
    nodes: Mutex<Nodes>,
    /// By listener, the first first.
    bootstraps: Vec<(String, String)>,
    #[cfg(feature = "tls")]
    authority: Option<tls::Authority>,
    // After the nodes, so that nothing is served any more.
    _verdict: Verdict,
    // Last, so that the thread outlives what runs on it.
    host: Host,
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
    /// The address, for clients in other languages; with several listeners that of the first. It names the brokers of the start.
    #[must_use]
    pub fn bootstrap_servers(&self) -> String {
        self.bootstraps.first().map(|(_, bootstrap)| bootstrap.clone()).unwrap_or_default()
    }
    /// The address of a listener, by its name; one that was not named has its protocol's: `SASL_SSL`.
    ///
    /// # Panics
    ///
    /// When there is no such listener.
    #[must_use]
    pub fn bootstrap_servers_of(&self, listener: &str) -> String {
        match self.bootstraps.iter().find(|(name, _)| name == listener) {
            Some((_, bootstrap)) => bootstrap.clone(),
            None => {
                let names: Vec<&str> = self.bootstraps.iter().map(|(name, _)| name.as_str()).collect();
                panic!("the cluster has no listener `{listener}`; it has {}", names.join(", "))
            }
        }
    }
    /// All listeners by name, with their addresses.
    #[cfg(feature = "server")]
    pub(crate) fn listeners(&self) -> &[(String, String)] {
        &self.bootstraps
    }
    /// What clients need for TLS.
    ///
    /// # Panics
    ///
    /// When no listener uses it.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(&self) -> ClusterTls<'_> {
        match &self.authority {
            Some(authority) => ClusterTls::new(authority),
            None => panic!("the cluster has no listener with TLS; its builder's `tls` makes one"),
        }
    }
    /// Makes a topic with the cluster's defaults.
    ///
    /// # Panics
    ///
    /// When there is such a topic, or one that Kafka takes for the same (`a.b` and `a_b`), or it cannot be.
    pub fn create_topic(&self, name: &str, partitions: usize) {
        self.create_topic_with(TestTopic::new(name, partitions));
    }
    /// Makes a topic with replicas and options of its own.
    ///
    /// # Panics
    ///
    /// When there is such a topic, or one that Kafka takes for the same (`a.b` and `a_b`), or it cannot be.
    pub fn create_topic_with(&self, topic: TestTopic) {
        self.with_broker(|broker| broker.try_create_topic(&topic)).unwrap_or_else(|refusal| panic!("{refusal}"));
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
        let look = || {
            // Decoding is worth its while only if there can be enough.
            let taken = self.shared.look(|broker| broker.offsets_taken(topic));
            let may_be = taken >= u64::try_from(count).unwrap_or(u64::MAX);
            may_be.then(|| self.records(topic)).filter(|records| records.len() >= count)
        };
        match tokio::time::timeout(PATIENCE, self.until(look)).await {
            Ok(records) => records,
            Err(_) => {
                let values = self.values(topic);
                panic!("waited {PATIENCE:?} for {count} records in `{topic}`, which has {}: {values:?}", values.len())
            }
        }
    }
    /// Waits until a look at the cluster finds something.
    async fn until<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
        let mut changes = self.shared.changes();
        loop {
            changes.mark_unchanged();
            if let Some(found) = look() {
                return found;
            }
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
    /// The same; after a minute it fails the test with all that was asked.
    async fn wait_until<T>(&self, what: &str, look: impl FnMut() -> Option<T>) -> T {
        match tokio::time::timeout(PATIENCE, self.until(look)).await {
            Ok(found) => found,
            Err(_) => panic!("waited {PATIENCE:?} for {what}; all that came:\n{}", self.requests().text()),
        }
    }
    /// What the brokers were asked.
    #[must_use]
    pub fn requests(&self) -> RequestLog<'_> {
        RequestLog::new(self)
    }

    /// Moves time on. With sockets it is the brokers' clock alone that jumps: sessions, transactions and retention run out, while clients
    /// wait by theirs. In memory it is the one clock of the test's runtime: if it is paused, no
    /// time is spent.
    ///
    /// # Panics
    ///
    /// When it would be more than a hundred years ahead in all.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, time may have moved on or not.
    pub async fn advance(&self, by: Duration) {
        match self.host.place() {
            Place::OwnThread => self.advance_brokers(by),
            Place::Caller => {
                Clock::check(by).unwrap_or_else(|error| panic!("{error}"));
                pass(by).await;
            }
        }
    }
    /// Moves the brokers' clock alone on, from code that is not async.
    ///
    /// # Panics
    ///
    /// When it would be more than a hundred years ahead in all.
    pub fn advance_brokers(&self, by: Duration) {
        self.try_advance_brokers(by).unwrap_or_else(|error| panic!("{error}"));
    }
    /// The same, or says that it is too far.
    pub(crate) fn try_advance_brokers(&self, by: Duration) -> Result<(), TooFar> {
        self.shared.advance(by)
    }
    /// Takes no more connections than this at a time, from here on.
    #[cfg(feature = "server")]
    pub(crate) fn limit_connections(&self, limit: ConnectionLimit) {
        self.shared.room().limit(limit);
    }
    /// Looks at the brokers; nobody who waits is woken by that.
    #[cfg(feature = "server")]
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Broker) -> T) -> T {
        self.shared.look(look)
    }
    pub(crate) fn with_broker<T>(&self, act: impl FnOnce(&mut Broker) -> T) -> T {
        self.shared.with_broker(act)
    }
    fn nodes(&self) -> std::sync::MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
#[cfg(feature = "client")]
impl TestCluster {
    /// What clients of a cluster in memory run on: for a role that is not built from `&cluster`. None for a cluster with sockets, which
    /// needs nothing special.
    #[must_use]
    pub fn runtime(&self) -> Option<Arc<dyn millstream_client::runtime::Runtime>> {
        if self.host.place() == Place::OwnThread {
            return None;
        }
        let network = self.nodes().network();
        let seed = self.shared.seed();
        Some(Arc::new(MemoryRuntime::new(network, self.host.handle(), seed, self.shared.now())))
    }
}
#[cfg(feature = "client")]
impl From<&TestCluster> for ClientSource {
    fn from(cluster: &TestCluster) -> Self {
        match cluster.runtime() {
            Some(runtime) => Client::builder(cluster.bootstrap_servers()).runtime(runtime).into(),
            None => Self::from(cluster.bootstrap_servers()),
        }
    }
}

/// Lets time pass on a paused clock: whoever waits is woken in the order of their times.
async fn pass(by: Duration) {
    tokio::time::sleep(by).await;
}
