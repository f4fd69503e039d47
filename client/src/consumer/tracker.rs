//! Which records were handed out and are not finished, once a committer exists.

use crate::records::{Part, to_commit};
use crate::{ConsumerRecord, Offsets};
use millstream_client_core::fetch::{Generation, Position};
use millstream_protocol::TopicPartition;
use millstream_protocol::hash::HashMap;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// How many records of a partition may be unfinished before it is held back.
const MOST_UNFINISHED: usize = 10_000;

/// A handle on what is unfinished. The consumer has one, and every committer shares its ledger.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    ledger: Arc<Ledger>,
}

/// What is unfinished, and whom to wake when something is finished.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Whether anybody says what is finished: set by the first committer, for good.
    kept: AtomicBool,
    partitions: Mutex<HashMap<TopicPartition, Open>>,
    pub(super) finished: Notify,
}

#[derive(Debug)]
struct Open {
    generation: Generation,
    unfinished: BTreeSet<i64>,
    handed_out: Position,
}

impl Tracker {
    /// Tracks from now on.
    pub(super) fn on(&self) -> Arc<Ledger> {
        self.ledger.kept.store(true, Ordering::Relaxed);
        Arc::clone(&self.ledger)
    }
    /// The ledger, if there is a committer.
    pub(super) fn ledger(&self) -> Option<&Arc<Ledger>> {
        Some(&self.ledger).filter(|ledger| ledger.kept.load(Ordering::Relaxed))
    }
    pub(super) fn handed_out(&self, part: &Part) {
        let Some(ledger) = self.ledger() else { return };
        let mut partitions = ledger.lock();
        let open = partitions.entry(part.partition.clone()).or_insert_with(|| Open::new(part));
        if open.generation != part.generation {
            *open = Open::new(part);
        }
        for run in &part.runs {
            let records = run.batch.iter_from(run.from).take(run.count);
            open.unfinished.extend(records.map(|record| record.offset.get()));
        }
        open.handed_out = part.next;
    }
    pub(super) fn is_full(&self, partition: &TopicPartition) -> bool {
        let full = |ledger: &Arc<Ledger>| {
            ledger.lock().get(partition).is_some_and(|open| open.unfinished.len() >= MOST_UNFINISHED)
        };
        self.ledger().is_some_and(full)
    }
}

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, HashMap<TopicPartition, Open>> {
        self.partitions.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// A record of an earlier assignment, or from before a seek, is of no effect.
    pub(super) fn finish(&self, record: &ConsumerRecord) {
        let mut partitions = self.lock();
        let open = partitions.get_mut(&record.topic_partition).filter(|open| open.generation == record.generation);
        if open.is_some_and(|open| open.unfinished.remove(&record.offset.get())) {
            drop(partitions);
            self.finished.notify_one();
        }
    }
    /// Per partition, up to the first record that is not finished.
    pub(super) fn to_commit(&self, current: impl Fn(&TopicPartition, Generation) -> bool) -> Offsets {
        let mut partitions = self.lock();
        partitions.retain(|id, open| current(id, open.generation));
        partitions.iter().map(|(id, open)| (id.clone(), to_commit(open.place()))).collect()
    }
    /// Whether nothing of these partitions is unfinished.
    pub(super) fn all_finished(&self, ids: &[TopicPartition]) -> bool {
        let partitions = self.lock();
        ids.iter().all(|id| partitions.get(id).is_none_or(|open| open.unfinished.is_empty()))
    }
}

impl Open {
    const fn new(part: &Part) -> Self {
        Self { generation: part.generation, unfinished: BTreeSet::new(), handed_out: part.before }
    }
    fn place(&self) -> Position {
        match self.unfinished.first() {
            Some(offset) => Position::after(millstream_protocol::Offset::new(*offset), self.handed_out.epoch),
            None => self.handed_out,
        }
    }
}
