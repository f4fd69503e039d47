//! Calls at intervals: what a processor sees of them. The queue behind them is `task::punctuation`.

use millstream_protocol::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Which clock fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "event time or wall clock; there is no third")]
pub enum PunctuationType {
    /// Event time: on the epoch's grid, when records move it; missed ticks become one.
    StreamTime,
    /// Wall clock: from now; missed ticks become one.
    WallClockTime,
}

/// A schedule. Dropping it does not cancel it. Two are equal if they are the same schedule.
#[derive(Debug, Clone)]
pub struct Schedule(Arc<State>);

#[derive(Debug)]
struct State {
    id: u64,
    cancelled: AtomicBool,
}
impl Schedule {
    pub(crate) fn new(id: u64) -> Self {
        Self(Arc::new(State { id, cancelled: AtomicBool::new(false) }))
    }
    /// Stops it, also from within its own call.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }
    /// Takes a cancellation back: the record that made it was undone.
    pub(crate) fn revive(&self) {
        self.0.cancelled.store(false, Ordering::Relaxed);
    }
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }
    pub(crate) fn id(&self) -> u64 {
        self.0.id
    }
}
impl PartialEq for Schedule {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for Schedule {}

/// A schedule is due.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Punctuation {
    /// Which one.
    pub schedule: Schedule,
    /// The clock's time, not the time it was due.
    pub timestamp: Timestamp,
}
