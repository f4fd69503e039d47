//! The answer to Produce, versions 3 to 13: where the batches are, or why they are not.

use super::field::{wire_body, wire_struct};
use super::{StrBytes, Uuid};
use crate::TopicName;

wire_struct! {
    /// What became of each batch.
    struct ProduceResponse {
        /// Each topic.
        responses: Vec<TopicProduceResponse> = Vec::new(), 3.., Ignored;
        /// For how long the client is asked to hold back, in milliseconds.
        throttle_time_ms: i32 = 0, 3.., Ignored;
        @0
        /// Where the new leaders are that `current_leader` names (KIP-951).
        node_endpoints: Vec<NodeEndpoint> = Vec::new(), 10.., Refused;
    }
}
wire_body!(response ProduceResponse, 3..=13, flexible from 9);

wire_struct! {
    /// A topic's answers.
    struct TopicProduceResponse {
        /// The topic's name, up to version 12.
        name: TopicName = TopicName::from_static(""), ..=12, Ignored;
        /// The topic's id, from version 13 on.
        topic_id: Uuid = Uuid::nil(), 13.., Ignored;
        /// Each partition.
        partition_responses: Vec<PartitionProduceResponse> = Vec::new(), 3.., Ignored;
    }
}
wire_struct! {
    /// A partition's answer.
    struct PartitionProduceResponse {
        /// The partition.
        index: i32 = 0, 3.., Ignored;
        /// The error, or 0.
        error_code: i16 = 0, 3.., Ignored;
        /// The offset of the batch's first record.
        base_offset: i64 = 0, 3.., Ignored;
        /// The broker's time under `LogAppendTime`, else −1; in milliseconds.
        log_append_time_ms: i64 = -1, 3.., Ignored;
        /// The first offset that the partition still has.
        log_start_offset: i64 = -1, 5.., Ignored;
        /// The records that made the batch fail (KIP-467).
        record_errors: Vec<BatchIndexAndErrorMessage> = Vec::new(), 8.., Ignored;
        /// Why the batch failed as a whole.
        error_message: Option<StrBytes> = None, 8.., Ignored;
        @0
        /// The leader to send to from now on (KIP-951).
        current_leader: LeaderIdAndEpoch = LeaderIdAndEpoch::default(), 10.., Refused;
    }
}
wire_struct! {
    /// A record that made its batch fail.
    struct BatchIndexAndErrorMessage {
        /// Its place in the batch.
        batch_index: i32 = 0, 8.., Refused;
        /// What is wrong with it.
        batch_index_error_message: Option<StrBytes> = None, 8.., Refused;
    }
}
wire_struct! {
    /// A leader.
    struct LeaderIdAndEpoch {
        /// The broker, or −1 when unknown.
        leader_id: i32 = -1, 10.., Refused;
        /// Its term, or −1 when unknown.
        leader_epoch: i32 = -1, 10.., Refused;
    }
}
wire_struct! {
    /// A broker's address.
    struct NodeEndpoint {
        /// The broker.
        node_id: i32 = 0, 10.., Refused;
        /// Its host.
        host: StrBytes = StrBytes::new(), 10.., Refused;
        /// Its port.
        port: i32 = 0, 10.., Refused;
        /// Its rack, or null.
        rack: Option<StrBytes> = None, 10.., Refused;
    }
}
