#![doc = include_str!("../README.md")]

pub mod api;
mod api_key;
mod buffers;
mod codec;
pub mod compression;
pub mod embedded;
mod error_code;
pub mod frame;
mod guard;
#[doc(hidden)]
pub mod hash;
mod headers;
mod ids;
#[cfg(test)]
#[path = "../tests/wire/memory.rs"]
mod memory;
pub mod messages;
mod murmur2;
pub mod picture;
pub mod record;
#[cfg(test)]
mod sampled;
mod timestamp;
mod topic;

pub use api_key::ApiKey;
pub use compression::{Compression, CompressionError, Compressor, Decompressor};
pub use error_code::ErrorCode;
pub use headers::{Header, Headers};
pub use ids::{LeaderEpoch, NodeId, Offset, PartitionId, ProducerEpoch, ProducerId};
pub use murmur2::{murmur2, partition_for_key};
pub use timestamp::Timestamp;
pub use topic::{TopicName, TopicPartition};

#[cfg(test)]
#[global_allocator]
static COUNTING: memory::Counting = memory::Counting;
