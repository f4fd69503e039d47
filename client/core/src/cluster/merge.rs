//! What a metadata answer, or a hint in another answer, changes in the picture.

use super::image::{Broker, Image, Partition, Topic};
use millstream_protocol::messages::metadata_response::{
    MetadataResponse, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use millstream_protocol::{ErrorCode, LeaderEpoch, NodeId, TopicName, TopicPartition};
use std::sync::Arc;

/// A leader named in the answer to a produce or fetch request (KIP-951).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaderHint {
    /// The partition.
    pub partition: TopicPartition,
    /// Its leader.
    pub leader: NodeId,
    /// The leader's term.
    pub leader_epoch: LeaderEpoch,
}

impl LeaderHint {
    /// Names a leader.
    #[must_use]
    pub const fn new(partition: TopicPartition, leader: NodeId, leader_epoch: LeaderEpoch) -> Self {
        Self { partition, leader, leader_epoch }
    }
}

impl Image {
    /// This picture with an answer worked in.
    pub(crate) fn merged(&self, answer: &MetadataResponse) -> Self {
        let mut next = self.clone();
        next.generation += 1;
        if let Some(id) = &answer.cluster_id {
            next.cluster_id = Some(id.to_string());
        }
        next.controller = node(answer.controller_id.0);
        next.brokers = answer.brokers.iter().filter_map(broker).map(|broker| (broker.id, Arc::new(broker))).collect();
        for topic in &answer.topics {
            next.merge_topic(topic, self);
        }
        next.index_names();
        next
    }

    /// This picture with hints worked in; brokers that the hints do not name stay (M-3).
    pub(super) fn hinted(&self, hints: &[LeaderHint], brokers: Vec<Broker>) -> Option<Self> {
        let mut next = self.clone();
        let mut changed = false;
        for broker in brokers {
            changed |= next.brokers.get(&broker.id).is_none_or(|known| **known != broker);
            next.brokers.insert(broker.id, Arc::new(broker));
        }
        for hint in hints {
            changed |= next.apply_hint(hint);
        }
        next.generation += 1;
        changed.then_some(next)
    }

    fn merge_topic(&mut self, answer: &MetadataResponseTopic, before: &Self) {
        let Some(name) = answer.name.as_ref().map(|name| TopicName::from(name.as_str())) else { return };
        let known = before.topics.get(&name);
        let id = Some(answer.topic_id).filter(|id| !id.is_nil());
        let error = ErrorCode::new(answer.error_code);
        if error.is_error() && answer.partitions.is_empty() {
            // An error about the topic does not erase what is known of its partitions (M-4).
            let mut topic = known.map_or_else(|| Topic::unknown(name.clone()), |known| Topic::clone(known));
            topic.error = error;
            self.topics.insert(name, Arc::new(topic));
            return;
        }
        // A topic that was made anew starts its terms at zero: nothing of the old one counts (M-5).
        let known = known.filter(|known| known.id.is_none() || id.is_none() || known.id == id);
        let partitions = merge_partitions(&answer.partitions, known.map_or(&[], |known| &known.partitions));
        let topic = Topic { name: name.clone(), id, partitions, is_internal: answer.is_internal, error };
        self.topics.insert(name, Arc::new(topic));
    }

    fn apply_hint(&mut self, hint: &LeaderHint) -> bool {
        let Some(topic) = self.topics.get(hint.partition.topic.as_str()) else { return false };
        let Some(known) = topic.partition(hint.partition.partition) else { return false };
        if known.leader_epoch.is_some_and(|epoch| epoch >= hint.leader_epoch) {
            return false;
        }
        let mut topic = Topic::clone(topic);
        let index = usize::try_from(hint.partition.partition.get()).unwrap_or(usize::MAX);
        if let Some(partition) = topic.partitions.get_mut(index) {
            partition.leader = Some(hint.leader);
            partition.leader_epoch = Some(hint.leader_epoch);
            partition.error = ErrorCode::NONE;
        }
        self.topics.insert(topic.name.clone(), Arc::new(topic));
        true
    }

    fn index_names(&mut self) {
        let names = self.topics.values().filter_map(|topic| Some((topic.id?, topic.name.clone())));
        self.names = names.collect();
    }
}

impl Topic {
    fn unknown(name: TopicName) -> Self {
        Self { name, id: None, partitions: Vec::new(), is_internal: false, error: ErrorCode::NONE }
    }
}

fn merge_partitions(answer: &[MetadataResponsePartition], known: &[Partition]) -> Vec<Partition> {
    let count =
        answer.iter().filter_map(|each| usize::try_from(each.partition_index).ok()).max().map_or(0, |max| max + 1);
    // A hole cannot be larger than the answer: partitions are numbered without gaps, and a hostile index must not allocate.
    let count = count.min(answer.len().max(known.len()));
    let mut merged: Vec<Partition> =
        (0..count).map(|index| known.get(index).cloned().unwrap_or_else(Partition::unknown)).collect();
    for each in answer {
        let Some(slot) = usize::try_from(each.partition_index).ok().and_then(|index| merged.get_mut(index)) else {
            continue;
        };
        slot.merge(each);
    }
    merged
}

impl Partition {
    const fn unknown() -> Self {
        Self {
            leader: None,
            leader_epoch: None,
            replicas: Vec::new(),
            in_sync: Vec::new(),
            error: ErrorCode::LEADER_NOT_AVAILABLE,
        }
    }

    /// Takes a leader of the same or a newer term, or one without a term (M-2): an older one is a stale view.
    fn merge(&mut self, answer: &MetadataResponsePartition) {
        let epoch = (answer.leader_epoch >= 0).then(|| LeaderEpoch::new(answer.leader_epoch));
        if let (Some(known), Some(told)) = (self.leader_epoch, epoch)
            && told < known
        {
            return;
        }
        self.leader = node(answer.leader_id.0);
        self.leader_epoch = epoch;
        self.replicas = answer.replica_nodes.iter().map(|id| NodeId::new(id.0)).collect();
        self.in_sync = answer.isr_nodes.iter().map(|id| NodeId::new(id.0)).collect();
        self.error = ErrorCode::new(answer.error_code);
    }
}

impl Broker {
    /// A broker at an address.
    #[must_use]
    pub fn new(id: NodeId, host: impl Into<String>, port: u16) -> Self {
        Self { id, host: host.into(), port, rack: None }
    }
}

fn broker(answer: &MetadataResponseBroker) -> Option<Broker> {
    let port = u16::try_from(answer.port).ok()?;
    let rack = answer.rack.as_ref().map(ToString::to_string);
    Some(Broker { rack, ..Broker::new(NodeId::new(answer.node_id.0), answer.host.as_str(), port) })
}

fn node(id: i32) -> Option<NodeId> {
    (id >= 0).then(|| NodeId::new(id))
}
