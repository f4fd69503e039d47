//! The brokers' time: the system's when they started, and as much later as has gone by. It never goes back.

use millstream_protocol::Timestamp;
use std::time::{Instant, SystemTime};

#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    began: Timestamp,
    at: Instant,
}
impl Clock {
    pub(super) fn start() -> Self {
        Self { began: Timestamp::from(SystemTime::now()), at: Instant::now() }
    }
    pub(super) fn now(&self) -> Timestamp {
        self.began + self.at.elapsed()
    }
    /// When the clock will show a time. Half a millisecond late, so that it does show it.
    pub(super) fn instant_of(&self, at: Timestamp) -> Instant {
        self.at + at.since(self.began) + std::time::Duration::from_micros(500)
    }
}
