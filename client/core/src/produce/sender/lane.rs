//! One partition's batches on their way: numbered in order, retried in order.

use super::super::Shard;
use super::super::accumulator::Accumulator;
use super::super::batch::Batch;
use super::{Identity, SenderOptions, stamp};
use crate::backoff::{Backoff, Random};
use millstream_protocol::messages::RecordData;
use millstream_protocol::record::sequence_after;
use millstream_protocol::{NodeId, ProducerId};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a lane wants to send next.
pub(super) enum Next {
    /// Nothing: what comes next waits for an answer or for a pause.
    Wait,
    /// This batch again, of so many bytes.
    Retry(u64, usize),
    /// Something new, if there is.
    Fresh,
}

/// One partition's batches on their way.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) shard: Arc<Shard>,
    /// Numbered and not yet acknowledged, in the order of their numbers.
    outstanding: VecDeque<Outstanding>,
    /// Closed and not yet numbered: taken from the shard when a request had no room.
    stashed: VecDeque<Batch>,
    pub(super) in_flight: usize,
    /// Where what is in flight went.
    pub(super) node: Option<NodeId>,
    pub(super) identity: Option<Identity>,
    next_sequence: i32,
    /// The producer id under which the broker has acknowledged something.
    confirmed: Option<ProducerId>,
    pub(super) needs_reset: bool,
    /// Who said that it does not lead the partition, and in which of the cluster's pictures it was the leader.
    denied: Option<(NodeId, u64)>,
    backoff: Backoff,
    paused_until: Option<Instant>,
}

// Fresh ── dispatch ──▶ InFlight ── retriable failure ──▶ Waiting ── dispatch ──▶ InFlight
//                          └── acknowledged, or failed for good ──▶ gone
#[derive(Debug)]
struct Outstanding {
    ticket: u64,
    sequence: i32,
    in_flight: bool,
    /// In flight behind one that is to go again: it comes back out of order, most likely.
    is_doomed: bool,
    batch: Batch,
}

impl Outstanding {
    const fn new(ticket: u64, sequence: i32, batch: Batch) -> Self {
        Self { ticket, sequence, in_flight: false, is_doomed: false, batch }
    }
}

impl Lane {
    pub(super) fn new(shard: Arc<Shard>, backoff: Backoff) -> Self {
        Self {
            shard,
            outstanding: VecDeque::new(),
            stashed: VecDeque::new(),
            in_flight: 0,
            node: None,
            identity: None,
            next_sequence: 0,
            confirmed: None,
            needs_reset: false,
            denied: None,
            backoff,
            paused_until: None,
        }
    }
    /// Whether there is nothing here nor in the shard.
    pub(super) fn is_empty(&self) -> bool {
        self.outstanding.is_empty() && self.stashed.is_empty() && self.shard.is_empty()
    }
    /// Whether something could go now.
    pub(super) fn has_work(&self, now: Instant, options: &SenderOptions, at_once: bool) -> bool {
        if self.paused_until.is_some_and(|until| until > now) {
            return false;
        }
        if !self.outstanding.is_empty() && self.outstanding.iter().any(|each| !each.in_flight) {
            return true;
        }
        !self.stashed.is_empty() || self.shard.has_ready() || self.shard.is_due(now, options.linger, at_once)
    }
    /// While anything waits to be sent again, only the oldest that is not acknowledged may go: what follows it would be out of
    /// order (P-2).
    pub(super) fn next(&self, now: Instant) -> Next {
        if self.needs_reset || self.paused_until.is_some_and(|until| until > now) {
            return Next::Wait;
        }
        match self.outstanding.front() {
            Some(first) if !first.in_flight => Next::Retry(first.ticket, first.batch.sealed.size()),
            // So would anything new behind what comes back, and what is behind that, and so on.
            Some(_) if self.outstanding.iter().any(|each| !each.in_flight || each.is_doomed) => Next::Wait,
            // A broker that has never heard of this producer takes any number for its first: until it has taken ours, nothing
            // may overtake it.
            Some(_) if self.confirmed != self.identity.map(|identity| identity.id) => Next::Wait,
            _ => Next::Fresh,
        }
    }
    /// Takes the producer's identity when nothing numbered under another is left. Whether new batches may be numbered.
    pub(super) fn adopt(&mut self, identity: Option<Identity>) -> bool {
        if self.identity == identity {
            return true;
        }
        if !self.outstanding.is_empty() {
            return false;
        }
        self.identity = identity;
        self.next_sequence = 0;
        true
    }
    /// Numbers a batch (P-1).
    pub(super) fn push(&mut self, ticket: u64, batch: Batch) {
        let sequence = self.next_sequence;
        self.next_sequence = sequence_after(sequence, signed(batch.count()));
        self.outstanding.push_back(Outstanding::new(ticket, sequence, batch));
    }
    /// The bytes of a batch that goes now.
    pub(super) fn dispatch(&mut self, ticket: u64, transactional: bool) -> (RecordData, usize) {
        let identity = self.identity;
        let Some(each) = self.outstanding.iter_mut().find(|each| each.ticket == ticket) else {
            return (RecordData::NULL, 0);
        };
        each.in_flight = true;
        each.batch.attempts += 1;
        self.in_flight += 1;
        (each.batch.sealed.stamp(&stamp(identity, each.sequence, transactional)), each.batch.sealed.size())
    }
    /// An answer came: the batch is no longer in flight. None if it is not known any more.
    pub(super) fn land(&mut self, ticket: u64) -> Option<&mut Batch> {
        let each = self.outstanding.iter_mut().find(|each| each.ticket == ticket && each.in_flight)?;
        (each.in_flight, each.is_doomed) = (false, false);
        self.in_flight -= 1;
        Some(&mut each.batch)
    }
    /// It is to go again: nothing new follows what is in flight behind it.
    pub(super) fn doom_behind(&mut self, ticket: u64) {
        let behind = self.outstanding.iter_mut().skip_while(|each| each.ticket != ticket).skip(1);
        behind.for_each(|each| each.is_doomed = each.in_flight);
    }
    /// Whether it is the oldest that is not acknowledged.
    pub(super) fn is_first(&self, ticket: u64) -> bool {
        self.outstanding.front().is_some_and(|first| first.ticket == ticket)
    }
    /// Whether a try of it may have been written.
    pub(super) fn doubts(&self, ticket: u64) -> bool {
        self.outstanding.iter().any(|each| each.ticket == ticket && each.batch.in_doubt)
    }
    /// Takes a batch out for good.
    pub(super) fn remove(&mut self, ticket: u64) -> Option<Batch> {
        let position = self.outstanding.iter().position(|each| each.ticket == ticket)?;
        self.outstanding.remove(position).map(|each| each.batch)
    }
    /// Replaces a batch by its two halves, which share its numbers (P-6).
    pub(super) fn replace(&mut self, ticket: u64, (left, right): (Batch, Batch), tickets: (u64, u64)) -> Option<Batch> {
        let position = self.outstanding.iter().position(|each| each.ticket == ticket)?;
        let old = self.outstanding.remove(position)?;
        let middle = sequence_after(old.sequence, signed(left.count()));
        self.outstanding.insert(position, Outstanding::new(tickets.1, middle, right));
        self.outstanding.insert(position, Outstanding::new(tickets.0, old.sequence, left));
        Some(old.batch)
    }
    /// Waits before the next try.
    pub(super) fn pause(&mut self, now: Instant, random: &mut Random) {
        self.paused_until = Some(now + self.backoff.next(random));
    }
    /// A node that was the leader in this picture of the cluster says that it is not.
    pub(super) const fn deny(&mut self, node: NodeId, picture: u64) {
        self.denied = Some((node, picture));
    }
    /// Whether a node has said that it is not the leader, and nobody has said anything since.
    pub(super) fn is_denied(&self, node: NodeId, picture: u64) -> bool {
        self.denied.is_some_and(|(denied, seen)| denied == node && seen >= picture)
    }
    /// Something was acknowledged: the next failure waits little again.
    pub(super) fn progress(&mut self) {
        self.confirmed = self.identity.map(|identity| identity.id);
        self.backoff.reset();
        self.paused_until = None;
    }
    /// Numbers everything anew from 0. Returns what must not be numbered again, since it may have been written.
    pub(super) fn restart(&mut self, identity: Identity) -> Vec<Batch> {
        self.needs_reset = false;
        self.identity = Some(identity);
        self.next_sequence = 0;
        let mut doubtful = Vec::new();
        for mut each in std::mem::take(&mut self.outstanding) {
            if each.batch.in_doubt {
                doubtful.push(each.batch);
                continue;
            }
            each.sequence = self.next_sequence;
            each.batch.resets += 1;
            self.next_sequence = sequence_after(each.sequence, signed(each.batch.count()));
            self.outstanding.push_back(each);
        }
        doubtful
    }
    /// Everything that is here and not in the shard. What is in flight may be written.
    pub(super) fn drain(&mut self) -> Vec<Batch> {
        self.in_flight = 0;
        let outstanding = self.outstanding.drain(..).map(|mut each| {
            each.batch.in_doubt |= each.in_flight;
            each.batch
        });
        outstanding.chain(self.stashed.drain(..)).collect()
    }
    /// Everything that is here and not in flight.
    pub(super) fn drain_waiting(&mut self) -> Vec<Batch> {
        let (flying, waiting): (VecDeque<_>, Vec<_>) = {
            let mut flying = VecDeque::new();
            let mut waiting = Vec::new();
            for each in self.outstanding.drain(..) {
                if each.in_flight { flying.push_back(each) } else { waiting.push(each.batch) }
            }
            (flying, waiting)
        };
        self.outstanding = flying;
        waiting.into_iter().chain(self.stashed.drain(..)).collect()
    }
    pub(super) fn stash(&mut self, batch: Batch) {
        self.stashed.push_front(batch);
    }
    pub(super) fn take_stashed(&mut self) -> Option<Batch> {
        self.stashed.pop_front()
    }
    /// What has waited for longer than `limit` and is not in flight. A gap in the numbers wants a new epoch.
    pub(super) fn take_expired(&mut self, now: Instant, limit: Duration, accumulator: &Accumulator) -> Vec<Batch> {
        let is_late = |created: Instant| now.saturating_duration_since(created) >= limit;
        let mut expired = Vec::new();
        let mut position = 0;
        while let Some(each) = self.outstanding.get(position) {
            if !each.in_flight && is_late(each.batch.created) {
                expired.extend(self.outstanding.remove(position).map(|each| each.batch));
                self.needs_reset |= self.identity.is_some();
            } else {
                position += 1;
            }
        }
        while self.stashed.front().is_some_and(|batch| is_late(batch.created)) {
            expired.extend(self.stashed.pop_front());
        }
        while self.stashed.is_empty() && self.shard.oldest().is_some_and(is_late) {
            if let Some(closed) = self.shard.close_due(now, Duration::ZERO, true) {
                accumulator.seal(&self.shard, closed);
            }
            let Some(batch) = self.shard.take_ready() else { break };
            expired.push(batch);
        }
        expired
    }
    /// When something here is due without any answer.
    pub(super) fn deadlines(&self, options: &SenderOptions) -> impl Iterator<Item = Instant> + use<> {
        let waiting = self.outstanding.iter().filter(|each| !each.in_flight).map(|each| each.batch.created);
        let stashed = self.stashed.iter().map(|batch| batch.created);
        let oldest =
            waiting.chain(stashed).chain(self.shard.oldest()).min().map(|oldest| oldest + options.delivery_timeout);
        let resumes = self.paused_until;
        let due = self.shard.due_at(options.linger);
        [oldest, resumes, due].into_iter().flatten()
    }
}

/// A count of records, which never passes an int32.
fn signed(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
