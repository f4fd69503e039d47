//! Fetch, versions 4 to 18: which partitions to read from where.

use super::field::{wire_body, wire_struct};
use super::{StrBytes, Uuid};
use crate::TopicName;

wire_struct! {
    /// What a consumer, or a follower, reads next.
    struct FetchRequest {
        /// A follower's id, up to version 14; −1 of a consumer.
        replica_id: i32 = -1, ..=14, Refused;
        /// How long the broker may wait for `min_bytes`, in milliseconds.
        max_wait_ms: i32 = 0, 4.., Ignored;
        /// How many bytes are worth an answer.
        min_bytes: i32 = 0, 4.., Ignored;
        /// How many bytes to answer with at most, a first batch apart (KIP-74).
        max_bytes: i32 = i32::MAX, 4.., Ignored;
        /// 0 reads everything, 1 only what is committed.
        isolation_level: i8 = 0, 4.., Ignored;
        /// The fetch session (KIP-227); 0 is none.
        session_id: i32 = 0, 7.., Ignored;
        /// Which request of the session this is; −1 wants none, 0 a new one.
        session_epoch: i32 = -1, 7.., Ignored;
        /// The partitions to read: all, or in a session those that changed.
        topics: Vec<FetchTopic> = Vec::new(), 4.., Ignored;
        /// The partitions to take out of the session.
        forgotten_topics_data: Vec<ForgottenTopic> = Vec::new(), 7.., Refused;
        /// The consumer's rack (KIP-392).
        rack_id: StrBytes = StrBytes::new(), 11.., Ignored;
        @0
        /// The cluster that is meant.
        cluster_id: Option<StrBytes> = None, 12.., Ignored;
        @1
        /// Which follower this is (KIP-903).
        replica_state: ReplicaState = ReplicaState::default(), 15.., Refused;
    }
}
wire_body!(request FetchRequest, 4..=18, flexible from 12);

wire_struct! {
    /// A follower.
    struct ReplicaState {
        /// Its id; −1 of a consumer.
        replica_id: i32 = -1, 15.., Refused;
        /// Its epoch.
        replica_epoch: i64 = -1, 15.., Refused;
    }
}
wire_struct! {
    /// A topic to read.
    struct FetchTopic {
        /// The topic's name, up to version 12.
        topic: TopicName = TopicName::from_static(""), ..=12, Ignored;
        /// The topic's id, from version 13 on.
        topic_id: Uuid = Uuid::nil(), 13.., Ignored;
        /// Each partition.
        partitions: Vec<FetchPartition> = Vec::new(), 4.., Ignored;
    }
}
wire_struct! {
    /// A partition to read.
    struct FetchPartition {
        /// The partition.
        partition: i32 = 0, 4.., Ignored;
        /// The leader's term as the reader knows it (KIP-320); −1 is unknown.
        current_leader_epoch: i32 = -1, 9.., Ignored;
        /// The offset to read from.
        fetch_offset: i64 = 0, 4.., Ignored;
        /// The term of the last record read; −1 is none.
        last_fetched_epoch: i32 = -1, 12.., Refused;
        /// A follower's first offset; −1 of a consumer.
        log_start_offset: i64 = -1, 5.., Ignored;
        /// How many bytes to answer with at most, a first batch apart.
        partition_max_bytes: i32 = 0, 4.., Ignored;
        @0
        /// A follower's directory.
        replica_directory_id: Uuid = Uuid::nil(), 17.., Ignored;
        @1
        /// The high watermark as the follower knows it.
        high_watermark: i64 = i64::MAX, 18.., Ignored;
    }
}
wire_struct! {
    /// A topic whose partitions leave the session.
    struct ForgottenTopic {
        /// The topic's name, up to version 12.
        topic: TopicName = TopicName::from_static(""), 7..=12, Ignored;
        /// The topic's id, from version 13 on.
        topic_id: Uuid = Uuid::nil(), 13.., Ignored;
        /// The partitions.
        partitions: Vec<i32> = Vec::new(), 7.., Refused;
    }
}
