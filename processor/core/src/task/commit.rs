//! What a task has finished and not committed. A commit takes it at any moment, also while the task is in the middle of a record.

use crate::TaskId;
use millstream_protocol::{Offset, Timestamp, TopicPartition};
use millstream_state::{Frozen, LayeredStore, RecordScope, StoreError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The committing side of a task: freezes what finished records have done, from any thread. Cloning gives another handle to it.
///
/// A record ends under the same lock that a freeze takes, so positions, stores and outputs are always of the same record.
#[derive(Debug, Clone)]
pub struct TaskCommits(Arc<Mutex<Finished>>);

/// What finished records have done.
#[derive(Debug)]
pub(super) struct Finished {
    task: TaskId,
    positions: Vec<TaskPosition>,
    stores: Vec<LayeredStore>,
    is_dirty: bool,
    commit_requested: bool,
}
/// How far a task is in one of its partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskPosition {
    /// The partition.
    pub partition: TopicPartition,
    /// The next offset to read; none if the task has not read the partition and did not know where to start.
    pub next: Option<Offset>,
    /// The highest time of the records that were processed.
    pub partition_time: Option<Timestamp>,
}

impl TaskPosition {
    /// Where a task starts, or stands.
    #[must_use]
    pub const fn new(partition: TopicPartition, next: Option<Offset>, partition_time: Option<Timestamp>) -> Self {
        Self { partition, next, partition_time }
    }
}

/// What a task commits: frozen, and not decided.
#[derive(Debug)]
#[must_use = "what is frozen waits for its stores to be applied, or for the task to be abandoned"]
#[non_exhaustive]
pub struct TaskFreeze {
    /// The task.
    pub task: TaskId,
    /// How far it is, for each of its partitions, in the order of its sources. The first is the anchor.
    pub positions: Vec<TaskPosition>,
    /// What its stores have written, for those that have written something.
    pub stores: Vec<Frozen>,
}

impl TaskCommits {
    pub(super) fn new(task: TaskId, stores: Vec<LayeredStore>, positions: Vec<TaskPosition>) -> Self {
        let finished = Finished { task, positions, stores, is_dirty: false, commit_requested: false };
        Self(Arc::new(Mutex::new(finished)))
    }
    /// Freezes what finished records and punctuations have done since the last freeze; none if that is nothing.
    ///
    /// # Errors
    /// If what was frozen before is not decided yet.
    pub fn freeze(&self) -> Result<Option<TaskFreeze>, StoreError> {
        let mut finished = self.lock();
        if !finished.is_dirty {
            return Ok(None);
        }
        let mut stores = Vec::new();
        for store in &finished.stores {
            stores.extend(store.freeze()?);
        }
        (finished.is_dirty, finished.commit_requested) = (false, false);
        Ok(Some(TaskFreeze { task: finished.task, positions: finished.positions.clone(), stores }))
    }
    /// Drops all that is not committed: the commit was aborted, or its outcome must be learnt. The task is to be built anew.
    pub fn abandon(&self) {
        let mut finished = self.lock();
        finished.stores.iter().for_each(LayeredStore::abandon);
        (finished.is_dirty, finished.commit_requested) = (false, false);
    }
    /// Whether there is something to freeze.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        self.lock().is_dirty
    }
    /// Whether a processor has asked for a commit since the last freeze.
    #[must_use]
    pub fn is_commit_requested(&self) -> bool {
        self.lock().commit_requested
    }
    /// How far the task is, finished records counted.
    #[must_use]
    pub fn positions(&self) -> Vec<TaskPosition> {
        self.lock().positions.clone()
    }
    /// What the stores' layers weigh in memory, in bytes, about.
    #[must_use]
    pub fn uncommitted_bytes(&self) -> usize {
        self.lock().stores.iter().map(LayeredStore::uncommitted_bytes).sum()
    }
    /// The task's stores, in the order of its sub-topology.
    #[must_use]
    pub fn stores(&self) -> Vec<LayeredStore> {
        self.lock().stores.clone()
    }

    /// No user code runs under this lock, and what it guards is whole between any two statements that could panic.
    pub(super) fn lock(&self) -> MutexGuard<'_, Finished> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
impl Finished {
    /// The record or punctuation in hand becomes part of the epoch.
    pub(super) fn end(&mut self, scope: &RecordScope, commit_requested: bool) {
        scope.end_record();
        self.is_dirty = true;
        self.commit_requested |= commit_requested;
    }
    /// What the record in hand has written to stores is taken back.
    pub(super) fn undo(&self, scope: &RecordScope) {
        self.stores.iter().for_each(LayeredStore::drop_record);
        scope.end_record();
    }
    /// There is no record before this offset. That alone is nothing to commit.
    pub(super) fn pass(&mut self, input: usize, next: Offset) {
        let position = &mut self.positions[input];
        position.next = position.next.max(Some(next));
    }
    pub(super) fn advance(&mut self, input: usize, next: Offset, partition_time: Option<Timestamp>) {
        let position = &mut self.positions[input];
        (position.next, position.partition_time) = (Some(next), partition_time);
        self.is_dirty = true;
    }
}
