//! How a topology reads and writes topics, where a name or a [`Topic`] does not say enough.

mod consumed;
mod produced;
mod timestamp_extractor;

pub use consumed::{Consumed, OffsetReset};
pub use produced::{Partitions, Produced};
pub use timestamp_extractor::{
    FailOnInvalidTimestamp, SkipOnInvalidTimestamp, TimestampExtractor, UsePartitionTimeOnInvalidTimestamp,
};

pub(crate) use produced::{Partitioner, ProducedTo, TopicChooser};
