//! What a topic holds, read straight from the logs.

use super::Isolation;
use crate::broker::Broker;
use bytes::Bytes;
use millstream_protocol::record::{Batch, CrcCheck, batches};
use millstream_protocol::{Decompressor, Headers, Offset, PartitionId, Timestamp, TopicName, TopicPartition};

/// A record as the cluster has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClusterRecord {
    /// Where it lies.
    pub topic_partition: TopicPartition,
    /// Its position.
    pub offset: Offset,
    /// Its time.
    pub timestamp: Timestamp,
    /// Its key.
    pub key: Option<Bytes>,
    /// Its value.
    pub value: Option<Bytes>,
    /// Its headers.
    pub headers: Headers,
}

/// Everything committed in a topic.
pub(super) fn committed(broker: &Broker, topic: &TopicName) -> Vec<ClusterRecord> {
    let partitions = broker.batches(topic.as_str(), Isolation::ReadCommitted);
    let mut records = Vec::new();
    for (partition, stored) in (0..).zip(partitions) {
        let aborted = broker.aborted(topic.as_str(), partition);
        let stored = stored.into_iter().flat_map(batches).filter_map(Result::ok);
        let is_visible = |batch: &Batch| !batch.header().is_control() && !is_aborted(batch, &aborted);
        stored.filter(is_visible).for_each(|batch| read(&batch, topic, partition, &mut records));
    }
    records
}
fn is_aborted(batch: &Batch, aborted: &[(i64, i64, i64)]) -> bool {
    let header = batch.header();
    let lies_in = |(producer, first, marker): &(i64, i64, i64)| {
        *producer == header.producer_id && (*first..*marker).contains(&header.base_offset)
    };
    header.is_transactional() && aborted.iter().any(lies_in)
}
fn read(batch: &Batch, topic: &TopicName, partition: i32, records: &mut Vec<ClusterRecord>) {
    // The log took only what it could check; a batch whose records cannot be read is its producer's.
    let Ok(decoded) = batch.decode(&mut Decompressor::new(), CrcCheck::Skip) else { return };
    let payload = decoded.payload();
    let own = |part: Option<&[u8]>| part.map(Bytes::copy_from_slice);
    records.extend(decoded.iter().map(|record| ClusterRecord {
        topic_partition: TopicPartition::new(topic, PartitionId::new(partition)),
        offset: record.offset,
        timestamp: record.timestamp,
        key: own(record.key),
        value: own(record.value),
        headers: record.headers.to_headers(payload),
    }));
}
