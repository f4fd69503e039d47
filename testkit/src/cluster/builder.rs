//! Options of a cluster.

use super::TestCluster;
use super::clock::Clock;
use super::door::Doors;
use super::node::Nodes;
use super::panics::Verdict;
use super::places::{Places, addresses, bootstrap, describe};
use super::recipe::Recipe;
use super::shared::Shared;
use super::thread::Host;
use crate::broker::{Release, SecurityProtocol, Settings, TestTopic, plain};
use crate::network::Links;
use millstream_protocol::api::VersionRange;
use millstream_protocol::{ApiKey, NodeId};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
#[cfg(feature = "client")]
use std::net::SocketAddr;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// Why a cluster did not start: an option or a name that is wrong, a port that is taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StartError(String);

/// Options of a cluster.
#[derive(Debug, Clone)]
#[must_use]
pub struct TestClusterBuilder {
    pub(super) places: Places,
    topics: Vec<TestTopic>,
    configs: Vec<(String, String)>,
    seed: Option<u64>,
    in_memory: bool,
    pub(super) listeners: Vec<(String, SecurityProtocol)>,
    pub(super) users: Vec<(String, String)>,
    pub(super) release: Option<String>,
    pub(super) api_versions: Vec<(ApiKey, VersionRange)>,
    pub(super) super_users: Vec<String>,
    pub(super) uses_sasl: bool,
    pub(super) uses_tls: bool,
    racks: Vec<String>,
}

impl TestClusterBuilder {
    pub(super) fn new() -> Self {
        Self {
            places: Places::new(),
            topics: Vec::new(),
            configs: Vec::new(),
            racks: Vec::new(),
            seed: None,
            in_memory: false,
            listeners: Vec::new(),
            users: Vec::new(),
            release: None,
            api_versions: Vec::new(),
            super_users: Vec::new(),
            uses_sasl: false,
            uses_tls: false,
        }
    }
    /// How many brokers; their ids count from the option `node.id`, which is 1 unless it is set. Default: 1.
    pub fn brokers(mut self, count: usize) -> Self {
        self.places.brokers = count;
        self
    }
    /// The brokers' racks (`broker.rack`), in the order of their ids; from the first again when there are more brokers. Default: none.
    pub fn racks<'r>(mut self, racks: impl IntoIterator<Item = &'r str>) -> Self {
        self.racks = racks.into_iter().map(str::to_owned).collect();
        self
    }
    /// The port of the first broker; the others follow it. Default: 0, any that are free.
    pub fn port(mut self, port: u16) -> Self {
        self.places.port = port;
        self
    }
    /// A topic that is there from the start, with the cluster's defaults.
    pub fn topic(self, name: &str, partitions: usize) -> Self {
        self.topic_with(TestTopic::new(name, partitions))
    }
    /// A topic that is there from the start, with replicas and options of its own.
    pub fn topic_with(mut self, topic: TestTopic) -> Self {
        self.topics.push(topic);
        self
    }
    /// A broker option, by Kafka's key; options of topics by the broker's key for their default. One that has no effect here is shown to
    /// whoever describes the broker.
    ///
    /// Besides Kafka's: `transaction.version` (0, 1 or 2, the feature's level), `millstream.transaction.marker.delay.ms` (how long a
    /// transaction stays prepared, 0), `millstream.producer.epoch.start` (the epoch of new producer ids, 0) and
    /// `millstream.auto.create.delay.ms` (how long the making of a topic takes that a client asked for, 0: it finds it in the answer; a real
    /// Kafka says meanwhile that it is unknown). What a cluster keeps in all is bounded, where Kafka's disk would be:
    /// `millstream.max.record.bytes` (records and their producers, 4 GiB; beyond, Produce is answered KAFKA_STORAGE_ERROR),
    /// `millstream.max.state.bytes` (topics, groups, positions, transactions, rules, options, credentials, fetch sessions, 512 MiB; beyond,
    /// who would add to it is refused), `millstream.max.partitions` (100,000), `millstream.max.buffer.bytes` (parts of requests on all
    /// connections, 1 GiB; beyond, those that hold more than a little are closed) and `millstream.max.unread.bytes` (large answers that clients
    /// have not read, 1 GiB; beyond, requests wait, and who reads less than a 16th of an answer in a second meanwhile is closed).
    pub fn config(mut self, key: &str, value: &str) -> Self {
        self.configs.push((key.to_owned(), value.to_owned()));
        self
    }
    /// Where ids, names and jitter come from: with the same seed they are the same. Default: another one each time.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }
    /// Without sockets and without a thread: clients made from `&cluster` reach it inside the process, and all wait by the clock of the
    /// test's runtime. Under `#[tokio::test(start_paused = true)]` time then passes only when everybody waits, and minutes take milliseconds.
    ///
    /// The test's runtime must have one thread; threads that clients would have of their own become tasks of it.
    #[cfg(feature = "client")]
    pub fn in_memory(mut self) -> Self {
        self.in_memory = true;
        self
    }
    /// Starts it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops what was started.
    ///
    /// # Panics
    ///
    /// When an option is unknown or cannot be what it was set to, a topic cannot be, or a port is taken; [`Self::try_start`] says so instead.
    pub async fn start(self) -> TestCluster {
        match self.try_start() {
            Ok(cluster) => cluster,
            Err(reason) => panic!("the test cluster cannot start: {reason}"),
        }
    }
    /// Starts it, from code that is not async, or tells why it cannot.
    ///
    /// # Errors
    ///
    /// When an option is unknown or cannot be what it was set to, a topic cannot be, or a port is taken: a sentence that says which.
    pub fn try_start(self) -> Result<TestCluster, StartError> {
        self.build().map_err(StartError)
    }
    fn build(self) -> Result<TestCluster, String> {
        let listeners = self.named_listeners()?;
        let mut settings = self.settings()?;
        settings.listeners.clone_from(&listeners);
        self.topics.iter().try_for_each(|topic| topic.check(&settings, self.places.brokers))?;
        check_collisions(&self.topics)?;
        check_room(&self.topics, &settings)?;
        let doors = Doors::new(&settings)?;
        let sockets = if self.in_memory { Vec::new() } else { self.places.listen(listeners.len())? };
        let addresses = if self.in_memory {
            self.places.in_memory(settings.first_node, listeners.len())?
        } else {
            addresses(&sockets)?
        };
        let clock = Clock::start();
        let seed = self.seed.unwrap_or_else(|| RandomState::new().hash_one(&addresses));
        let described = describe(settings.first_node, self.places.told(&addresses)?, &self.racks);
        let bootstraps = listeners.into_iter().enumerate().map(|(at, (name, _))| (name, bootstrap(&described, at)));
        let bootstraps = bootstraps.collect();
        let ids: Vec<NodeId> = described.iter().map(|node| node.id).collect();
        let (topics, users) = (self.topics.clone(), self.users.clone());
        let recipe = Recipe { settings, nodes: described, places: self.places.clone(), seed, topics, users };
        let broker = recipe.broker(clock.now());
        let links = Links::new(ids.iter().copied());
        let shared = Arc::new(Shared::new(broker, clock, links, seed));
        let host = if self.in_memory { Host::beside(&shared) } else { Host::thread(&shared) };
        let host = host.map_err(|error| format!("there is nothing for it to run on: {error}"))?;
        let mut nodes = Nodes::new(&host, doors.all().collect());
        let failed = |(id, error): (NodeId, io::Error)| format!("node {id} does not listen: {error}");
        open(&mut nodes, &doors, &ids, sockets, &shared).map_err(failed)?;
        #[cfg(feature = "client")]
        if self.in_memory {
            open_in_memory(&mut nodes, &doors, &ids, &addresses, &shared).map_err(failed)?;
        }
        Ok(TestCluster {
            _verdict: Verdict(Arc::clone(&shared)),
            shared,
            nodes: Mutex::new(nodes),
            recipe,
            bootstraps,
            #[cfg(feature = "tls")]
            authority: doors.authority,
            host,
        })
    }
    fn settings(&self) -> Result<Settings, String> {
        let mut settings = Settings::new(self.places.brokers);
        if let Some(release) = &self.release {
            settings.release = release.parse::<Release>().map_err(|error| error.to_string())?;
        }
        settings.api_versions.clone_from(&self.api_versions);
        self.configs.iter().try_for_each(|(key, value)| settings.set(key, value))?;
        settings.check(self.places.brokers)?;
        Ok(settings)
    }
}

/// Refuses topics that no Kafka would hold together.
fn check_collisions(topics: &[TestTopic]) -> Result<(), String> {
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    let mut pairs =
        topics.iter().filter_map(|TestTopic { name, .. }| Some((taken.insert(plain(name), name)?, name.as_str())));
    match pairs.next() {
        None => Ok(()),
        Some((one, other)) if one == other => Err(format!("the topic `{one}` is asked for twice")),
        Some((one, other)) => {
            Err(format!("the topic `{other}` collides with `{one}`: Kafka takes a dot and an underscore for the same"))
        }
    }
}
/// Refuses more partitions than the cluster may have.
fn check_room(topics: &[TestTopic], settings: &Settings) -> Result<(), String> {
    let mut has = 0;
    topics.iter().try_for_each(|TestTopic { name, partitions, .. }| {
        let room = settings.bounds.check_partitions(has, *partitions);
        has += partitions;
        room.map_err(|(_, reason)| format!("the topic `{name}` cannot be: {reason}"))
    })
}
/// Lets all brokers listen.
fn open(
    nodes: &mut Nodes,
    doors: &Doors,
    ids: &[NodeId],
    sockets: Vec<Vec<TcpListener>>,
    shared: &Arc<Shared>,
) -> Result<(), (NodeId, io::Error)> {
    for (id, sockets) in ids.iter().zip(sockets) {
        for (door, socket) in doors.all().zip(sockets) {
            nodes.add(*id, door, socket, shared).map_err(|error| (*id, error))?;
        }
    }
    Ok(())
}
/// The same inside the process.
#[cfg(feature = "client")]
fn open_in_memory(
    nodes: &mut Nodes,
    doors: &Doors,
    ids: &[NodeId],
    addresses: &[Vec<SocketAddr>],
    shared: &Arc<Shared>,
) -> Result<(), (NodeId, io::Error)> {
    for (id, addresses) in ids.iter().zip(addresses) {
        for (door, address) in doors.all().zip(addresses) {
            nodes.add_in_memory(*id, door, *address, shared).map_err(|error| (*id, error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_that_kafka_would_refuse_is_refused() {
        let refused = TestCluster::builder().topic("a b", 1).try_start().map(drop).unwrap_err().to_string();
        assert!(refused.starts_with("Topic name is invalid: 'a b' contains"), "{refused}");
        let two = |one, other| {
            TestCluster::builder().topic(one, 1).topic(other, 1).try_start().map(drop).unwrap_err().to_string()
        };
        assert!(two("a.b", "a_b").starts_with("the topic `a_b` collides with `a.b`"), "{}", two("a.b", "a_b"));
        assert_eq!(two("a", "a"), "the topic `a` is asked for twice");
    }
}
