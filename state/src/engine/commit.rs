//! Which commit a store is at, and what that means in offsets.

use millstream_protocol::{Offset, Timestamp, TopicPartition};
use std::fmt;
use std::sync::Arc;

/// Which commit: its number, and the life of the process that made it.
///
/// Numbers grow within a life and are never used twice; a life is random per process start, so that a batch that was prepared
/// before a crash is not taken for another's commit of the same number.
///
/// ```
/// use millstream_state::CommitId;
/// assert_eq!(CommitId::new(7, 0x1f).to_string(), "7 of life 1f");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId {
    number: u64,
    life: u64,
}
impl CommitId {
    /// Names a commit.
    #[must_use]
    pub const fn new(number: u64, life: u64) -> Self {
        Self { number, life }
    }
    /// Its number within its life and after the committed one.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.number
    }
    /// The process start that made it.
    #[must_use]
    pub const fn life(self) -> u64 {
        self.life
    }
}
impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of life {:x}", self.number, self.life)
    }
}

/// How far a store is: in its changelog, and in the inputs that it reflects. Cloning shares the list of inputs.
///
/// ```
/// use millstream_protocol::{Offset, Timestamp};
/// use millstream_state::ChangelogPosition;
/// let position = ChangelogPosition::new(Offset::new(12), Timestamp::from_millis(5)).with_inputs([(("orders", 0), Offset::new(3))]);
/// assert_eq!(position.changelog_end(), Offset::new(12));
/// assert_eq!(position.inputs()[0].1, Offset::new(3));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangelogPosition {
    changelog_end: Offset,
    time: Timestamp,
    inputs: Arc<[(TopicPartition, Offset)]>,
}
impl ChangelogPosition {
    /// `changelog_end` is the offset after the last changelog record that the store reflects (the protocol's P); `time` is when the
    /// commit wrote to the changelog, or a restore knew to have read it: what tombstones' retention is reckoned from.
    #[must_use]
    pub fn new(changelog_end: Offset, time: Timestamp) -> Self {
        Self { changelog_end, time, inputs: Arc::new([]) }
    }
    /// Adds the input offsets, each the next one to read.
    #[must_use]
    pub fn with_inputs<P: Into<TopicPartition>>(mut self, inputs: impl IntoIterator<Item = (P, Offset)>) -> Self {
        self.inputs = inputs.into_iter().map(|(partition, offset)| (partition.into(), offset)).collect();
        self
    }
    /// The offset after the last changelog record that the store reflects.
    #[must_use]
    pub const fn changelog_end(&self) -> Offset {
        self.changelog_end
    }
    /// When the commit wrote to the changelog.
    #[must_use]
    pub const fn time(&self) -> Timestamp {
        self.time
    }
    /// The inputs that the store reflects: for each partition, the next offset to read.
    #[must_use]
    pub fn inputs(&self) -> &[(TopicPartition, Offset)] {
        &self.inputs
    }
}

/// A batch that waits for its decision.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prepared {
    /// The commit that it belongs to.
    pub commit: CommitId,
    /// Where it brings the store.
    pub position: ChangelogPosition,
}
impl Prepared {
    /// For those who write a store.
    #[must_use]
    pub const fn new(commit: CommitId, position: ChangelogPosition) -> Self {
        Self { commit, position }
    }
}

/// How far a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// The last commit in it; none in the middle of a restore.
    pub commit: Option<CommitId>,
    /// Where that is.
    pub position: ChangelogPosition,
}
impl Applied {
    /// For those who write a store.
    #[must_use]
    pub const fn new(commit: Option<CommitId>, position: ChangelogPosition) -> Self {
        Self { commit, position }
    }
}
