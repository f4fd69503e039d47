//! Which partition records without a key go to: one for some bytes, then another (KIP-794's uniform bytes).

use crate::backoff::Random;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// After so many bytes the next partition takes over: enough for good batches, little enough to spread evenly.
const BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Sticky {
    partition: AtomicUsize,
    bytes: AtomicUsize,
    seed: AtomicU64,
}

impl Sticky {
    pub(super) fn new(seed: u64) -> Self {
        Self { partition: AtomicUsize::new(usize::MAX), bytes: AtomicUsize::new(0), seed: AtomicU64::new(seed) }
    }
    /// The partition for a record of so many bytes, among those that have a leader. Threads that race for the switch may both
    /// switch; nothing but the spread depends on it.
    pub(super) fn choose(&self, bytes: usize, count: usize, has_leader: impl Fn(usize) -> bool) -> usize {
        let current = self.partition.load(Ordering::Relaxed);
        let total = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if total < BYTES && current < count {
            return current;
        }
        self.bytes.store(bytes, Ordering::Relaxed);
        let next = self.draw(count, has_leader);
        self.partition.store(next, Ordering::Relaxed);
        next
    }

    fn draw(&self, count: usize, has_leader: impl Fn(usize) -> bool) -> usize {
        let mut random = Random::new(self.seed.fetch_add(1, Ordering::Relaxed));
        let start = random.below(count);
        let candidates = (0..count).map(|step| (start + step) % count.max(1));
        candidates.into_iter().find(|index| has_leader(*index)).unwrap_or(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_kept_for_some_bytes_and_all_get_their_share() {
        let sticky = Sticky::new(3);
        let mut counts = [0_usize; 4];
        let mut switches = 0;
        let mut before = None;
        for _ in 0..100_000 {
            let partition = sticky.choose(100, 4, |_| true);
            counts[partition] += 1;
            switches += usize::from(before.replace(partition) != Some(partition));
        }
        assert!(counts.iter().all(|count| *count > 15_000), "{counts:?}");
        assert!(switches < 200, "{switches}");
    }

    #[test]
    fn partitions_without_a_leader_are_passed_over_while_others_have_one() {
        let sticky = Sticky::new(1);
        assert!((0..100).all(|_| sticky.choose(BYTES, 3, |index| index == 1) == 1));
        assert!((0..100).all(|_| sticky.choose(BYTES, 3, |_| false) < 3));
    }
}
