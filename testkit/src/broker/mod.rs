//! A Kafka cluster without sockets or clocks: requests and `now` go in, replies and the next deadline come out. One value is all nodes of
//! the cluster, which share their state; a request says at which node it arrived.

mod call;
mod faults;
mod fetching;
mod groups;
mod handlers;
mod log;
mod nodes;
mod request_counts;
mod settings;
mod timers;
mod topics;
mod transactions;

pub(crate) use call::{ConnectionId, Outcome, Peer, Reply};
pub(crate) use faults::{Effect, Fault};
pub(crate) use log::producers::Aborted;
pub(crate) use nodes::{Endpoint, Node, Nodes};
pub(crate) use settings::Settings;
pub(crate) use topics::check_name;

use bytes::Bytes;
use call::Call;
use faults::Faults;
use fetching::sessions::FetchSessions;
use fetching::waits::FetchWaits;
use groups::Groups;
use log::Isolation;
use millstream_protocol::frame;
use millstream_protocol::messages::{Request, StrBytes};
use millstream_protocol::{ApiKey, NodeId, Timestamp};
use request_counts::RequestCounts;
use timers::{TimerKey, Timers};
use topics::Topics;
use transactions::Transactions;

/// The cluster.
#[derive(Debug)]
pub(crate) struct Broker {
    now: Timestamp,
    settings: Settings,
    cluster_id: StrBytes,
    nodes: Nodes,
    topics: Topics,
    groups: Groups,
    transactions: Transactions,
    fetch_sessions: FetchSessions,
    fetch_waits: FetchWaits,
    timers: Timers,
    faults: Faults,
    requests: RequestCounts,
    /// Makes names unlike those of other clusters and of each other.
    seed: u64,
    names_given: u64,
    replies: Vec<Reply>,
}

impl Broker {
    /// A cluster without topics. `seed` tells it from others.
    pub(crate) fn new(settings: Settings, nodes: Vec<Node>, seed: u64, now: Timestamp) -> Self {
        Self {
            now,
            cluster_id: StrBytes::from_string(format!("millstream-{seed:016x}")),
            nodes: Nodes::new(nodes),
            topics: Topics::new(seed),
            groups: Groups::default(),
            transactions: Transactions::default(),
            fetch_sessions: FetchSessions::new(settings.max_fetch_sessions),
            fetch_waits: FetchWaits::default(),
            timers: Timers::default(),
            faults: Faults::default(),
            requests: RequestCounts::default(),
            seed,
            names_given: 0,
            replies: Vec::new(),
            settings,
        }
    }
    /// Takes a request in: a frame without its size. A connection sends the next one only when this one has its reply.
    pub(crate) fn handle(&mut self, now: Timestamp, peer: &Peer, payload: &Bytes) {
        self.now = self.now.max(now);
        if let Some(outcome) = self.answer(peer, payload) {
            self.replies.push(Reply { connection: peer.connection, outcome });
        }
    }
    /// Does what is due by now.
    pub(crate) fn handle_time(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
        while let Some(key) = self.timers.pop(self.now) {
            match key {
                TimerKey::Fetch(connection) => self.complete_fetch(connection),
                TimerKey::Group(id) => self.handle_group_time(&id),
                TimerKey::Transaction(id) => self.handle_transaction_time(&id),
            }
        }
    }
    /// Forgets a connection that is gone. Members and producers live on, until their time is up.
    pub(crate) fn handle_disconnect(&mut self, connection: ConnectionId) {
        self.drop_fetch(connection);
    }
    /// When there is next something to do.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        self.timers.next()
    }
    /// Takes the replies that are due.
    pub(crate) fn poll_replies(&mut self) -> Vec<Reply> {
        std::mem::take(&mut self.replies)
    }

    fn answer(&mut self, peer: &Peer, payload: &Bytes) -> Option<Outcome> {
        let Ok(header) = frame::decode_request_header(payload) else { return Some(Outcome::Close) };
        self.requests.count(peer.node, header.api());
        let call = Call {
            connection: peer.connection,
            node: peer.node,
            host: peer.host.clone(),
            listener: peer.listener,
            client_id: StrBytes::from_string(header.client_id().unwrap_or_default().to_owned()),
            version: header.version(),
            correlation_id: header.correlation_id(),
        };
        handlers::dispatch(self, header.api(), &call, header.body_of(payload))
    }
    /// Answers a call that was kept.
    fn complete<R: Request>(&mut self, call: &Call, response: &R::Response) {
        let outcome = encode::<R>(call, response);
        self.replies.push(Reply { connection: call.connection, outcome });
    }
    /// A name that nobody has had: for members.
    fn unique_name(&mut self, prefix: &str) -> StrBytes {
        self.names_given += 1;
        let id = millstream_protocol::messages::Uuid::from_u64_pair(self.seed, (1 << 63) | self.names_given);
        StrBytes::from_string(format!("{prefix}-{id}"))
    }
    /// Whether this node answers for a group or a transactional id.
    fn is_coordinator(&self, node: NodeId, key: &str) -> bool {
        self.nodes.coordinator(key).is_some_and(|coordinator| coordinator.id == node)
    }
}

fn encode<R: Request>(call: &Call, response: &R::Response) -> Outcome {
    match frame::encode_response::<R>(call.version, call.correlation_id, response) {
        Ok(frame) => Outcome::Frame(frame),
        Err(error) => {
            tracing::error!(%error, "a reply cannot be written; the connection is closed");
            Outcome::Close
        }
    }
}

// What happens to the cluster from outside.
impl Broker {
    /// Takes a node down: others lead what it led.
    pub(crate) fn crash(&mut self, node: NodeId) {
        self.nodes.set_up(node, false);
        self.elect(|partition| partition.leader == Some(node));
    }
    /// Brings a node back: it leads what nobody leads.
    pub(crate) fn restart(&mut self, node: NodeId) {
        self.nodes.set_up(node, true);
        self.elect(|partition| partition.leader.is_none());
    }
    fn elect(&mut self, affects: impl Fn(&topics::topic::Partition) -> bool) {
        let nodes = &self.nodes;
        for topic in self.topics.all_mut() {
            for partition in topic.partitions.iter_mut().filter(|partition| affects(partition)) {
                partition.lead(partition.replicas.iter().copied().find(|id| nodes.is_up(*id)));
            }
        }
        self.wake_all_fetches();
    }
    /// Lets another node lead a partition; says whether there are such a partition and node.
    pub(crate) fn move_leader(&mut self, topic: &str, partition: i32, to: NodeId) -> bool {
        let is_node = self.nodes.is_up(to);
        let Some(partition) = self.topics.find_mut(topic).and_then(|topic| topic.partition_mut(partition)) else {
            return false;
        };
        if is_node {
            if !partition.replicas.contains(&to) {
                partition.replicas.push(to);
            }
            partition.lead(Some(to));
            self.wake_all_fetches();
        }
        is_node
    }
    /// Spoils the stored batch that holds an offset; says whether there is one.
    pub(crate) fn spoil(&mut self, topic: &str, partition: i32, offset: i64) -> bool {
        let found = self.topics.find_mut(topic).and_then(|topic| topic.partition_mut(partition));
        found.is_some_and(|partition| partition.log.spoil(offset))
    }
    pub(crate) fn has_topic(&self, topic: &str) -> bool {
        self.topics.find(topic).is_some()
    }
    pub(crate) fn add_fault(&mut self, fault: Fault) {
        self.faults.add(fault);
    }
    /// How often an API was asked for, at one node or at all.
    pub(crate) fn request_count(&self, api: ApiKey, node: Option<NodeId>) -> u64 {
        self.requests.of(api, node)
    }
    /// How many records of a partition fetches have carried away.
    pub(crate) fn fetched_records(&self, topic: &str) -> Vec<u64> {
        self.topics
            .find(topic)
            .map(|topic| topic.partitions.iter().map(|partition| partition.fetched_records).collect())
            .unwrap_or_default()
    }
    /// What a reader of committed records would find in a topic, by partition.
    pub(crate) fn committed(&self, topic: &str) -> Vec<Committed> {
        let Some(topic) = self.topics.find(topic) else { return Vec::new() };
        let look = |partition: &topics::topic::Partition| Committed {
            batches: partition.log.batches_below(Isolation::ReadCommitted).map(|batch| batch.bytes().clone()).collect(),
            aborted: partition.log.aborted_between(i64::MIN, i64::MAX),
        };
        topic.partitions.iter().map(look).collect()
    }
    /// How many offsets of a topic are taken: no fewer than it has records.
    pub(crate) fn offsets_taken(&self, topic: &str) -> u64 {
        let span = |partition: &topics::topic::Partition| {
            u64::try_from(partition.log.end() - partition.log.start()).unwrap_or(0)
        };
        self.topics.find(topic).map_or(0, |topic| topic.partitions.iter().map(span).sum())
    }
}

/// A partition's stored batches below the last stable offset, markers among them, and which transactions were aborted.
#[derive(Debug)]
pub(crate) struct Committed {
    pub(crate) batches: Vec<Bytes>,
    pub(crate) aborted: Vec<Aborted>,
}
