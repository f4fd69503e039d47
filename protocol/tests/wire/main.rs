//! Kafka's messages and batches, as its own classes write and read them, and what was meddled with.

#[cfg(all(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]
mod batch_json;
mod corpus;
mod embedded;
mod fuzzed;
mod hostile;
#[cfg(all(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]
mod hostile_records;
mod memory;
mod messages;
mod own_messages;
mod partitioner;
mod pictures;
#[cfg(all(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]
mod records;
#[cfg(all(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]
mod steady;

#[global_allocator]
static COUNTING: memory::Counting = memory::Counting;
