#![doc = include_str!("../README.md")]
// Nothing that came from bytes may end the process, or be cut to fewer bits.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::string_slice,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss
    )
)]
// Without either half of the messages there are ids, records and codecs, and nobody calls what messages need.
#![cfg_attr(
    not(any(feature = "client", feature = "broker")),
    allow(dead_code, unused_imports, unused_macros, reason = "what only messages need")
)]

pub mod api;
mod api_key;
mod buffers;
mod codec;
#[allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "lengths that the codec itself made")]
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
#[allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "varints are zigzags of the same width")]
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
