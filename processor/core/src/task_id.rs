//! Names of tasks.

use millstream_protocol::PartitionId;
use std::fmt;
use std::str::FromStr;

/// A subtopology's share of one partition. Written `0_3`.
///
/// ```
/// use millstream_processor_core::TaskId;
///
/// let task = TaskId::new(0, 3.into());
/// assert_eq!(task.to_string(), "0_3");
/// assert_eq!("0_3".parse(), Ok(task));
/// ```
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
impl FromStr for TaskId {
    type Err = TaskIdError;

    fn from_str(text: &str) -> Result<Self, TaskIdError> {
        let parse = |text: &str| {
            let (subtopology, partition) = text.split_once('_')?;
            Some(Self::new(subtopology.parse().ok()?, partition.parse::<i32>().ok().filter(|each| *each >= 0)?.into()))
        };
        parse(text).ok_or_else(|| TaskIdError(text.to_owned()))
    }
}

/// Text that names no task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no task: it is written `<subtopology>_<partition>`, such as `0_3`")]
pub struct TaskIdError(String);
