//! Names of tasks.

use millstream_protocol::PartitionId;
use std::fmt;

/// A subtopology's share of one partition. Written `0_3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct TaskId {
    /// The subtopology.
    pub subtopology: u32,
    /// The partition.
    pub partition: PartitionId,
}

impl TaskId {
    /// The task of this partition.
    #[must_use]
    pub const fn new(subtopology: u32, partition: PartitionId) -> Self {
        Self { subtopology, partition }
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.subtopology, self.partition)
    }
}
