//! Coordinators of groups and transactional ids: who they are, and the internal topics in which they write down what they know.

use super::Broker;
use super::configs::MIN_ISR;
use super::java_hash::partition_for;
use super::log::batch::Batch;
use super::nodes::Node;
use super::settings::TRANSACTIONS_MIN_ISR;
use super::topics::{OFFSETS_TOPIC, PartitionKey, TRANSACTIONS_TOPIC, TestTopic};
use bytes::Bytes;
use millstream_protocol::compression::Compressor;
use millstream_protocol::record::{BatchBuilder, Stamp};
use millstream_protocol::{Headers, NodeId, Timestamp};

/// What is to be written: a key, and its value if it is not gone.
pub(super) type Records = Vec<(Bytes, Option<Bytes>)>;

impl Broker {
    /// Whether this node answers for a group.
    pub(super) fn is_coordinator(&self, node: NodeId, group: &str) -> bool {
        self.coordinator(OFFSETS_TOPIC, group).is_some_and(|coordinator| coordinator.id == node)
    }
    /// Whether this node answers for a transactional id.
    pub(super) fn is_transaction_coordinator(&self, node: NodeId, id: &str) -> bool {
        self.coordinator(TRANSACTIONS_TOPIC, id).is_some_and(|coordinator| coordinator.id == node)
    }
    /// Who answers for a key: who was chosen for it, or who leads the partition of the internal topic to which it belongs. As long as there
    /// is no such topic, it is who would lead it.
    pub(super) fn coordinator(&self, internal_topic: &str, key: &str) -> Option<&Node> {
        if let Some(chosen) = self.nodes.chosen_coordinator(key) {
            return Some(chosen);
        }
        let index = partition_for(key, self.internal_partitions(internal_topic));
        let Some(topic) = self.topics.find(internal_topic) else {
            let replicas = self.nodes.replicas(internal_topic, index, self.settings.replicas_of(internal_topic));
            return replicas.into_iter().find(|id| self.nodes.is_up(*id)).and_then(|id| self.nodes.find(id));
        };
        let partition = topic.partitions.get(index)?;
        self.nodes.find(partition.leader?).filter(|node| node.is_up())
    }
    /// How many partitions an internal topic has, or will have.
    pub(super) fn internal_partitions(&self, name: &str) -> usize {
        self.topics.find(name).map_or_else(|| self.settings.partitions_of(name), |topic| topic.partitions.len())
    }
    /// Makes an internal topic when somebody first needs its owner, as Kafka does.
    pub(super) fn ensure_internal(&mut self, name: &str) {
        if self.has_topic(name) {
            return;
        }
        let topic =
            TestTopic::new(name, self.internal_partitions(name)).replication_factor(self.settings.replicas_of(name));
        let mut topic = internal_configs(name).iter().fold(topic, |topic, (key, value)| topic.config(key, value));
        if let Some(bytes) = self.settings.given.get(segment_option(name)) {
            topic = topic.config("segment.bytes", bytes);
        }
        if let Some(least) = self.settings.given.get(TRANSACTIONS_MIN_ISR).filter(|_| name == TRANSACTIONS_TOPIC) {
            topic = topic.config(MIN_ISR, least);
        }
        self.create_topic(&topic);
    }
    /// The partition of an internal topic that belongs to a group or a transactional id.
    pub(super) fn internal_partition(&self, topic: &str, key: &str) -> Option<PartitionKey> {
        let topic = self.topics.find(topic)?;
        Some((topic.id, i32::try_from(partition_for(key, topic.partitions.len())).ok()?))
    }
    /// Appends records to a key's partition of an internal topic, and lets its readers know.
    pub(super) fn write_down(&mut self, topic: &str, key: &str, records: &Records, stamp: &Stamp) {
        let Some(batch) = batch(records, self.now, stamp) else { return };
        self.ensure_internal(topic);
        let Some(place) = self.internal_partition(topic, key) else { return };
        if let Err(code) = self.append(place, batch, None) {
            tracing::error!(topic, key, ?code, "the coordinator's own record is refused");
        }
    }
}

fn batch(records: &Records, now: Timestamp, stamp: &Stamp) -> Option<Batch> {
    if records.is_empty() {
        return None;
    }
    let mut builder = BatchBuilder::new();
    for (key, value) in records {
        builder.append(now, Some(key), value.as_deref(), &Headers::new()).ok()?;
    }
    Batch::parse(&builder.seal(&mut Compressor::none()).ok()?.to_bytes(stamp)).ok()
}
/// The broker's option for the size of an internal topic's segments.
fn segment_option(topic: &str) -> &'static str {
    match topic {
        TRANSACTIONS_TOPIC => "transaction.state.log.segment.bytes",
        _ => "offsets.topic.segment.bytes",
    }
}
/// What Kafka sets for its internal topics.
fn internal_configs(name: &str) -> &'static [(&'static str, &'static str)] {
    match name {
        TRANSACTIONS_TOPIC => &[
            ("cleanup.policy", "compact"),
            ("compression.type", "uncompressed"),
            ("segment.bytes", "104857600"),
            ("unclean.leader.election.enable", "false"),
        ],
        _ => &[("cleanup.policy", "compact"), ("compression.type", "producer"), ("segment.bytes", "104857600")],
    }
}
