//! What the control port shows of the cluster.

use super::configs::Values;
use super::life::NodeState;
use super::nodes::Node;
use super::{Broker, topics};
use millstream_protocol::NodeId;
use millstream_protocol::messages::Uuid;

impl Broker {
    pub(crate) fn cluster_id(&self) -> &str {
        &self.cluster_id
    }
    pub(crate) fn controller(&self) -> Option<NodeId> {
        self.nodes.controller().map(|node| node.id)
    }
    /// Each node, its state, and whether it is hidden.
    pub(crate) fn node_states(&self) -> impl Iterator<Item = (NodeId, NodeState, bool)> {
        let state = |node: &Node| (node.id, node.state, self.nodes.is_hidden(node.id));
        self.nodes.all().iter().map(state)
    }
    pub(crate) fn topic_names(&self) -> Vec<String> {
        self.topics.all().map(|topic| topic.name.to_string()).collect()
    }
    /// What a replica does; none when there is no such replica.
    pub(crate) fn replica_state(&self, topic: &str, partition: i32, node: NodeId) -> Option<ReplicaState> {
        let partition = self.topics.find(topic)?.partition(partition)?;
        let is_there = partition.replicas.contains(&node);
        is_there.then(|| ReplicaState { is_leader: partition.leader == Some(node), is_held: partition.is_held(node) })
    }
    /// What a topic is, and the state of its partitions.
    pub(crate) fn topic_state(&self, name: &str) -> Option<TopicState> {
        let topic = self.topics.find(name)?;
        let state = |(index, partition): (i32, &topics::partition::Partition)| PartitionState {
            index,
            leader: partition.leader,
            leader_epoch: partition.leader_epoch,
            replicas: partition.replicas.clone(),
            isr: partition.isr.clone(),
            elr: partition.elr.clone(),
            start: partition.log.start(),
            high_watermark: partition.log.high_watermark(),
            end: partition.log.end(),
        };
        let (config, partitions) = (topic.configs.clone(), topic.numbered().map(state).collect());
        Some(TopicState { id: topic.id, config, partitions })
    }
}

/// A topic.
#[derive(Debug)]
pub(crate) struct TopicState {
    pub(crate) id: Uuid,
    /// What it was given; the rest is as brokers have it.
    pub(crate) config: Values,
    pub(crate) partitions: Vec<PartitionState>,
}

/// What one replica does.
#[derive(Debug)]
pub(crate) struct ReplicaState {
    pub(crate) is_leader: bool,
    /// It fetches nothing, because a test says so.
    pub(crate) is_held: bool,
}

/// What a partition looks like from outside.
#[derive(Debug)]
pub(crate) struct PartitionState {
    pub(crate) index: i32,
    pub(crate) leader: Option<NodeId>,
    pub(crate) leader_epoch: i32,
    pub(crate) replicas: Vec<NodeId>,
    pub(crate) isr: Vec<NodeId>,
    /// Those that may lead though they are not in sync (KIP-966).
    pub(crate) elr: Vec<NodeId>,
    pub(crate) start: i64,
    pub(crate) high_watermark: i64,
    pub(crate) end: i64,
}
