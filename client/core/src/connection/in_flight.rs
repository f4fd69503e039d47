//! Requests that wait for their answers, in order.

use super::Broken;
use millstream_protocol::ApiKey;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A request on one connection. Never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(u64);

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) id: RequestId,
    pub(super) api: ApiKey,
    pub(super) version: i16,
    pub(super) correlation: i32,
    pub(super) deadline: Instant,
    pub(super) written: bool,
    /// Bytes of the request.
    pub(super) bytes: usize,
}

#[derive(Debug, Default)]
pub(super) struct InFlight {
    waiting: VecDeque<Waiting>,
    next: u64,
}

impl InFlight {
    pub(super) const fn next_id(&mut self) -> RequestId {
        self.next += 1;
        RequestId(self.next)
    }
    pub(super) fn push(&mut self, waiting: Waiting) {
        self.waiting.push_back(waiting);
    }
    /// The request that this answer belongs to: the oldest, or the other side is not a Kafka broker.
    pub(super) fn pop(&mut self, correlation: i32) -> Result<Waiting, Broken> {
        let Some(waiting) = self.waiting.pop_front() else {
            return Err(Broken::malformed(format_args!("an answer (correlation id {correlation}) to no request")));
        };
        if waiting.correlation != correlation {
            let expected = waiting.correlation;
            return Err(Broken::malformed(format_args!("correlation id {correlation} where {expected} was due")));
        }
        Ok(waiting)
    }
    /// All but the last `unwritten` requests have been handed to the socket.
    pub(super) fn mark_written(&mut self, unwritten: usize) {
        let written = self.waiting.len().saturating_sub(unwritten);
        self.waiting
            .iter_mut()
            .take(written)
            .rev()
            .take_while(|each| !each.written)
            .for_each(|each| each.written = true);
    }
    pub(super) fn postpone_unwritten(&mut self, by: Duration) {
        self.waiting.iter_mut().rev().take_while(|each| !each.written).for_each(|each| each.deadline += by);
    }
    pub(super) fn overdue(&self, now: Instant) -> Option<&Waiting> {
        self.waiting.iter().find(|each| each.deadline <= now)
    }
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.waiting.iter().map(|each| each.deadline).min()
    }
    pub(super) fn contains(&self, correlation: i32) -> bool {
        self.waiting.iter().any(|each| each.correlation == correlation)
    }
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
