//! One partition.

use super::take::FetchProblem;
use super::terms::Terms;
use super::{FetchConfig, Generation, IsolationLevel, OffsetTarget, Position};
use millstream_protocol::record::Batch;
use millstream_protocol::{LeaderEpoch, NodeId, TopicPartition};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How long a replica nearby is read from before the leader is asked again.
const PREFERRED_FOR: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub(super) struct Partition {
    pub(super) id: TopicPartition,
    pub(super) generation: Generation,
    /// The life that it was added in; a seek begins another one, but the partition is the reader's since this one.
    pub(super) added_in: Generation,
    pub(super) phase: Phase,
    pub(super) paused: bool,
    /// Where the next fetch starts. Of no meaning while an offset is being looked up.
    pub(super) position: Position,
    /// Where the application stands.
    pub(super) consumed: Option<Position>,
    pub(super) items: VecDeque<Item>,
    pub(super) buffered_bytes: usize,
    pub(super) high_watermark: Option<i64>,
    pub(super) last_stable_offset: Option<i64>,
    pub(super) log_start_offset: Option<i64>,
    /// The leaders' terms of what was read up to the position.
    pub(super) terms: Terms,
    /// The leader's term that the position was last checked against.
    pub(super) checked_epoch: Option<LeaderEpoch>,
    pub(super) preferred: Option<(NodeId, Instant)>,
    /// How often in a row it was sent to a replica nearby for nothing: that refused, was silent, or nobody knows it.
    pub(super) vain_leases: u32,
    /// It was told of a replica nearby that the picture of the cluster does not have.
    pub(super) is_replica_unknown: bool,
    /// Who said that it does not lead this, and in which of the cluster's pictures it was the leader.
    pub(super) denied: Option<(NodeId, u64)>,
    /// The number of the last Fetch that asked for it.
    pub(super) fetched_by: u64,
    /// A fetch beside the session's has brought nothing: it goes back to the session with that one's next fetch, even while another beside
    /// it is on its way.
    pub(super) goes_back: bool,
    pub(super) asking: bool,
    pub(super) attempts: u32,
    pub(super) not_before: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The group's committed offset is not known yet.
    Uncommitted,
    /// An offset is to be looked up: this one, or what the policy says.
    Resetting(Option<OffsetTarget>),
    /// The leader changed: does its log still have the record before the position?
    Validating,
    Fetching,
    /// Its last item is a problem; goes on when that is taken.
    Halted,
}

/// What is buffered, in offset order.
#[derive(Debug)]
pub(super) enum Item {
    /// A batch and the response that holds its bytes.
    Batch(Batch, u64),
    /// Control records, aborted ones, or none at all up to here.
    Gap(Position),
    Problem(FetchProblem),
}

impl Partition {
    pub(super) fn new(id: TopicPartition, generation: Generation, phase: Phase) -> Self {
        Self {
            id,
            generation,
            added_in: generation,
            phase,
            paused: false,
            position: Position { offset: 0, epoch: None },
            consumed: None,
            items: VecDeque::new(),
            buffered_bytes: 0,
            high_watermark: None,
            last_stable_offset: None,
            log_start_offset: None,
            terms: Terms::default(),
            checked_epoch: None,
            preferred: None,
            vain_leases: 0,
            is_replica_unknown: false,
            denied: None,
            fetched_by: 0,
            goes_back: false,
            asking: false,
            attempts: 0,
            not_before: None,
        }
    }
    /// Forgets everything about where it stood.
    pub(super) fn restart(&mut self, generation: Generation) {
        let (paused, added_in) = (self.paused, self.added_in);
        let id = self.id.clone();
        *self = Self { paused, added_in, ..Self::new(id, generation, Phase::Fetching) };
    }
    pub(super) fn start_at(&mut self, position: Position) {
        self.phase = Phase::Fetching;
        self.position = position;
        self.consumed = Some(position);
        self.terms = Terms::default();
        self.asking = false;
        self.calm();
    }
    /// As [`start_at`](Self::start_at), for a place that was read up to.
    pub(super) fn go_back_to(&mut self, place: Position, terms: Terms) {
        self.start_at(place);
        self.terms = terms.up_to(place.offset);
    }
    /// Where reading may go to.
    pub(super) fn end(&self, isolation: IsolationLevel) -> Option<i64> {
        match isolation {
            IsolationLevel::ReadCommitted => self.last_stable_offset.or(self.high_watermark),
            IsolationLevel::ReadUncommitted => self.high_watermark,
        }
    }
    pub(super) fn waits(&self, now: Instant) -> bool {
        self.asking || self.not_before.is_some_and(|at| at > now)
    }
    pub(super) const fn calm(&mut self) {
        self.attempts = 0;
        self.not_before = None;
    }
    pub(super) fn back_off(&mut self, now: Instant, config: &FetchConfig) {
        self.asking = false;
        self.not_before = Some(now + config.backoff(self.attempts));
        self.attempts = self.attempts.saturating_add(1);
    }
    /// Reads from a replica nearby. While that is in vain, leader and replica would send it to and fro without a pause (C-9).
    pub(super) fn prefer(&mut self, now: Instant, node: NodeId, config: &FetchConfig) {
        self.preferred = Some((node, now + PREFERRED_FOR));
        let pause = self.vain_leases.checked_sub(1).map(|attempts| config.backoff(attempts));
        self.not_before = pause.map(|pause| now + pause).or(self.not_before);
    }
    /// Goes back to the leader, if it is this node that it reads from. Whether it was.
    pub(super) fn give_up_replica(&mut self, node: NodeId) -> bool {
        let is_given_up = self.preferred.take_if(|(preferred, _)| *preferred == node).is_some();
        self.vain_leases += u32::from(is_given_up);
        is_given_up
    }
    /// Nothing more is fetched until the application has seen this.
    pub(super) fn halt(&mut self, problem: FetchProblem) {
        self.phase = Phase::Halted;
        self.asking = false;
        self.items.push_back(Item::Problem(problem));
    }
}
