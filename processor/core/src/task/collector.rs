//! Where a task's output goes.

use crate::ProcessorError;
use millstream_protocol::{Headers, PartitionId, Timestamp, TopicName};

/// Takes a task's output records: the runtime's stand before producers, the test driver's before lists.
///
/// A task asks [`is_ready`](Self::is_ready) before it takes an input record, and is parked while the answer is no; what a record has
/// written is sent when the record has ended, and is always taken.
pub trait Collector: Send {
    /// Whether there is room.
    fn is_ready(&mut self) -> bool;
    /// How many partitions a topic has, for partitioners; none if that is not known.
    fn partition_count(&mut self, topic: &TopicName) -> Option<usize>;
    /// Takes a record.
    ///
    /// # Errors
    /// If this record cannot be sent: the production handler decides what then. What fails later is not said here.
    fn send(&mut self, record: OutputRecord<'_>) -> Result<(), ProcessorError>;
}

/// A record that a task writes, serialized.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct OutputRecord<'a> {
    /// The topic.
    pub topic: &'a TopicName,
    /// The partition; none leaves it to Kafka's partitioner, by the key's bytes.
    pub partition: Option<PartitionId>,
    /// Its time.
    pub timestamp: Timestamp,
    /// Its key.
    pub key: Option<&'a [u8]>,
    /// Its value.
    pub value: Option<&'a [u8]>,
    /// Its headers.
    pub headers: &'a Headers,
}
