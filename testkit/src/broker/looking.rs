//! What a test sees of the cluster.

use super::faults::Faults;
use super::log::Isolation;
use super::log::batch::Batch;
use super::log::producers::Aborted;
use super::request_log::RequestLog;
use super::{Broker, topics};
use bytes::Bytes;
#[cfg(feature = "simulation")]
use millstream_protocol::messages::StrBytes;

impl Broker {
    pub(crate) fn has_topic(&self, topic: &str) -> bool {
        self.topics.find(topic).is_some()
    }
    /// A topic that may not be there beside one of this name.
    pub(crate) fn colliding(&self, name: &str) -> Option<String> {
        self.topics.collides_with(name).map(ToString::to_string)
    }
    /// Where a partition's log begins and ends.
    #[cfg(feature = "simulation")]
    pub(crate) fn span(&self, topic: &str, partition: i32) -> Option<(i64, i64)> {
        let index = usize::try_from(partition).ok()?;
        let log = &self.topics.find(topic)?.partitions.get(index)?.log;
        Some((log.start(), log.end()))
    }
    /// What a group has committed for a partition.
    #[cfg(feature = "simulation")]
    pub(crate) fn committed_offset(&self, group: &str, topic: &str, partition: i32) -> Option<i64> {
        let key = (StrBytes::from_string(topic.to_owned()), partition);
        self.groups.find(group)?.offsets.find(&key).map(|committed| committed.offset)
    }
    #[cfg(feature = "simulation")]
    pub(crate) fn partition_count(&self, topic: &str) -> i32 {
        self.topics.find(topic).and_then(|topic| i32::try_from(topic.partitions.len()).ok()).unwrap_or(0)
    }
    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }
    pub(crate) fn faults_mut(&mut self) -> &mut Faults {
        &mut self.faults
    }
    pub(crate) fn request_log(&self) -> &RequestLog {
        &self.log
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
        let look = |partition: &topics::partition::Partition| Committed {
            batches: partition.log.batches_below(Isolation::ReadCommitted).map(Batch::to_bytes).collect(),
            aborted: partition.log.aborted_between(i64::MIN, i64::MAX),
        };
        topic.partitions.iter().map(look).collect()
    }
    /// How many offsets of a topic are taken: no fewer than it has records.
    pub(crate) fn offsets_taken(&self, topic: &str) -> u64 {
        let span = |partition: &topics::partition::Partition| {
            u64::try_from(partition.log.high_watermark() - partition.log.start()).unwrap_or(0)
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
