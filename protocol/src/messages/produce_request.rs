//! Produce, versions 3 to 13: batches of records on their way to the leader of their partition.

use super::field::{wire_body, wire_struct};
use super::{RecordData, StrBytes, Uuid};
use crate::TopicName;

wire_struct! {
    /// Batches for partitions that one broker leads.
    struct ProduceRequest {
        /// The transactional id, or null of a producer without one.
        transactional_id: Option<StrBytes> = None, 3.., Ignored;
        /// Who must have the records before the answer: 0 nobody, and there is none; 1 the leader; −1 all in-sync replicas.
        acks: i16 = 0, 3.., Ignored;
        /// How long the broker may wait for the replicas, in milliseconds.
        timeout_ms: i32 = 0, 3.., Ignored;
        /// Each topic.
        topic_data: Vec<TopicProduceData> = Vec::new(), 3.., Ignored;
    }
}
wire_body!(request ProduceRequest, 3..=13, flexible from 9);

wire_struct! {
    /// A topic's batches.
    struct TopicProduceData {
        /// The topic's name, up to version 12.
        name: TopicName = TopicName::from_static(""), ..=12, Ignored;
        /// The topic's id, from version 13 on.
        topic_id: Uuid = Uuid::nil(), 13.., Ignored;
        /// Each partition.
        partition_data: Vec<PartitionProduceData> = Vec::new(), 3.., Ignored;
    }
}
wire_struct! {
    /// A partition's batch.
    struct PartitionProduceData {
        /// The partition.
        index: i32 = 0, 3.., Ignored;
        /// Its records: one batch.
        records: RecordData = RecordData::NULL, 3.., Ignored;
    }
}
