//! What a transaction adds to sending: which partitions it has, and whether it can still be committed.

use super::super::batch::Batch;
use super::super::{Failure, Outcome, TransactionNumber};
use super::{Identity, IdentityState, Sender};
use millstream_protocol::hash::{HashMap, HashSet};
use millstream_protocol::{Offset, TopicPartition};
use std::sync::Arc;

/// The transaction that batches are sent for.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    number: TransactionNumber,
    edition: Edition,
    /// Lanes whose partitions the coordinator knows to be part of it.
    added: HashSet<usize>,
    /// Lanes that wait for that, and those whose request is under way.
    wanted: HashSet<usize>,
    asked: HashSet<usize>,
    /// Whether a batch went out for it, so that brokers may hold something of it.
    touched: bool,
    /// Whether a batch failed that may have had a number.
    failed: bool,
    /// Whether records were dropped before they were taken for sending.
    dropped: bool,
    /// The offset after the last record that was written, per partition.
    next_offsets: HashMap<TopicPartition, Offset>,
}

/// How partitions join a transaction.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Edition {
    /// There is no transaction.
    #[default]
    None,
    /// By a request before the first batch (T-1).
    Explicit,
    /// By their first batch (KIP-890, T-2).
    Implicit,
}

impl Transaction {
    /// Whether a lane's new batches may go. If not, it is noted that its partition must be added first.
    pub(super) fn admits(&mut self, lane: usize) -> bool {
        if self.edition != Edition::Explicit || self.added.contains(&lane) {
            return true;
        }
        if !self.asked.contains(&lane) {
            self.wanted.insert(lane);
        }
        false
    }
    pub(super) const fn number(&self) -> TransactionNumber {
        self.number
    }
    pub(super) const fn handle_dispatched(&mut self) {
        self.touched = true;
    }
    pub(super) fn handle_outcome(&mut self, batch: &Batch, outcome: &Outcome) {
        let Ok(written) = outcome else { return };
        let Some(base) = written.base_offset.filter(|_| self.edition != Edition::None) else { return };
        let next = Offset::new(base.get() + i64::from(batch.count()));
        let known = self.next_offsets.entry(batch.handle.partition().clone()).or_insert(next);
        *known = next.max(*known);
    }
    pub(super) const fn handle_failed_batch(&mut self) {
        self.failed = true;
    }
    /// Below Produce 12 brokers expect partitions to be added beforehand; from there on the batch adds them.
    pub(super) const fn max_version(&self, transactional: bool, with_ids: bool) -> Option<i16> {
        match (transactional, self.edition, with_ids) {
            (true, Edition::Explicit | Edition::None, _) => Some(11),
            (_, _, false) => Some(12),
            (_, _, true) => None,
        }
    }
}

impl Sender {
    /// A transaction begins. `implicit`: its first batch adds a partition to it (transaction version 2).
    pub fn begin_transaction(&mut self, number: TransactionNumber, implicit: bool) {
        let edition = if implicit { Edition::Implicit } else { Edition::Explicit };
        self.transaction = Transaction { number, edition, ..Transaction::default() };
        self.accumulator.begin(number);
    }
    /// Partitions to be added to the transaction before their batches may go. The answer comes by
    /// [`handle_partitions_added`](Self::handle_partitions_added).
    pub fn poll_partitions_to_add(&mut self) -> Vec<TopicPartition> {
        let wanted: Vec<usize> = self.transaction.wanted.drain().collect();
        self.transaction.asked.extend(wanted.iter().copied());
        wanted.iter().filter_map(|index| Some(self.lanes.get(*index)?.shard.partition().clone())).collect()
    }
    /// Whether the partitions that were asked for are part of the transaction now; if not, they are asked for again. What was
    /// added before stays (T-1).
    pub fn handle_partitions_added(&mut self, added: bool) {
        let asked: Vec<usize> = self.transaction.asked.drain().collect();
        self.active.extend(asked.iter().copied());
        if added {
            self.transaction.added.extend(asked);
        } else {
            self.transaction.wanted.extend(asked);
        }
    }
    /// The number of the transaction that batches are sent for.
    #[must_use]
    pub const fn transaction(&self) -> TransactionNumber {
        self.transaction.number
    }
    /// Whether a record of the transaction failed, so that it cannot be committed (T-4).
    #[must_use]
    pub const fn transaction_failed(&self) -> bool {
        self.transaction.failed || self.transaction.dropped
    }
    /// Whether numbers were given to batches that failed, so that the next ones would come out of sequence.
    #[must_use]
    pub const fn transaction_has_gap(&self) -> bool {
        self.transaction.failed
    }
    /// Whether brokers may hold anything of the transaction: a partition was added, or a batch went out.
    #[must_use]
    pub fn transaction_is_touched(&self) -> bool {
        self.transaction.touched || !self.transaction.added.is_empty() || !self.transaction.asked.is_empty()
    }
    /// The offset after the last record that was written for the transaction, per partition.
    #[must_use]
    pub fn transaction_offsets(&self) -> HashMap<TopicPartition, Offset> {
        self.transaction.next_offsets.clone()
    }
    /// Everything of the transaction that is not under way fails, and it takes no more records.
    pub fn abort_waiting(&mut self, failure: &Arc<Failure>) {
        self.take_notes();
        if let Some(partition) = self.accumulator.end(failure, true) {
            self.transaction.dropped = true;
            self.first_failure.get_or_insert_with(|| (partition, Arc::clone(failure)));
        }
        for index in 0..self.lanes.len() {
            let waiting = self.lanes[index].drain_waiting();
            for batch in waiting {
                self.transaction.failed = true;
                self.lanes[index].needs_reset = true;
                self.finish(&batch, Err(Arc::clone(failure)));
            }
        }
        self.freed = true;
    }
    /// The transaction ended; the coordinator's answer may bring another identity, under which numbers start at 0 (T-2).
    pub fn end_transaction(&mut self, identity: Option<Identity>) {
        self.accumulator.end(&Arc::new(Failure::Aborted), true);
        self.transaction = Transaction { number: self.transaction.number, ..Transaction::default() };
        if let Some(identity) = identity {
            self.identity = IdentityState::Known(identity);
        }
        self.lanes.iter_mut().for_each(|lane| lane.needs_reset = false);
    }
}
