//! The answer to Fetch, versions 4 to 18: records, and how far the partitions reach.

use super::field::{wire_body, wire_struct};
use super::{RecordData, StrBytes, Uuid};
use crate::TopicName;

wire_struct! {
    /// What there is to read.
    struct FetchResponse {
        /// For how long the client is asked to hold back, in milliseconds.
        throttle_time_ms: i32 = 0, 4.., Ignored;
        /// The error of the request as a whole, or 0.
        error_code: i16 = 0, 7.., Ignored;
        /// The fetch session; 0 is none.
        session_id: i32 = 0, 7.., Refused;
        /// Each topic.
        responses: Vec<FetchableTopicResponse> = Vec::new(), 4.., Ignored;
        @0
        /// Where the new leaders are that `current_leader` names (KIP-951).
        node_endpoints: Vec<NodeEndpoint> = Vec::new(), 16.., Refused;
    }
}
wire_body!(response FetchResponse, 4..=18, flexible from 12);

wire_struct! {
    /// A topic's partitions.
    struct FetchableTopicResponse {
        /// The topic's name, up to version 12.
        topic: TopicName = TopicName::from_static(""), ..=12, Ignored;
        /// The topic's id, from version 13 on.
        topic_id: Uuid = Uuid::nil(), 13.., Ignored;
        /// Each partition.
        partitions: Vec<PartitionData> = Vec::new(), 4.., Ignored;
    }
}
wire_struct! {
    /// A partition's records.
    struct PartitionData {
        /// The partition.
        partition_index: i32 = 0, 4.., Ignored;
        /// The error, or 0.
        error_code: i16 = 0, 4.., Ignored;
        /// The offset after the last one that all in-sync replicas have.
        high_watermark: i64 = 0, 4.., Ignored;
        /// The offset of the first record whose transaction is undecided.
        last_stable_offset: i64 = -1, 4.., Ignored;
        /// The first offset that the partition still has.
        log_start_offset: i64 = -1, 5.., Ignored;
        /// The aborted transactions among the records; null where nobody asked.
        aborted_transactions: Option<Vec<AbortedTransaction>> = Some(Vec::new()), 4.., Ignored;
        /// The replica to read from instead (KIP-392); −1 is none.
        preferred_read_replica: i32 = -1, 11.., Refused;
        /// Batches, the last of which may be cut short.
        records: RecordData = RecordData::NULL, 4.., Ignored;
        @0
        /// Where the reader's log and the leader's part (KIP-595).
        diverging_epoch: EpochEndOffset = EpochEndOffset::default(), 12.., Refused;
        @1
        /// The leader to read from from now on.
        current_leader: LeaderIdAndEpoch = LeaderIdAndEpoch::default(), 12.., Refused;
        @2
        /// The snapshot to read, where the offset is before the log's start.
        snapshot_id: SnapshotId = SnapshotId::default(), 12.., Refused;
    }
}
wire_struct! {
    /// The end of a term.
    struct EpochEndOffset {
        /// The term.
        epoch: i32 = -1, 12.., Refused;
        /// The offset after its last record.
        end_offset: i64 = -1, 12.., Refused;
    }
}
wire_struct! {
    /// A leader.
    struct LeaderIdAndEpoch {
        /// The broker, or −1 when unknown.
        leader_id: i32 = -1, 12.., Refused;
        /// Its term, or −1 when unknown.
        leader_epoch: i32 = -1, 12.., Refused;
    }
}
wire_struct! {
    /// A snapshot.
    struct SnapshotId {
        /// The offset after its last record.
        end_offset: i64 = -1, 4.., Ignored;
        /// Its term.
        epoch: i32 = -1, 4.., Ignored;
    }
}
wire_struct! {
    /// A transaction that was aborted.
    struct AbortedTransaction {
        /// Its producer.
        producer_id: i64 = 0, 4.., Refused;
        /// The offset of its first record.
        first_offset: i64 = 0, 4.., Refused;
    }
}
wire_struct! {
    /// A broker's address.
    struct NodeEndpoint {
        /// The broker.
        node_id: i32 = 0, 16.., Refused;
        /// Its host.
        host: StrBytes = StrBytes::new(), 16.., Refused;
        /// Its port.
        port: i32 = 0, 16.., Refused;
        /// Its rack, or null.
        rack: Option<StrBytes> = None, 16.., Refused;
    }
}
