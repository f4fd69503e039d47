//! One picture of the cluster. It never changes: a newer one replaces it.

use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::Uuid;
use millstream_protocol::{ErrorCode, LeaderEpoch, NodeId, PartitionId, TopicName, TopicPartition};
use std::sync::Arc;

/// A broker, as the cluster advertises it. Only `id` names it: two may share an address, and an address may change (W-11).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Broker {
    /// Its id.
    pub id: NodeId,
    /// A name, or an IPv4 or IPv6 address without brackets.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Where it stands, for reading from a replica nearby.
    pub rack: Option<String>,
}

/// A partition and who leads it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Partition {
    /// The leader; none while an election is going on.
    pub leader: Option<NodeId>,
    /// The leader's term; none from brokers that do not tell.
    pub leader_epoch: Option<LeaderEpoch>,
    /// All replicas.
    pub replicas: Vec<NodeId>,
    /// The replicas that have everything.
    pub in_sync: Vec<NodeId>,
    /// What the cluster said about it last, `NONE` if all is well.
    pub error: ErrorCode,
}

/// A topic and its partitions, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Topic {
    /// Its name.
    pub name: TopicName,
    /// Its id; none from brokers before 2.8.
    pub id: Option<Uuid>,
    /// Its partitions; empty while the cluster says only an error.
    pub partitions: Vec<Partition>,
    /// Whether it is the cluster's own, such as `__consumer_offsets`.
    pub is_internal: bool,
    /// What the cluster said about it last, `NONE` if all is well.
    pub error: ErrorCode,
}

impl Topic {
    /// A partition by its id.
    #[must_use]
    pub fn partition(&self, partition: PartitionId) -> Option<&Partition> {
        self.partitions.get(usize::try_from(partition.get()).ok()?)
    }
}

/// One picture of the cluster. Cheap to share as an `Arc`.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Image {
    /// Counts up with every picture.
    pub generation: u64,
    /// The cluster's id, if it has told it.
    pub cluster_id: Option<String>,
    /// Whom to ask for changes to the cluster.
    pub controller: Option<NodeId>,
    pub(super) brokers: HashMap<NodeId, Arc<Broker>>,
    pub(super) topics: HashMap<TopicName, Arc<Topic>>,
    pub(super) names: HashMap<Uuid, TopicName>,
}

impl Image {
    /// A broker by id.
    #[must_use]
    pub fn broker(&self, id: NodeId) -> Option<&Arc<Broker>> {
        self.brokers.get(&id)
    }
    /// All brokers, in no order.
    #[must_use]
    pub fn brokers(&self) -> impl ExactSizeIterator<Item = &Arc<Broker>> {
        self.brokers.values()
    }
    /// A topic by name.
    #[must_use]
    pub fn topic(&self, name: &str) -> Option<&Arc<Topic>> {
        self.topics.get(name)
    }
    /// All topics that were asked for, in no order.
    #[must_use]
    pub fn topics(&self) -> impl ExactSizeIterator<Item = &Arc<Topic>> {
        self.topics.values()
    }
    /// A topic's name by its id (KIP-516).
    #[must_use]
    pub fn topic_name(&self, id: &Uuid) -> Option<&TopicName> {
        self.names.get(id)
    }
    /// A partition.
    #[must_use]
    pub fn partition(&self, partition: &TopicPartition) -> Option<&Partition> {
        self.topic(partition.topic.as_str())?.partition(partition.partition)
    }
    /// A partition's leader and its term, if there is one whose address is known.
    #[must_use]
    pub fn leader(&self, partition: &TopicPartition) -> Option<(NodeId, Option<LeaderEpoch>)> {
        let partition = self.partition(partition)?;
        let leader = partition.leader.filter(|leader| self.brokers.contains_key(leader))?;
        Some((leader, partition.leader_epoch))
    }
}
