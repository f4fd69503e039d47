//! One way of one connection: bytes go in, and come out when their time has come. No clock, no socket; chance comes from a seed.

use super::LinkConditions;
use bytes::Bytes;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A generator of jitter: xorshift.
#[derive(Debug)]
pub(crate) struct Chance(u64);
impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    /// A span below `limit`.
    fn below(&mut self, limit: Duration) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let nanos = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(self.0.checked_rem(nanos).unwrap_or(0))
    }
}

/// Bytes under way.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    queue: VecDeque<(Instant, Bytes)>,
    len: usize,
    /// When the last byte that was sent has left.
    free_at: Option<Instant>,
}

impl Pipe {
    /// Sends bytes.
    pub(crate) fn push(&mut self, now: Instant, bytes: Bytes, link: &LinkConditions, chance: &mut Chance) {
        let free_at = self.free_at.unwrap_or(now).max(now) + transmission(bytes.len(), link.bytes_per_second);
        self.free_at = Some(free_at);
        let due = free_at + link.latency + chance.below(link.jitter);
        let in_order = self.queue.back().map_or(due, |(last, _)| due.max(*last));
        self.len += bytes.len();
        self.queue.push_back((in_order, bytes));
    }
    /// Takes what has arrived: one piece, no longer than `limit`.
    pub(crate) fn pop(&mut self, now: Instant, limit: usize) -> Option<Bytes> {
        let (due, front) = self.queue.front_mut()?;
        if *due > now {
            return None;
        }
        let piece = front.split_to(front.len().min(limit.max(1)));
        if front.is_empty() {
            self.queue.pop_front();
        }
        self.len -= piece.len();
        Some(piece)
    }
    /// When the next bytes arrive.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.queue.front().map(|(due, _)| *due)
    }
    /// How many bytes are under way.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}
fn transmission(len: usize, bytes_per_second: Option<u64>) -> Duration {
    let Some(rate) = bytes_per_second else { return Duration::ZERO };
    let nanos = u64::try_from(len).unwrap_or(u64::MAX).saturating_mul(1_000_000_000).checked_div(rate);
    nanos.map_or(Duration::MAX, Duration::from_nanos).min(Duration::from_secs(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn bytes_arrive_after_transmission_and_latency_in_order() {
        let now = Instant::now();
        let link = LinkConditions { latency: 10 * MS, bytes_per_second: Some(1000), ..LinkConditions::default() };
        let (mut pipe, mut chance) = (Pipe::default(), Chance::new(1));
        pipe.push(now, Bytes::from_static(b"abcde"), &link, &mut chance);
        pipe.push(now, Bytes::from_static(b"fgh"), &link, &mut chance);
        assert_eq!(pipe.deadline(), Some(now + 15 * MS));
        assert_eq!(pipe.pop(now + 14 * MS, usize::MAX), None);
        assert_eq!(pipe.pop(now + 15 * MS, 2).as_deref(), Some(&b"ab"[..]));
        assert_eq!(pipe.pop(now + 15 * MS, usize::MAX).as_deref(), Some(&b"cde"[..]));
        assert_eq!((pipe.deadline(), pipe.len()), (Some(now + 18 * MS), 3));
    }

    #[test]
    fn jitter_does_not_reorder_and_is_the_seeds() {
        let now = Instant::now();
        let link = LinkConditions { jitter: 50 * MS, ..LinkConditions::default() };
        let run = |seed| {
            let (mut pipe, mut chance) = (Pipe::default(), Chance::new(seed));
            (0..20).for_each(|at| pipe.push(now + at * MS, Bytes::from_static(b"x"), &link, &mut chance));
            pipe.queue.iter().map(|(due, _)| *due).collect::<Vec<_>>()
        };
        assert!(run(7).is_sorted());
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
    }
}
