//! How long to wait before the next try: exponential, with ±20 % jitter, so that clients do not come back in step (KIP-580).
//!
//! Chance is the caller's: it owns the seed.

use std::time::Duration;

/// A small seeded generator (SplitMix64). Good enough to spread waiting times, not for secrets.
///
/// ```
/// use millstream_client_core::backoff::Random;
/// assert_eq!(Random::new(7).next_u64(), Random::new(7).next_u64());
/// ```
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Starts from a seed: the same seed, the same numbers.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }
    /// The next number, uniform.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
    /// An index below `count`; zero when there is nothing to choose from.
    pub fn below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let index = if count == 0 { 0 } else { self.next_u64() % count };
        usize::try_from(index).unwrap_or(0)
    }
    /// `duration`, 20 % more or less.
    pub fn jitter(&mut self, duration: Duration) -> Duration {
        let thousandths = 800 + u32::try_from(self.next_u64() % 401).unwrap_or(200);
        duration.saturating_mul(thousandths) / 1000
    }
}

/// Waiting times that double from `initial` to `maximum`.
///
/// ```
/// use millstream_client_core::backoff::{Backoff, Random};
/// use std::time::Duration;
/// let mut random = Random::new(1);
/// let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
/// assert!(backoff.next(&mut random) <= Duration::from_millis(120));
/// assert!(backoff.next(&mut random) >= Duration::from_millis(160));
/// ```
#[derive(Debug, Clone)]
pub struct Backoff {
    initial: Duration,
    maximum: Duration,
    failures: u32,
}

impl Backoff {
    /// No failure yet.
    #[must_use]
    pub const fn new(initial: Duration, maximum: Duration) -> Self {
        Self { initial, maximum, failures: 0 }
    }
    /// Counts a failure and says how long to wait.
    pub fn next(&mut self, random: &mut Random) -> Duration {
        let wait = self.initial.saturating_mul(1_u32.checked_shl(self.failures).unwrap_or(u32::MAX)).min(self.maximum);
        self.failures = self.failures.saturating_add(1).min(31);
        random.jitter(wait)
    }
    /// It worked: the next failure starts from the beginning.
    pub const fn reset(&mut self) {
        self.failures = 0;
    }
    /// How many failures in a row.
    #[must_use]
    pub const fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_maximum_within_a_fifth() {
        let mut random = Random::new(42);
        let mut backoff = Backoff::new(Duration::from_millis(50), Duration::from_millis(1000));
        for expected in [50_u64, 100, 200, 400, 800, 1000, 1000] {
            let wait = backoff.next(&mut random);
            assert!(wait >= Duration::from_millis(expected * 8 / 10), "{wait:?} for {expected}");
            assert!(wait <= Duration::from_millis(expected * 12 / 10), "{wait:?} for {expected}");
        }
        backoff.reset();
        assert!(backoff.next(&mut random) <= Duration::from_millis(60));
    }

    #[test]
    fn many_failures_do_not_overflow() {
        let mut random = Random::new(1);
        let mut backoff = Backoff::new(Duration::from_millis(1), Duration::from_secs(10));
        for _ in 0..100 {
            assert!(backoff.next(&mut random) <= Duration::from_secs(12));
        }
        assert_eq!(backoff.failures(), 31);
    }
}
