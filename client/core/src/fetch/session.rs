//! A fetch session with one broker (KIP-227): only what changed is sent.
//!
//! A session belongs to one stream of requests, of which one is on its way at a time. After any error of the request as a
//! whole, or of the connection, the next request is a full one, which makes a new session.
//!
//! While a session's request waits at the broker for records, the session can ask for nothing else. What becomes readable meanwhile is asked
//! for in a stream beside it, which keeps no session and waits a tenth as long, again and again until the session's next request takes it up
//! (C-14): nobody's records wait for the end of another partition's long poll.
//!
//! ```text
//!  session  ├── 0 ──────────── waits, 500 ms ────────────┤├── 0, 1 ────────
//!  beside        ├─ 1, records ┤├─ 1, none ┤├─ 1, none ┤ (dropped, if 0, 1 brings the same)
//! ```

use super::Generation;
use millstream_protocol::hash::{HashMap, HashSet};
use millstream_protocol::messages::Uuid;
use millstream_protocol::messages::fetch_request::{FetchPartition, FetchTopic, ForgottenTopic};
use millstream_protocol::{NodeId, TopicName, TopicPartition};
use std::time::Instant;

/// The epoch of a request that neither has a session nor wants one.
const NO_SESSION: i32 = -1;

/// Requests to a broker, of which one is on its way at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stream {
    node: NodeId,
    is_beside: bool,
}

impl Stream {
    /// That of the broker's session.
    #[must_use]
    pub const fn of_session(node: NodeId) -> Self {
        Self { node, is_beside: false }
    }
    pub(super) const fn beside(node: NodeId) -> Self {
        Self { node, is_beside: true }
    }
    /// The broker.
    #[must_use]
    pub const fn node(self) -> NodeId {
        self.node
    }
    /// Whether it is the one beside the session, whose requests go over a connection of their own.
    #[must_use]
    pub const fn is_beside(self) -> bool {
        self.is_beside
    }
}

#[derive(Debug, Default)]
pub(super) struct Session {
    id: i32,
    epoch: i32,
    naming: Naming,
    partitions: HashMap<TopicPartition, Entry>,
    topics_by_id: HashMap<Uuid, TopicName>,
    /// The highest version of Fetch that the broker was seen to take.
    pub(super) version: Option<i16>,
    /// The number of the last request.
    pub(super) request: u64,
    /// Bytes that the request on its way may bring; none when there is none.
    pub(super) in_flight: Option<usize>,
    /// The picture of the cluster by which that request was made.
    pub(super) picture: u64,
    pub(super) attempts: u32,
    pub(super) not_before: Option<Instant>,
}

/// How requests name topics. The two cannot be mixed in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Naming {
    #[default]
    Ids,
    Names,
}

/// What the broker was told about a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) generation: Generation,
    pub(super) topic_id: Uuid,
    pub(super) offset: i64,
    pub(super) leader_epoch: i32,
    pub(super) last_epoch: i32,
    pub(super) max_bytes: i32,
}

/// The part of a request that depends on the session.
#[derive(Debug, Default)]
pub(super) struct Delta {
    pub(super) session_id: i32,
    pub(super) session_epoch: i32,
    pub(super) topics: Vec<FetchTopic>,
    pub(super) forgotten: Vec<ForgottenTopic>,
}

impl Session {
    /// What to send so that the session holds exactly these partitions.
    pub(super) fn delta(&mut self, wanted: Vec<(TopicPartition, Entry)>, naming: Naming) -> Delta {
        if naming != self.naming {
            self.reset();
            self.naming = naming;
        }
        let full = self.epoch == 0;
        let mut delta = Delta { session_id: self.id, session_epoch: self.epoch, ..Delta::default() };
        let keep: HashSet<TopicPartition> = wanted.iter().map(|(id, _)| id.clone()).collect();
        let gone: Vec<_> = self.partitions.extract_if(|id, _| !keep.contains(id)).collect();
        if !full {
            gone.iter().for_each(|(id, entry)| forget(&mut delta.forgotten, id, entry.topic_id));
        }
        for (id, entry) in wanted {
            self.put(&mut delta, id, entry, full);
        }
        delta
    }
    fn put(&mut self, delta: &mut Delta, id: TopicPartition, entry: Entry, full: bool) {
        let known = self.partitions.get(&id);
        // Another id is another topic of the same name: the old one leaves the session by its id.
        if let Some(known) = known.filter(|known| !full && known.topic_id != entry.topic_id) {
            forget(&mut delta.forgotten, &id, known.topic_id);
        }
        if full || known.is_none_or(|known| !known.says_the_same_as(&entry)) {
            ask(&mut delta.topics, &id, &entry);
        }
        self.topics_by_id.insert(entry.topic_id, id.topic.clone());
        self.partitions.insert(id, entry);
    }
    /// What to send for exactly these partitions, without a session.
    pub(super) fn alone(&mut self, wanted: Vec<(TopicPartition, Entry)>, naming: Naming) -> Delta {
        self.reset();
        Delta { session_epoch: NO_SESSION, ..self.delta(wanted, naming) }
    }
    /// What was asked about a partition.
    pub(super) fn entry(&self, id: &TopicPartition) -> Option<&Entry> {
        self.partitions.get(id)
    }
    pub(super) fn topic_name(&self, id: &Uuid) -> Option<&TopicName> {
        self.topics_by_id.get(id)
    }
    /// The request was answered. A broker that keeps no sessions answers with id 0.
    pub(super) fn handle_answer(&mut self, id: i32) {
        (self.id, self.epoch) = match (id, self.epoch) {
            (0, _) => (0, 0),
            (id, i32::MAX) => (id, 1),
            (id, epoch) => (id, epoch + 1),
        };
    }
    /// The next request is a full one, in a new session.
    pub(super) fn reset(&mut self) {
        self.id = 0;
        self.epoch = 0;
        self.partitions.clear();
        self.topics_by_id.clear();
    }
}

impl Entry {
    fn says_the_same_as(&self, other: &Self) -> bool {
        Self { generation: other.generation, ..self.clone() } == *other
    }
}

fn ask(topics: &mut Vec<FetchTopic>, id: &TopicPartition, entry: &Entry) {
    let mut partition = FetchPartition::default();
    partition.partition = id.partition.get();
    partition.fetch_offset = entry.offset;
    partition.current_leader_epoch = entry.leader_epoch;
    partition.last_fetched_epoch = entry.last_epoch;
    partition.partition_max_bytes = entry.max_bytes;
    match topics.last_mut().filter(|topic| topic.topic == id.topic) {
        Some(topic) => topic.partitions.push(partition),
        None => {
            let mut topic = FetchTopic::default();
            topic.topic = id.topic.clone();
            topic.topic_id = entry.topic_id;
            topic.partitions = vec![partition];
            topics.push(topic);
        }
    }
}

fn forget(forgotten: &mut Vec<ForgottenTopic>, id: &TopicPartition, topic_id: Uuid) {
    let same = |topic: &&mut ForgottenTopic| topic.topic == id.topic && topic.topic_id == topic_id;
    match forgotten.iter_mut().find(same) {
        Some(topic) => topic.partitions.push(id.partition.get()),
        None => {
            let mut topic = ForgottenTopic::default();
            topic.topic = id.topic.clone();
            topic.topic_id = topic_id;
            topic.partitions = vec![id.partition.get()];
            forgotten.push(topic);
        }
    }
}
