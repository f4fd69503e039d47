//! Kafka's wire protocol: frames, messages, record batches, compression, error codes.
//!
//! No clock, no socket, no runtime: bytes go in, values come out, and back.

pub mod api;
mod api_key;
mod codec;
mod error_code;
pub mod frame;
mod guard;
mod headers;
mod ids;
pub mod messages;
pub mod picture;
mod timestamp;
mod topic;

pub use api_key::ApiKey;
pub use error_code::ErrorCode;
pub use headers::{Header, Headers};
pub use ids::{LeaderEpoch, NodeId, Offset, PartitionId, ProducerEpoch, ProducerId};
pub use timestamp::Timestamp;
pub use topic::{TopicName, TopicPartition};
