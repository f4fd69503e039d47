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
    /// Moves it on. Beyond a hundred years in all it stays where it is.
    pub(super) fn advance(&self, by: Duration) -> Result<(), TooFar> {
        let by_ms = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        let moved = |ahead: u64| ahead.checked_add(by_ms).filter(|ahead| *ahead <= MOST_AHEAD_MS);
        let result = self.ahead.fetch_update(Ordering::Relaxed, Ordering::Relaxed, moved);
        result.map(drop).map_err(|ahead| TooFar { by, left: Duration::from_millis(MOST_AHEAD_MS - ahead) })
    }
    /// Whether it could be moved on so far at once.
    pub(super) fn check(by: Duration) -> Result<(), TooFar> {
        let most = Duration::from_millis(MOST_AHEAD_MS);
        if by <= most { Ok(()) } else { Err(TooFar { by, left: most }) }
    }
    fn ahead(&self) -> Duration {
        Duration::from_millis(self.ahead.load(Ordering::Relaxed))
    }
}

/// Why time does not move on so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("time cannot move on by {by:?}: it may be a hundred years ahead in all, of which {left:?} are left")]
pub(crate) struct TooFar {
    by: Duration,
    left: Duration,
}

/// How far time may be ahead in all, a hundred years: beyond what timestamps can tell, timers would never be in the future.
const MOST_AHEAD_MS: u64 = 100 * 365 * 86_400_000;
/// No timer waits longer than that at once.
const A_YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    // It was added up without a bound: two moves by half of all there is brought it back to the start, and timers never ran out.
    #[tokio::test]
    async fn time_is_never_moved_on_so_far_that_it_goes_back() {
        let clock = Clock::start();
        let half = Duration::from_millis(1 << 63);
        assert!(clock.advance(half).is_err() && clock.advance(half).is_err() && clock.advance(Duration::MAX).is_err());
        let year = Duration::from_secs(365 * 86_400);
        assert_eq!(clock.advance(year * 99), Ok(()));
        let refused = clock.advance(year * 2).map_err(|error| error.to_string());
        let words =
            "time cannot move on by 63072000s: it may be a hundred years ahead in all, of which 31536000s are left";
        assert_eq!(refused, Err(words.to_owned()));
        assert_eq!(clock.advance(year), Ok(()));
        assert!(clock.now().as_millis() > 100 * 365 * 86_400_000);
    }
}
