//! Reading partitions: where each one stands, what to ask whom, and what is held until somebody takes it.
//!
//! One [`Fetcher`] has all partitions of a consumer. Two sides use it under one lock, and neither does more than
//! bookkeeping there: the driver plans requests and files answers, the application takes batches, seeks and pauses.
//!
//! ```text
//!                    ┌── committed offset? ──┐            ┌─ leader's term changed ─► Validating ─┐
//!   assign ─► Uncommitted                    ├─► Fetching ┤                                       ├─► Fetching
//!                    └── none ─► Resetting ──┘            └─ offset out of range ───► Resetting ──┘
//!   seek ─► Fetching or Resetting                           no policy, or a bad batch ─► Halted until its error is taken
//! ```
//!
//! Non-obvious: a partition has two positions. `position` is where the next fetch starts, `consumed` where the application
//! stands; what lies between is buffered. Every seek and assignment gives the partition a new generation, and an answer to
//! a question of an earlier one is dropped (C-16).

mod answer;
mod buffer;
mod config;
mod filter;
mod lookup;
mod partition;
mod plan;
mod position;
mod session;
mod take;
mod terms;
#[cfg(test)]
mod tests;
mod validate;

pub use answer::{FetchFollowUp, Outcome};
pub use config::{FetchConfig, IsolationLevel, OffsetReset};
pub use lookup::Lookup;
pub use plan::FetchPlan;
pub use position::{Generation, OffsetTarget, Position};
pub use session::Stream;
pub use take::{FetchFailure, FetchProblem, Fetched, Taken};
pub use validate::Validation;

use buffer::Responses;
use millstream_protocol::TopicPartition;
use millstream_protocol::hash::HashMap;
use partition::{Partition, Phase};
use session::Session;
use std::collections::VecDeque;
use std::time::Instant;

/// All partitions of one consumer. See the module for its picture.
#[derive(Debug)]
pub struct Fetcher {
    config: FetchConfig,
    partitions: HashMap<TopicPartition, Partition>,
    /// The order in which partitions are asked for; rotates, so that none is always last (C-15).
    order: VecDeque<TopicPartition>,
    streams: HashMap<Stream, Session>,
    last_request: u64,
    /// Partitions that have something to take, once each.
    ready: VecDeque<TopicPartition>,
    responses: Responses,
    last_generation: u64,
    version: u64,
}

impl Fetcher {
    /// Reads nothing yet.
    #[must_use]
    pub fn new(config: FetchConfig) -> Self {
        Self {
            config,
            partitions: HashMap::default(),
            order: VecDeque::new(),
            streams: HashMap::default(),
            last_request: 0,
            ready: VecDeque::new(),
            responses: Responses::default(),
            last_generation: 0,
            version: 0,
        }
    }

    // --- what to read

    /// Adds partitions whose committed offset is to be looked up, or the reset policy followed. Those that are there already stay as they are.
    pub fn add(&mut self, partitions: impl IntoIterator<Item = TopicPartition>) {
        for partition in partitions {
            self.add_in(partition, Phase::Uncommitted);
        }
    }
    /// Adds partitions that follow the reset policy: there is no group that could have committed.
    pub fn add_reset(&mut self, partitions: impl IntoIterator<Item = TopicPartition>) {
        for partition in partitions {
            self.add_in(partition, Phase::Resetting(None));
        }
    }
    /// Adds a partition, or moves one that is there, to a position.
    pub fn add_at(&mut self, partition: TopicPartition, position: Position) {
        self.add_in(partition.clone(), Phase::Fetching);
        self.seek(&partition, position);
    }
    /// Stops reading these. What is buffered of them is dropped.
    pub fn remove<'a>(&mut self, partitions: impl IntoIterator<Item = &'a TopicPartition>) {
        for id in partitions {
            if let Some(partition) = self.partitions.remove(id) {
                self.responses.drop_items(&partition.items);
                self.order.retain(|each| each != id);
                self.ready.retain(|each| each != id);
                self.version += 1;
            }
        }
    }
    /// As [`remove`](Self::remove), but what was added after this life began stays: whoever was told then to give these up has got it again since.
    pub fn remove_as_of<'a>(&mut self, partitions: impl IntoIterator<Item = &'a TopicPartition>, last: Generation) {
        let is_meant =
            |id: &TopicPartition| self.partitions.get(id).is_some_and(|partition| partition.added_in <= last);
        let meant: Vec<_> = partitions.into_iter().filter(|id| is_meant(id)).collect();
        self.remove(meant);
    }
    /// Moves to a position. Returns false when the partition is not read.
    pub fn seek(&mut self, id: &TopicPartition, position: Position) -> bool {
        self.restart(id, |partition| partition.start_at(position))
    }
    /// Moves to where the target is now; an offset is looked up first. Returns false when the partition is not read.
    pub fn seek_to(&mut self, id: &TopicPartition, target: OffsetTarget) -> bool {
        self.restart(id, |partition| {
            partition.phase = Phase::Resetting(Some(target));
            partition.consumed = None;
        })
    }
    /// Holds a partition back; what is buffered stays.
    pub fn pause(&mut self, id: &TopicPartition) {
        if let Some(partition) = self.partitions.get_mut(id) {
            partition.paused = true;
        }
    }
    /// Lets a partition go on.
    pub fn resume(&mut self, id: &TopicPartition) {
        if let Some(partition) = self.partitions.get_mut(id).filter(|partition| partition.paused) {
            partition.paused = false;
            if !partition.items.is_empty() && !self.ready.contains(id) {
                self.ready.push_back(id.clone());
            }
        }
    }

    // --- asking

    /// The partitions that are read, in no order.
    pub fn partitions(&self) -> impl Iterator<Item = &TopicPartition> {
        self.partitions.keys()
    }
    /// The life of a partition that began last: all that are read have begun by it.
    #[must_use]
    pub const fn last_generation(&self) -> Generation {
        Generation(self.last_generation)
    }
    /// Another number whenever other partitions are read.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }
    /// Whether a partition is read.
    #[must_use]
    pub fn contains(&self, id: &TopicPartition) -> bool {
        self.partitions.contains_key(id)
    }
    /// Whether a partition is held back.
    #[must_use]
    pub fn is_paused(&self, id: &TopicPartition) -> bool {
        self.partitions.get(id).is_some_and(|partition| partition.paused)
    }
    /// Where the application stands; none until an offset is known.
    #[must_use]
    pub fn consumed(&self, id: &TopicPartition) -> Option<Position> {
        self.partitions.get(id)?.consumed
    }
    /// Where the application stands, partition by partition.
    pub fn all_consumed(&self) -> impl Iterator<Item = (&TopicPartition, Position)> {
        self.partitions.iter().filter_map(|(id, partition)| Some((id, partition.consumed?)))
    }
    /// How many offsets there are between the application and the end that it may read to, as the last answer told.
    #[must_use]
    pub fn lag(&self, id: &TopicPartition) -> Option<u64> {
        let partition = self.partitions.get(id)?;
        let end = partition.end(self.config.isolation)?;
        u64::try_from(end.saturating_sub(partition.consumed?.offset)).ok()
    }
    /// Bytes that buffered batches hold in memory, whole responses counted.
    #[must_use]
    pub fn buffered_bytes(&self) -> usize {
        self.responses.pinned_bytes()
    }
    /// Whether there is something to take.
    #[must_use]
    pub fn has_ready(&self) -> bool {
        self.ready.iter().any(|id| !self.is_paused(id))
    }
    /// When a pause after an error is over, if nothing happens before.
    #[must_use]
    pub fn deadline(&self, now: Instant) -> Option<Instant> {
        let partitions = self.partitions.values().filter_map(|partition| partition.not_before);
        let nodes = self.streams.values().filter_map(|session| session.not_before);
        partitions.chain(nodes).filter(|at| *at > now).min()
    }

    // --- shared by the parts

    fn add_in(&mut self, id: TopicPartition, phase: Phase) {
        if !self.partitions.contains_key(&id) {
            let generation = self.next_generation();
            self.order.push_back(id.clone());
            self.version += 1;
            self.partitions.insert(id.clone(), Partition::new(id, generation, phase));
        }
    }
    fn restart(&mut self, id: &TopicPartition, change: impl FnOnce(&mut Partition)) -> bool {
        let generation = self.next_generation();
        let Some(partition) = self.partitions.get_mut(id) else { return false };
        self.responses.drop_items(&partition.items);
        partition.restart(generation);
        change(partition);
        self.ready.retain(|each| each != id);
        true
    }
    const fn next_generation(&mut self) -> Generation {
        self.last_generation += 1;
        Generation(self.last_generation)
    }
    /// The partition, if it is still what the question was about.
    fn current(&mut self, id: &TopicPartition, generation: Generation) -> Option<&mut Partition> {
        self.partitions.get_mut(id).filter(|partition| partition.generation == generation)
    }
}
