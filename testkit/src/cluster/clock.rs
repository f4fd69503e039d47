//! The brokers' time: the system's when they started, and as much later as has gone by on tokio's clock, which a test may pause. It never
//! goes back; a test may move it on.

use millstream_protocol::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Clock {
    began: Timestamp,
    at: Instant,
    /// How far a test has moved it on, in milliseconds.
    ahead: AtomicU64,
}
impl Clock {
    pub(super) fn start() -> Self {
        Self { began: Timestamp::from(SystemTime::now()), at: Instant::now(), ahead: AtomicU64::new(0) }
    }
    pub(super) fn now(&self) -> Timestamp {
        self.began + self.at.elapsed() + self.ahead()
    }
    /// When the clock will show a time. Half a millisecond late, so that it does show it.
    pub(super) fn instant_of(&self, at: Timestamp) -> Instant {
        self.at + at.since(self.began + self.ahead()).min(A_YEAR) + Duration::from_micros(500)
    }
    /// Moves it on.
    pub(super) fn advance(&self, by: Duration) {
        self.ahead.fetch_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
    fn ahead(&self) -> Duration {
        Duration::from_millis(self.ahead.load(Ordering::Relaxed))
    }
}

/// No timer waits longer than that at once.
const A_YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
