//! The acknowledgement of a batch, which its records share.

use super::{Outcome, Written};
use millstream_protocol::hash::HashMap;
use millstream_protocol::{Offset, TopicPartition};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A batch's acknowledgement. A record knows its place in the batch and asks here.
#[derive(Debug)]
pub struct BatchHandle {
    partition: TopicPartition,
    state: Mutex<State>,
}

// Pending ── resolve(0..n) ──▶ Done;  a batch that was split comes in parts, each resolved once.
#[derive(Debug, Default)]
struct State {
    parts: Vec<(Range<u32>, Outcome)>,
    resolved: u32,
    /// How many records the batch has, once it is closed.
    count: Option<u32>,
    /// One waker per record that is waited for, and those that wait for all of it.
    records: HashMap<u32, Waker>,
    whole: Vec<Waker>,
}

impl BatchHandle {
    pub(super) fn new(partition: TopicPartition) -> Self {
        Self { partition, state: Mutex::default() }
    }
    /// The partition that the batch goes to.
    #[must_use]
    pub const fn partition(&self) -> &TopicPartition {
        &self.partition
    }
    /// A record's outcome: its own offset, and the broker's time if the log keeps that.
    pub fn poll_record(&self, cx: &mut Context<'_>, index: u32) -> Poll<Outcome> {
        let mut state = self.lock();
        match state.of(index) {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                state.records.insert(index, cx.waker().clone());
                Poll::Pending
            }
        }
    }
    /// A record's outcome, if it is known.
    #[must_use]
    pub fn record(&self, index: u32) -> Option<Outcome> {
        self.lock().of(index)
    }
    /// Ready when every record of the batch has its outcome.
    pub fn poll_all(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.is_done() {
            return Poll::Ready(());
        }
        if !state.whole.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.whole.push(cx.waker().clone());
        }
        Poll::Pending
    }
    /// Whether every record has its outcome.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.lock().is_done()
    }
    /// The offset after the batch's last record, if all of it was written and the broker told where.
    #[must_use]
    pub fn next_offset(&self) -> Option<Offset> {
        let state = self.lock();
        let last = state.count?.checked_sub(1)?;
        state.of(last)?.ok()?.base_offset.map(Offset::next)
    }
    /// The first failure among its parts.
    #[must_use]
    pub fn failure(&self) -> Option<Arc<super::Failure>> {
        self.lock().parts.iter().find_map(|(_, outcome)| outcome.as_ref().err().cloned())
    }

    pub(super) fn close(&self, count: u32) {
        self.lock().count = Some(count);
    }
    /// Gives a part its outcome and wakes who waits for it. A part that has one keeps it.
    pub(super) fn resolve(&self, part: Range<u32>, outcome: Outcome) {
        let wakers = self.lock().resolve(part, outcome);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn of(&self, index: u32) -> Option<Outcome> {
        let (part, outcome) = self.parts.iter().find(|(part, _)| part.contains(&index))?;
        let offset = |base: Offset| Offset::new(base.get() + i64::from(index - part.start));
        let own = |written: &Written| Written { base_offset: written.base_offset.map(offset), ..*written };
        Some(outcome.as_ref().map(own).map_err(Arc::clone))
    }
    fn is_done(&self) -> bool {
        self.count.is_some_and(|count| self.resolved >= count)
    }
    fn resolve(&mut self, part: Range<u32>, outcome: Outcome) -> Vec<Waker> {
        if self.parts.iter().any(|(known, _)| known.contains(&part.start)) {
            return Vec::new();
        }
        self.resolved += part.end - part.start;
        let mut wakers: Vec<Waker> = if self.is_done() && self.parts.is_empty() {
            self.records.drain().map(|(_, waker)| waker).collect()
        } else {
            self.records.extract_if(|index, _| part.contains(index)).map(|(_, waker)| waker).collect()
        };
        self.parts.push((part, outcome));
        if self.is_done() {
            wakers.append(&mut self.whole);
        }
        wakers
    }
}
