//! The record that a task has in hand.

use millstream_protocol::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// The record that a task has in hand, known to all its stores: a number that is odd while there is one. Cloning gives another
/// handle to the same.
///
/// Starting and ending a record is one store to memory, however many stores the task has: a store learns of a new record when it
/// is next written to.
#[derive(Debug, Clone, Default)]
pub struct RecordScope(Arc<Scope>);
#[derive(Debug, Default)]
struct Scope {
    serial: AtomicU64,
    time: AtomicI64,
}

impl RecordScope {
    /// Of a task that has no record in hand.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Takes a record (or a punctuation) in hand. `time` is what writes to key-value stores bear in the changelog.
    pub fn begin_record(&self, time: Timestamp) {
        self.set_time(time);
        self.0.serial.store((self.serial() + 1) | 1, Ordering::Release);
    }
    /// The record is done: what it wrote is part of the epoch.
    pub fn end_record(&self) {
        self.0.serial.store((self.serial() + 1) & !1, Ordering::Release);
    }
    /// The time of what is being processed.
    #[must_use]
    pub fn time(&self) -> Timestamp {
        Timestamp::from_millis(self.0.time.load(Ordering::Relaxed))
    }
    /// Changes the time of what is being processed.
    pub fn set_time(&self, time: Timestamp) {
        self.0.time.store(time.as_millis(), Ordering::Relaxed);
    }

    /// The number of the record in hand.
    pub(super) fn open_record(&self) -> Option<u64> {
        Some(self.serial()).filter(|serial| serial & 1 == 1)
    }
    fn serial(&self) -> u64 {
        self.0.serial.load(Ordering::Acquire)
    }
}
