//! A partition's open batch, behind a lock that is held for the encoding of one record.

use super::batch::Batch;
use super::budget::Budget;
use super::{BatchHandle, Failure};
use millstream_protocol::record::{BatchBuilder, RecordError, SealedBatch};
use millstream_protocol::{Headers, Timestamp, TopicPartition};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Which of a producer's transactions, counted from 1; 0 is outside any.
pub type TransactionNumber = u64;

/// A record's parts, borrowed.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "the record format has these")]
pub struct RecordFields<'a> {
    /// Its key.
    pub key: Option<&'a [u8]>,
    /// Its value.
    pub value: Option<&'a [u8]>,
    /// Its headers.
    pub headers: &'a Headers,
    /// Its time.
    pub timestamp: Timestamp,
}

/// Where a record was put.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Appended {
    /// Its batch.
    pub handle: Arc<BatchHandle>,
    /// Its place in the batch.
    pub index: u32,
}

/// Why a record was not put into a batch.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AppendError {
    /// All memory is taken; another try makes sense when batches have been acknowledged.
    Full,
    /// No more records are taken, or not for this transaction.
    Closed(Arc<Failure>),
    /// A batch cannot hold it.
    Unfit(String),
}

/// What the caller has to do after an append, outside the lock.
#[derive(Debug, Default)]
pub(super) struct Aftermath {
    /// A batch was begun: its linger runs from now.
    pub(super) opened: Option<Instant>,
    /// A batch is full: seal it and hand it in.
    pub(super) full: Option<Closed>,
}

/// A batch that is closed and not yet sealed.
#[derive(Debug)]
pub(super) struct Closed {
    ticket: u64,
    count: u32,
    open: Open,
}

/// A partition as the callers see it.
#[derive(Debug)]
pub struct Shard {
    partition: TopicPartition,
    index: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    open: Option<Open>,
    /// Closed batches in order. One that is being sealed keeps its place.
    closed: VecDeque<Slot>,
    /// Batches that somebody may wait for; the resolved ones leave when the next begins.
    unresolved: VecDeque<Arc<BatchHandle>>,
    next_ticket: u64,
    last_size: usize,
}

// Open(transaction) ── end of the transaction ──▶ Closed(Aborted) ── begin ──▶ Open(next)
//        └─────────────────── close, fence ──────▶ Closed(failure)
#[derive(Debug)]
enum Phase {
    Open(TransactionNumber),
    Closed(Arc<Failure>),
}

#[derive(Debug)]
struct Open {
    builder: BatchBuilder,
    handle: Arc<BatchHandle>,
    opened: Instant,
    transaction: TransactionNumber,
    reserved: usize,
    due: bool,
}

#[derive(Debug)]
enum Slot {
    Sealing(u64),
    Ready(Batch),
}

/// What a batch takes from the budget at first; it doubles as it grows.
const FIRST_RESERVATION: usize = 16 << 10;

impl Shard {
    pub(super) fn new(partition: TopicPartition, index: usize, transaction: Option<TransactionNumber>) -> Self {
        let phase = transaction.map_or_else(|| Phase::Closed(Arc::new(Failure::Aborted)), Phase::Open);
        let (open, closed, unresolved) = (None, VecDeque::new(), VecDeque::new());
        let state = Mutex::new(State { phase, open, closed, unresolved, next_ticket: 0, last_size: 0 });
        Self { partition, index, state }
    }
    /// The partition.
    #[must_use]
    pub const fn partition(&self) -> &TopicPartition {
        &self.partition
    }
    /// Its place among the producer's partitions.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// Encodes a record into the open batch.
    pub(super) fn append(
        &self,
        record: &RecordFields<'_>,
        transaction: TransactionNumber,
        batch_size: usize,
        budget: &Budget,
        now: impl FnOnce() -> Instant,
    ) -> Result<(Result<Appended, AppendError>, Aftermath), AppendError> {
        let mut state = self.lock();
        state.check(transaction)?;
        let bound = BatchBuilder::upper_bound(record.key, record.value, record.headers);
        let mut aftermath = Aftermath::default();
        if state.open.as_ref().is_some_and(|open| open.is_full(bound, batch_size)) {
            aftermath.full = state.close_open();
        }
        let appended =
            state.append(&self.partition, record, transaction, bound, (batch_size, budget), now, &mut aftermath);
        match appended {
            Ok(appended) => Ok((Ok(appended), aftermath)),
            // The batch that was closed for this record goes its way without it.
            Err(error) if aftermath.full.is_none() => Err(error),
            Err(error) => {
                aftermath.opened = None;
                Ok((Err(error), aftermath))
            }
        }
    }
    /// Puts a sealed batch into the place that was kept for it.
    pub(super) fn hand_in(&self, closed: Closed, sealed: Result<SealedBatch, RecordError>) -> Option<usize> {
        let Closed { ticket, count, open } = closed;
        let mut state = self.lock();
        let position =
            state.closed.iter().position(|slot| matches!(slot, Slot::Sealing(waiting) if *waiting == ticket));
        match (sealed, position) {
            (Ok(sealed), Some(position)) => {
                state.closed[position] = Slot::Ready(open.into_batch(sealed));
                None
            }
            (sealed, position) => {
                if let Some(position) = position {
                    state.closed.remove(position);
                }
                drop(state);
                // Its place is gone when the transaction was aborted meanwhile.
                let failure = sealed.map_or_else(|error| Failure::Unsendable(error.to_string()), |_| Failure::Aborted);
                open.handle.resolve(0..count, Err(Arc::new(failure)));
                Some(open.reserved)
            }
        }
    }
    /// The next closed batch, in order.
    pub(super) fn take_ready(&self) -> Option<Batch> {
        let mut state = self.lock();
        match state.closed.pop_front()? {
            Slot::Ready(batch) => Some(batch),
            sealing @ Slot::Sealing(_) => {
                state.closed.push_front(sealing);
                None
            }
        }
    }
    /// Closes the open batch if it has waited long enough, somebody flushes, or `now_or_never`.
    pub(super) fn close_due(&self, now: Instant, linger: Duration, at_once: bool) -> Option<Closed> {
        let mut state = self.lock();
        let open = state.open.as_ref()?;
        if open.is_due(now, linger, at_once) && state.closed.is_empty() { state.close_open() } else { None }
    }
    /// Whether anything waits here, and since when the oldest of it.
    pub(super) fn oldest(&self) -> Option<Instant> {
        let state = self.lock();
        let closed = state.closed.iter().find_map(|slot| match slot {
            Slot::Ready(batch) => Some(batch.created),
            Slot::Sealing(_) => None,
        });
        closed.or_else(|| state.open.as_ref().map(|open| open.opened))
    }
    /// Whether the next closed batch may be taken.
    pub(super) fn has_ready(&self) -> bool {
        matches!(self.lock().closed.front(), Some(Slot::Ready(_)))
    }
    /// Whether the open batch should go.
    pub(super) fn is_due(&self, now: Instant, linger: Duration, at_once: bool) -> bool {
        let state = self.lock();
        state.closed.is_empty() && state.open.as_ref().is_some_and(|open| open.is_due(now, linger, at_once))
    }
    /// Whether nothing waits here, sealed or being sealed or open.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }
    /// When the open batch will have waited long enough; none without one, or while closed ones wait before it.
    pub(super) fn due_at(&self, linger: Duration) -> Option<Instant> {
        let state = self.lock();
        if !state.closed.is_empty() {
            return None;
        }
        state.open.as_ref().map(|open| if open.due { open.opened } else { open.opened + linger })
    }
    /// Everything here is to go now. Returns the batches that are not resolved.
    pub(super) fn mark_due(&self, into: &mut Vec<Arc<BatchHandle>>) -> bool {
        let mut state = self.lock();
        state.forget_resolved();
        into.extend(state.unresolved.iter().cloned());
        match &mut state.open {
            Some(open) => {
                open.due = true;
                true
            }
            None => !state.closed.is_empty(),
        }
    }
    /// Takes records of this transaction only, from now on.
    pub(super) fn begin(&self, transaction: TransactionNumber) {
        self.lock().phase = Phase::Open(transaction);
    }
    /// Takes no records any more. `drop_waiting`: what waits here fails too. Returns what that held of the budget;
    /// none if nothing waited or was to be dropped.
    pub(super) fn close(&self, failure: &Arc<Failure>, drop_waiting: bool) -> Option<usize> {
        let mut state = self.lock();
        state.phase = Phase::Closed(Arc::clone(failure));
        if !drop_waiting || state.is_empty() {
            return None;
        }
        let open = state.open.take();
        let closed = std::mem::take(&mut state.closed);
        drop(state);
        let mut freed = 0;
        for slot in closed {
            if let Slot::Ready(batch) = slot {
                batch.resolve(Err(Arc::clone(failure)));
                freed += batch.reserved;
            }
        }
        if let Some(open) = open {
            open.handle.close(open.count());
            open.handle.resolve(0..open.count(), Err(Arc::clone(failure)));
            freed += open.reserved;
        }
        Some(freed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn check(&self, transaction: TransactionNumber) -> Result<(), AppendError> {
        match &self.phase {
            Phase::Open(current) if *current == transaction => Ok(()),
            Phase::Open(_) => Err(AppendError::Closed(Arc::new(Failure::Aborted))),
            Phase::Closed(failure) => Err(AppendError::Closed(Arc::clone(failure))),
        }
    }
    #[expect(clippy::too_many_arguments, reason = "the parts of one append, under one lock")]
    fn append(
        &mut self,
        partition: &TopicPartition,
        record: &RecordFields<'_>,
        transaction: TransactionNumber,
        bound: usize,
        (batch_size, budget): (usize, &Budget),
        now: impl FnOnce() -> Instant,
        aftermath: &mut Aftermath,
    ) -> Result<Appended, AppendError> {
        if self.open.is_none() {
            let opened = now();
            self.forget_resolved();
            let expected = (self.last_size + self.last_size / 8).min(batch_size);
            let builder = BatchBuilder::pooled(&budget.buffers, expected);
            self.open = Some(Open::new(partition, opened, transaction, builder));
            aftermath.opened = Some(opened);
        }
        let open = self.open.as_mut().expect("a batch was opened just now if there was none");
        let appended = open.append(record, bound, batch_size, budget);
        if open.builder.is_empty() {
            // Nothing was reserved for it yet.
            self.open = None;
            aftermath.opened = None;
        } else if aftermath.opened.is_some() {
            self.unresolved.push_back(Arc::clone(&open.handle));
        }
        appended
    }
    fn is_empty(&self) -> bool {
        self.open.is_none() && self.closed.is_empty()
    }
    fn close_open(&mut self) -> Option<Closed> {
        let open = self.open.take()?;
        self.last_size = open.builder.size();
        let count = open.count();
        open.handle.close(count);
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.closed.push_back(Slot::Sealing(ticket));
        Some(Closed { ticket, count, open })
    }
    fn forget_resolved(&mut self) {
        while self.unresolved.front().is_some_and(|handle| handle.is_done()) {
            self.unresolved.pop_front();
        }
    }
}

impl Closed {
    /// How many bytes there are to compress.
    pub(super) const fn size(&self) -> usize {
        self.open.builder.size()
    }
    pub(super) fn builder(&mut self) -> BatchBuilder {
        std::mem::take(&mut self.open.builder)
    }
}

impl Open {
    fn new(partition: &TopicPartition, opened: Instant, transaction: TransactionNumber, builder: BatchBuilder) -> Self {
        let handle = Arc::new(BatchHandle::new(partition.clone()));
        Self { builder, handle, opened, transaction, reserved: 0, due: false }
    }
    fn is_due(&self, now: Instant, linger: Duration, at_once: bool) -> bool {
        at_once || self.due || now.saturating_duration_since(self.opened) >= linger
    }
    fn is_full(&self, bound: usize, batch_size: usize) -> bool {
        self.builder.size() + bound > batch_size
    }
    fn append(
        &mut self,
        record: &RecordFields<'_>,
        bound: usize,
        batch_size: usize,
        budget: &Budget,
    ) -> Result<Appended, AppendError> {
        self.reserve(self.builder.size() + bound, batch_size, budget)?;
        let place = self.builder.append(record.timestamp, record.key, record.value, record.headers);
        let place = place.map_err(|error| {
            if self.builder.is_empty() {
                budget.give_back(std::mem::take(&mut self.reserved));
            }
            AppendError::Unfit(error.to_string())
        })?;
        let index = u32::try_from(place).map_err(|_| AppendError::Unfit("too many records in one batch".to_owned()))?;
        Ok(Appended { handle: Arc::clone(&self.handle), index })
    }
    /// Takes what `needed` bytes want from the budget, and some more if there is.
    fn reserve(&mut self, needed: usize, batch_size: usize, budget: &Budget) -> Result<(), AppendError> {
        let Some(missing) = needed.checked_sub(self.reserved).filter(|missing| *missing > 0) else { return Ok(()) };
        let ample = (self.reserved * 2).max(FIRST_RESERVATION).min(batch_size).max(needed) - self.reserved;
        let taken = [ample, missing].into_iter().find(|bytes| budget.try_take(*bytes)).ok_or(AppendError::Full);
        if taken.is_err() {
            self.due = true;
        }
        self.reserved += taken?;
        Ok(())
    }
    fn into_batch(self, sealed: SealedBatch) -> Batch {
        let count = u32::try_from(sealed.count()).unwrap_or(0);
        Batch {
            sealed,
            handle: self.handle,
            part: 0..count,
            created: self.opened,
            transaction: self.transaction,
            reserved: self.reserved,
            attempts: 0,
            last_failure: None,
            in_doubt: false,
            resets: 0,
        }
    }
    fn count(&self) -> u32 {
        u32::try_from(self.builder.count()).unwrap_or(0)
    }
}
