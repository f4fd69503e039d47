//! The numbers of a process's commits.

use millstream_state::CommitId;
use std::sync::atomic::{AtomicU64, Ordering};

/// Gives each commit of a process a number greater than every one that this life has tried and every committed one it has seen.
///
/// The number of an aborted commit is never given again: its prepared batch may still lie in a journal, and recovery would
/// take it for that of the later commit. All lanes share one, since a task may change lanes between assignments.
#[derive(Debug)]
pub struct CommitNumbers {
    life: u64,
    last: AtomicU64,
}

impl CommitNumbers {
    /// The numbers of one life: one process start. `life` is random, and not 0.
    #[must_use]
    pub const fn new(life: u64) -> Self {
        Self { life, last: AtomicU64::new(0) }
    }

    /// The next commit's id.
    pub fn next(&self) -> CommitId {
        CommitId::new(self.last.fetch_add(1, Ordering::Relaxed) + 1, self.life)
    }

    /// Lets every later number be above this one: a committed one that was read.
    pub fn raise(&self, committed: CommitId) {
        self.last.fetch_max(committed.number(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_is_above_every_one_given_or_read() {
        let numbers = CommitNumbers::new(77);
        assert_eq!(numbers.next(), CommitId::new(1, 77));
        numbers.raise(CommitId::new(41, 5));
        assert_eq!(numbers.next(), CommitId::new(42, 77));
        numbers.raise(CommitId::new(3, 9));
        assert_eq!(numbers.next(), CommitId::new(43, 77));
    }
}
