//! The driver's side of a producer: which batches go now, in which order, and what the answers mean.

mod call;
mod lane;
mod response;
mod transaction;

pub use call::ProduceCall;

use super::accumulator::Note;
use super::batch::Batch;
use super::{Accumulator, Failure, Sealing};
use crate::backoff::{Backoff, Random};
use crate::cluster::{Broker, Image, LeaderHint};
use call::Entry;
use lane::{Lane, Next};
use millstream_protocol::hash::{HashMap, HashSet};
use millstream_protocol::record::Stamp;
use millstream_protocol::{NodeId, ProducerEpoch, ProducerId, TopicName, TopicPartition};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use transaction::Transaction;

/// How batches are sent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SenderOptions {
    /// −1 all, 1 the leader, 0 nobody (`acks`).
    pub acks: i16,
    /// Whether batches are numbered (`enable.idempotence`).
    pub idempotent: bool,
    /// The transactional id, if there is one.
    pub transactional_id: Option<String>,
    /// How long an open batch waits for company (`linger.ms`).
    pub linger: Duration,
    /// How many requests may be under way to one broker; at most five keep the order (P-2).
    pub max_in_flight: usize,
    /// How long the broker may wait for its replicas (`request.timeout.ms`).
    pub request_timeout: Duration,
    /// From the append to success or failure (`delivery.timeout.ms`).
    pub delivery_timeout: Duration,
    /// How much one request may carry, in bytes; one batch may be more.
    pub max_request_bytes: usize,
    /// The first wait after a failure (`retry.backoff.ms`).
    pub retry_backoff: Duration,
    /// The longest (`retry.backoff.max.ms`).
    pub retry_backoff_max: Duration,
}

impl Default for SenderOptions {
    fn default() -> Self {
        Self {
            acks: -1,
            idempotent: true,
            transactional_id: None,
            linger: Duration::from_millis(5),
            max_in_flight: 5,
            request_timeout: Duration::from_secs(30),
            delivery_timeout: Duration::from_secs(120),
            max_request_bytes: 8 << 20,
            retry_backoff: Duration::from_millis(100),
            retry_backoff_max: Duration::from_secs(1),
        }
    }
}

/// Who a producer is to the brokers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// Its id.
    pub id: ProducerId,
    /// How often the id was taken over, or started anew.
    pub epoch: ProducerEpoch,
}

impl Identity {
    /// An id at an epoch.
    #[must_use]
    pub const fn new(id: ProducerId, epoch: ProducerEpoch) -> Self {
        Self { id, epoch }
    }
    /// The next epoch, which a producer outside transactions may give itself (KIP-360); none when the epochs are used up.
    #[must_use]
    pub fn bumped(self) -> Option<Self> {
        let epoch = self.epoch.get().checked_add(1).filter(|epoch| *epoch < i16::MAX)?;
        Some(Self { epoch: ProducerEpoch::new(epoch), ..self })
    }
}

// Unneeded: batches are not numbered.   Wanted ── poll_identity ──▶ Asked ── handle_identity ──▶ Known ── bump ──▶ Known | Wanted
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdentityState {
    Unneeded,
    Wanted,
    Asked,
    Known(Identity),
}

/// Of a batch under way: which lane it belongs to and its ticket there.
type Place = (usize, u64);

/// The driver's side of a producer.
#[derive(Debug)]
pub struct Sender {
    options: SenderOptions,
    accumulator: Arc<Accumulator>,
    random: Random,
    identity: IdentityState,
    lanes: Vec<Lane>,
    /// Lanes that may have something to do, in the order of their turns.
    active: BTreeSet<usize>,
    turn: usize,
    under_way: HashMap<u64, UnderWay>,
    per_broker: HashMap<NodeId, usize>,
    next_call: u64,
    next_ticket: u64,
    transaction: Transaction,
    notes: Vec<Note>,
    /// What the shell is to tell the cluster's picture.
    wants_metadata: bool,
    hints: Vec<LeaderHint>,
    hinted_brokers: Vec<Broker>,
    first_failure: Option<(TopicPartition, Arc<Failure>)>,
    freed: bool,
    polled: Option<Instant>,
    to_seal: Vec<Sealing>,
}

#[derive(Debug)]
struct UnderWay {
    node: NodeId,
    /// The picture of the cluster by which it was sent.
    picture: u64,
    places: Vec<Place>,
    topic_ids: HashMap<TopicName, millstream_protocol::messages::Uuid>,
}

impl Sender {
    /// A sender of what the accumulator collects.
    #[must_use]
    pub fn new(options: SenderOptions, accumulator: Arc<Accumulator>, random: Random) -> Self {
        let wanted = options.idempotent && options.transactional_id.is_none();
        let identity = if wanted { IdentityState::Wanted } else { IdentityState::Unneeded };
        Self {
            options,
            accumulator,
            random,
            identity,
            lanes: Vec::new(),
            active: BTreeSet::new(),
            turn: 0,
            under_way: HashMap::default(),
            per_broker: HashMap::default(),
            next_call: 0,
            next_ticket: 0,
            transaction: Transaction::default(),
            notes: Vec::new(),
            wants_metadata: false,
            hints: Vec::new(),
            hinted_brokers: Vec::new(),
            first_failure: None,
            freed: false,
            polled: None,
            to_seal: Vec::new(),
        }
    }

    // --- identity

    /// Whether the shell is to ask for a producer id now; it must answer with [`handle_identity`](Self::handle_identity).
    pub fn poll_identity(&mut self) -> bool {
        // Whoever knows a topic is about to write to it.
        let is_used = || !self.active.is_empty() || self.accumulator.has_topics();
        let wanted = self.identity == IdentityState::Wanted && is_used();
        if wanted {
            self.identity = IdentityState::Asked;
        }
        wanted
    }
    /// A producer id, or none when asking failed and should be repeated.
    pub fn handle_identity(&mut self, identity: Option<Identity>) {
        self.identity = identity.map_or(IdentityState::Wanted, IdentityState::Known);
    }
    /// Who this producer is, if it is known.
    #[must_use]
    pub const fn identity(&self) -> Option<Identity> {
        match self.identity {
            IdentityState::Known(identity) => Some(identity),
            _ => None,
        }
    }

    // --- sending

    /// Requests that can go now: at most one per broker and call; ask again until there are none.
    pub fn poll_calls(&mut self, now: Instant, image: &Image) -> Vec<ProduceCall> {
        self.polled = Some(now);
        self.take_notes();
        self.expire(now);
        if matches!(self.identity, IdentityState::Wanted | IdentityState::Asked) {
            return Vec::new();
        }
        let mut building: HashMap<NodeId, Building> = HashMap::default();
        for index in self.turn_order() {
            self.offer(now, image, index, &mut building);
        }
        building.into_iter().map(|(node, building)| self.call(node, building, image)).collect()
    }
    /// Batches whose linger is over and that are too much to compress in passing. Each is to be [run](Sealing::run) beside the driver, which hears of it then.
    pub fn take_to_seal(&mut self) -> Vec<Sealing> {
        std::mem::take(&mut self.to_seal)
    }
    /// When [`poll_calls`](Self::poll_calls) should be asked again if nothing else happens.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Instant> {
        let lanes = self.active.iter().filter_map(|index| self.lanes.get(*index));
        // What is past by now was looked at, and waits for something else than the time.
        lanes
            .flat_map(|lane| lane.deadlines(&self.options))
            .filter(|at| self.polled.is_none_or(|polled| *at > polled))
            .min()
    }
    /// Whether anything is not resolved yet.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.active.is_empty() && self.under_way.is_empty()
    }
    /// How many requests are under way.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }
    /// Whether metadata should be refreshed.
    pub const fn take_wants_metadata(&mut self) -> bool {
        std::mem::replace(&mut self.wants_metadata, false)
    }
    /// Leaders that answers named.
    pub fn take_hints(&mut self) -> (Vec<LeaderHint>, Vec<Broker>) {
        (std::mem::take(&mut self.hints), std::mem::take(&mut self.hinted_brokers))
    }
    /// Whether memory was given back since this was last asked.
    pub const fn take_freed(&mut self) -> bool {
        std::mem::replace(&mut self.freed, false)
    }
    /// The first failure of a batch since this was last asked.
    pub const fn take_first_failure(&mut self) -> Option<(TopicPartition, Arc<Failure>)> {
        self.first_failure.take()
    }
    /// Everything that waits or is under way fails; the producer is of no more use.
    pub fn fail_all(&mut self, failure: &Arc<Failure>) {
        self.take_notes();
        self.transaction.handle_failed_batch();
        // What was never drained fails as well, and whoever flushes is to hear of it.
        let waiting = self.accumulator.close(failure, true);
        if self.first_failure.is_none() {
            self.first_failure = waiting.map(|partition| (partition, Arc::clone(failure)));
        }
        for index in 0..self.lanes.len() {
            let batches = self.lanes[index].drain();
            batches.into_iter().for_each(|batch| self.finish(&batch, Err(Arc::clone(failure))));
        }
        self.active.clear();
        self.under_way.clear();
        self.freed = true;
    }

    fn take_notes(&mut self) {
        let mut notes = std::mem::take(&mut self.notes);
        self.accumulator.take_notes(&mut notes);
        for note in notes.drain(..) {
            let (Note::Opened(index, _) | Note::Ready(index)) = note;
            self.lane_at(index);
            self.active.insert(index);
        }
        self.notes = notes;
    }
    /// Makes the lanes of partitions that are new.
    fn lane_at(&mut self, index: usize) {
        while self.lanes.len() <= index {
            let Some(shard) = self.accumulator.shard(self.lanes.len()) else { return };
            self.lanes.push(Lane::new(shard, Backoff::new(self.options.retry_backoff, self.options.retry_backoff_max)));
        }
    }
    /// All active lanes, another one first each time, so that none starves when requests are full.
    fn turn_order(&mut self) -> Vec<usize> {
        let order: Vec<usize> = self.active.range(self.turn..).chain(self.active.range(..self.turn)).copied().collect();
        self.turn = order.get(1).copied().unwrap_or(0);
        order
    }
    fn offer(&mut self, now: Instant, image: &Image, index: usize, building: &mut HashMap<NodeId, Building>) {
        let Some(lane) = self.lanes.get_mut(index) else { return };
        if lane.is_empty() {
            self.active.remove(&index);
            return;
        }
        if lane.needs_reset && lane.in_flight == 0 {
            self.reset(index);
        }
        let Some(node) = self.leader(now, image, index) else { return };
        if self.per_broker.get(&node).copied().unwrap_or(0) >= self.options.max_in_flight {
            return;
        }
        let room = building
            .get(&node)
            .map_or(usize::MAX, |building| self.options.max_request_bytes.saturating_sub(building.bytes));
        let Some(ticket) = self.pick(now, index, room) else { return };
        let lane = &mut self.lanes[index];
        lane.node = Some(node);
        let (records, bytes) = lane.dispatch(ticket, self.options.transactional_id.is_some());
        self.transaction.handle_dispatched();
        let building = building.entry(node).or_default();
        building.bytes += bytes;
        building.entries.push(Entry { partition: lane.shard.partition().clone(), records });
        building.places.push((index, ticket));
    }
    /// Where a lane's batches go now. What is under way to an old leader comes back first (P-7). A node that is no leader gets nothing
    /// again before there is news of the cluster, which was asked for when it said so.
    fn leader(&mut self, now: Instant, image: &Image, index: usize) -> Option<NodeId> {
        let lane = self.lanes.get(index)?;
        if !lane.has_work(now, &self.options, self.accumulator.is_starving()) {
            return None;
        }
        let Some((node, _)) = image.leader(lane.shard.partition()) else {
            self.wants_metadata = true;
            return None;
        };
        let is_free = lane.in_flight == 0 || lane.node == Some(node);
        (is_free && !lane.is_denied(node, image.generation)).then_some(node)
    }
    /// Chooses a lane's next batch and numbers it if it is new.
    fn pick(&mut self, now: Instant, index: usize, room: usize) -> Option<u64> {
        let lane = self.lanes.get_mut(index)?;
        match lane.next(now) {
            Next::Wait => None,
            Next::Retry(ticket, bytes) => (bytes <= room).then_some(ticket),
            Next::Fresh => {
                if !self.transaction.admits(index) {
                    return None;
                }
                self.fresh(now, index, room)
            }
        }
    }
    fn fresh(&mut self, now: Instant, index: usize, room: usize) -> Option<u64> {
        let identity = self.identity();
        let lane = self.lanes.get_mut(index)?;
        if !lane.adopt(identity) {
            return None;
        }
        let shard = Arc::clone(&lane.shard);
        let at_once = self.accumulator.is_starving();
        if let Some(closed) = shard.close_due(now, self.options.linger, at_once) {
            if self.accumulator.codec().is_work(closed.size()) {
                self.to_seal.push(Sealing::new(&self.accumulator, &shard, closed));
                return None;
            }
            self.accumulator.seal(&shard, closed);
        }
        let batch = lane.take_stashed().or_else(|| shard.take_ready())?;
        if batch.transaction != self.transaction.number() {
            // It was appended before the abort that it missed.
            self.finish(&batch, Err(Arc::new(Failure::Aborted)));
            return None;
        }
        if batch.sealed.size() > room {
            lane.stash(batch);
            return None;
        }
        self.next_ticket += 1;
        lane.push(self.next_ticket, batch);
        Some(self.next_ticket)
    }
    fn call(&mut self, node: NodeId, building: Building, image: &Image) -> ProduceCall {
        self.next_call += 1;
        *self.per_broker.entry(node).or_default() += 1;
        let names: HashSet<TopicName> = building.entries.iter().map(|entry| entry.partition.topic.clone()).collect();
        let topic_ids: HashMap<_, _> =
            names.iter().filter_map(|name| Some((name.clone(), image.topic(name.as_str())?.id?))).collect();
        let with_ids = topic_ids.len() == names.len();
        let under_way =
            UnderWay { node, picture: image.generation, places: building.places, topic_ids: topic_ids.clone() };
        self.under_way.insert(self.next_call, under_way);
        ProduceCall {
            id: self.next_call,
            node,
            acks: self.options.acks,
            transactional_id: self.options.transactional_id.clone(),
            timeout: self.options.request_timeout,
            max_version: self.transaction.max_version(self.options.transactional_id.is_some(), with_ids),
            entries: building.entries,
            topic_ids,
        }
    }

    /// What has waited for longer than the delivery timeout fails (P-8).
    fn expire(&mut self, now: Instant) {
        let late: Vec<usize> = self.active.iter().copied().collect();
        for index in late {
            let Some(lane) = self.lanes.get_mut(index) else { continue };
            let limit = self.options.delivery_timeout;
            for batch in lane.take_expired(now, limit, &self.accumulator) {
                let last = lane_error(&batch);
                let failure = Failure::Expired { in_doubt: batch.in_doubt, last };
                self.transaction.handle_failed_batch();
                self.finish(&batch, Err(Arc::new(failure)));
            }
        }
    }
    /// Starts a lane's sequence anew under the next epoch, once nothing of it is under way (P-3, KIP-360). What may have been
    /// written already cannot be numbered again: it fails, in doubt.
    fn reset(&mut self, index: usize) {
        if self.options.transactional_id.is_some() {
            self.lanes[index].needs_reset = false;
            return;
        }
        let old = self.lanes[index].identity;
        if self.identity() == old {
            self.identity = old.and_then(Identity::bumped).map_or(IdentityState::Wanted, IdentityState::Known);
        }
        let Some(identity) = self.identity() else { return };
        let doubtful = self.lanes[index].restart(identity);
        for batch in doubtful {
            let failure =
                Failure::Expired { in_doubt: true, last: Some("the broker lost track of the sequence".to_owned()) };
            self.finish(&batch, Err(Arc::new(failure)));
        }
    }
    /// Resolves a batch and gives back its memory.
    fn finish(&mut self, batch: &Batch, outcome: super::Outcome) {
        let outcome = outcome.map_err(|cause| if batch.in_doubt { Failure::doubtful(cause) } else { cause });
        if let Err(failure) = &outcome
            && self.first_failure.is_none()
        {
            self.first_failure = Some((batch.handle.partition().clone(), Arc::clone(failure)));
        }
        self.transaction.handle_outcome(batch, &outcome);
        batch.resolve(outcome);
        self.accumulator.give_back(batch.reserved);
        self.freed = true;
    }
}

/// A request that is being put together.
#[derive(Debug, Default)]
struct Building {
    entries: Vec<Entry>,
    places: Vec<Place>,
    bytes: usize,
}

fn lane_error(batch: &Batch) -> Option<String> {
    let why = batch.last_failure.as_deref().unwrap_or("no answer");
    (batch.attempts > 0).then(|| format!("{why} (try {})", batch.attempts))
}

fn stamp(identity: Option<Identity>, sequence: i32, transactional: bool) -> Stamp {
    match identity {
        None => Stamp::plain(),
        Some(identity) if transactional => Stamp::transactional(identity.id, identity.epoch, sequence),
        Some(identity) => Stamp::idempotent(identity.id, identity.epoch, sequence),
    }
}
