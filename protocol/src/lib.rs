//! Kafka's wire protocol: frames, messages, record batches, compression, error codes.
//!
//! No clock, no socket, no runtime: bytes go in, values come out, and back.

mod api_key;
mod error_code;
mod headers;
mod ids;
mod timestamp;
mod topic;

pub use api_key::ApiKey;
pub use error_code::ErrorCode;
pub use headers::{Header, Headers};
pub use ids::{LeaderEpoch, NodeId, Offset, PartitionId, ProducerEpoch, ProducerId};
pub use timestamp::Timestamp;
pub use topic::{TopicName, TopicPartition};
