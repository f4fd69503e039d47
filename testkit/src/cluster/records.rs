//! What a topic holds, read straight from the logs.

use crate::broker::{Aborted, Committed};
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

/// The records of a topic, from what its log has.
pub(crate) fn decode(topic: &TopicName, partitions: Vec<Committed>) -> Vec<ClusterRecord> {
    let mut records = Vec::new();
    for (partition, Committed { batches: stored, aborted }) in (0..).zip(partitions) {
        let stored = stored.into_iter().flat_map(batches).filter_map(Result::ok);
        let is_visible = |batch: &Batch| !batch.header().is_control() && !is_aborted(batch, &aborted);
        stored.filter(is_visible).for_each(|batch| read(&batch, topic, partition, &mut records));
    }
    records
}
fn is_aborted(batch: &Batch, aborted: &[Aborted]) -> bool {
    let header = batch.header();
    let lies_in = |one: &Aborted| {
        one.producer_id == header.producer_id && (one.first_offset..one.marker_offset).contains(&header.base_offset)
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
