//! The application's side: taking what is buffered.

use super::partition::{Item, Partition, Phase};
use super::{Fetcher, Generation, Position};
use millstream_protocol::record::{Batch, RecordError};
use millstream_protocol::{ErrorCode, LeaderEpoch, Offset, TopicPartition};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How long a partition rests after a problem was told, before it is tried again (C-6).
const AFTER_PROBLEM: Duration = Duration::from_secs(1);

/// Batches of one partition, not yet looked into.
#[derive(Debug)]
#[non_exhaustive]
pub struct Fetched {
    /// The partition.
    pub partition: TopicPartition,
    /// The life of the partition that they belong to.
    pub generation: Generation,
    /// Records before this were asked for by nobody: a batch may begin earlier (C-1).
    pub from: i64,
    /// The batches, in offset order.
    pub batches: VecDeque<Batch>,
    /// Where the application stands after all of them.
    pub next: Position,
    /// The end of what all in-sync replicas have, as last told.
    pub high_watermark: Option<i64>,
    /// The end of what is decided, as last told.
    pub last_stable_offset: Option<i64>,
    /// The first record kept, as last told.
    pub log_start_offset: Option<i64>,
}

/// What one take brings.
#[derive(Debug)]
#[non_exhaustive]
pub enum Taken {
    /// Batches.
    Fetched(Fetched),
    /// A partition that cannot go on by itself.
    Failed(FetchFailure),
}

/// A partition that cannot go on by itself. It stays where it is and is tried again after a while; a seek moves it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchFailure {
    /// The partition.
    pub partition: TopicPartition,
    /// The life of the partition that this happened in.
    pub generation: Generation,
    /// The offset that it stands at, if it has one.
    pub offset: Option<Offset>,
    /// What is wrong.
    pub problem: FetchProblem,
}

/// What keeps a partition from going on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchProblem {
    /// What was fetched is not records.
    #[error(transparent)]
    Undecodable(RecordError),
    /// The answer holds no whole batch.
    #[error("the broker sent {bytes} bytes without one whole batch")]
    Incomplete {
        /// How many bytes it sent.
        bytes: usize,
    },
    /// The broker refuses.
    #[error("{0}")]
    Refused(ErrorCode),
    /// There is no record at the position, and the reset policy is none.
    #[error("there is no record at this offset, and auto.offset.reset is `none`")]
    OutOfRange,
    /// There is no committed offset, and the reset policy is none.
    #[error("nothing was committed, and auto.offset.reset is `none`")]
    NoPolicy,
    /// Records that were read are no longer in the log, and the reset policy is none.
    #[error("the log was truncated to offset {end}, and auto.offset.reset is `none`")]
    Truncated {
        /// Where the log parts from what was read.
        end: i64,
    },
}

impl Fetcher {
    /// Takes what is buffered of the next partition. The application's place moves only by [`advance`](Self::advance).
    /// Partitions that are not wanted now stay buffered.
    pub fn take(&mut self, now: Instant, wanted: impl Fn(&TopicPartition) -> bool) -> Option<Taken> {
        for _ in 0..self.ready.len() {
            let id = self.ready.pop_front()?;
            if !wanted(&id) {
                self.ready.push_back(id);
                continue;
            }
            let Some(partition) = self.partitions.get_mut(&id).filter(|partition| !partition.paused) else { continue };
            let Some(Removed { taken, bytes }) = partition.take(now) else { continue };
            if !partition.items.is_empty() {
                self.ready.push_back(id);
            }
            self.release(&bytes);
            return Some(taken);
        }
        None
    }
    /// Moves the application's place. False when the partition was moved or given up meanwhile: its records are not to be used.
    pub fn advance(&mut self, id: &TopicPartition, generation: Generation, to: Position) -> bool {
        let Some(partition) = self.current(id, generation) else { return false };
        partition.consumed = Some(to);
        true
    }
    /// Whether something that was taken still counts, and may be handed on.
    #[must_use]
    pub fn is_current(&self, id: &TopicPartition, generation: Generation) -> bool {
        self.partitions.get(id).is_some_and(|partition| partition.generation == generation)
    }
    /// Fetches a partition again from the application's place on: what was taken of it could not be used. What the application has of it stays
    /// valid, so this is no new life of it.
    pub fn refetch(&mut self, now: Instant, id: &TopicPartition, generation: Generation) {
        let Some(partition) = self.partitions.get_mut(id).filter(|partition| partition.generation == generation) else {
            return;
        };
        let Some(place) = partition.consumed else { return };
        // The place is older than what was last checked, and is checked for itself.
        partition.checked_epoch = None;
        self.responses.drop_items(&partition.items);
        partition.items.clear();
        partition.buffered_bytes = 0;
        let terms = std::mem::take(&mut partition.terms);
        partition.go_back_to(place, terms);
        partition.not_before = Some(now + AFTER_PROBLEM);
        self.ready.retain(|each| each != id);
    }

    /// Accounts for batches that left the buffer.
    fn release(&mut self, taken: &[(u64, usize)]) {
        for (response, bytes) in taken {
            if self.responses.release(*response, *bytes) {
                self.responses.copy_out(*response, self.partitions.values_mut());
            }
        }
    }
}

/// What left the buffer, with the responses that its bytes are in.
struct Removed {
    taken: Taken,
    bytes: Vec<(u64, usize)>,
}

impl Partition {
    fn take(&mut self, now: Instant) -> Option<Removed> {
        if let Some(Item::Problem(_)) = self.items.front() {
            return self.take_problem(now);
        }
        let from = self.consumed.unwrap_or(self.position);
        let mut next = from;
        let (mut batches, mut bytes) = (VecDeque::new(), Vec::new());
        while let Some(item) = self.items.pop_front_if(|item| !matches!(item, Item::Problem(_))) {
            match item {
                Item::Batch(batch, response) => {
                    next = after(&batch);
                    self.buffered_bytes = self.buffered_bytes.saturating_sub(batch.size());
                    bytes.push((response, batch.size()));
                    batches.push_back(batch);
                }
                Item::Gap(end) => next = end,
                Item::Problem(_) => {}
            }
        }
        if batches.is_empty() && next == from {
            return None;
        }
        let fetched = Fetched {
            partition: self.id.clone(),
            generation: self.generation,
            from: from.offset,
            batches,
            next,
            high_watermark: self.high_watermark,
            last_stable_offset: self.last_stable_offset,
            log_start_offset: self.log_start_offset,
        };
        Some(Removed { taken: Taken::Fetched(fetched), bytes })
    }
    fn take_problem(&mut self, now: Instant) -> Option<Removed> {
        let Item::Problem(problem) = self.items.pop_front()? else { return None };
        let (phase, offset) = match problem {
            FetchProblem::NoPolicy => (Phase::Resetting(None), None),
            _ if self.consumed.is_none() => (Phase::Resetting(None), None),
            _ => (Phase::Fetching, Some(Offset::new(self.position.offset))),
        };
        self.phase = phase;
        self.not_before = Some(now + AFTER_PROBLEM);
        let failure = FetchFailure { partition: self.id.clone(), generation: self.generation, offset, problem };
        Some(Removed { taken: Taken::Failed(failure), bytes: Vec::new() })
    }
}

/// The place after a batch, past what compaction took of it (C-2).
pub(super) fn after(batch: &Batch) -> Position {
    let header = batch.header();
    let epoch = Some(header.leader_epoch).filter(|epoch| *epoch >= 0).map(LeaderEpoch::new);
    Position::after(Offset::new(header.last_offset().saturating_add(1)), epoch)
}
