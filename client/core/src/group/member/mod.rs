//! One member of a classic group.
//!
//! ```text
//!  Out ──subscribe──► Preparing ──acks in, commits done, pause over──► Joining ──► Assigning ──► Joined ──► Syncing ──► Stable
//!                        ▲                                                          (leader)                              │
//!                        ├───────── the group rebalances, other topics, other partition counts, an error ◄────────────────┤
//!                        └───────── LettingGo (cooperative: the leader took partitions; after the ack) ◄──────────────────┘
//!  any ──close, unsubscribe, no poll for too long──► Leaving ──► Out          any ──refused for good──► Failed
//! ```
//!
//! Invariants: nothing is joined while an event waits for its acknowledgement or a commit is in flight; nothing may be
//! committed between JoinGroup and the assignment; whether partitions are kept over a rebalance goes by the protocol
//! that the coordinator picked last, not by what is configured; only the last question of a kind is waited for, and the
//! answer to an earlier one, however late, changes nothing.

mod commit;
mod heartbeat;
mod join;
mod leave;
mod sync;
#[cfg(test)]
mod tests;

use super::MemberConfig;
use super::assignor::{GroupMember, PartitionAssignor, RebalanceMode};
use super::event::{Ack, Action, Call, Failure, GroupError, GroupEvent};
use super::request::GroupMetadata;
use bytes::Bytes;
use heartbeat::Heartbeats;
use millstream_protocol::messages::SyncGroupRequest;
use millstream_protocol::{ErrorCode, TopicName, TopicPartition};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Instant;

/// The state machine of one member. See the module for its picture.
#[derive(Debug)]
pub struct Member {
    config: MemberConfig,
    assignors: Vec<Box<dyn PartitionAssignor>>,
    topics: Vec<TopicName>,
    identity: GroupMetadata,
    state: State,
    /// The assignor whose protocol the coordinator picked last.
    picked: Option<usize>,
    owned: BTreeSet<TopicPartition>,
    waiting: Option<Waiting>,
    last_ack: u64,
    last_call: u64,
    /// Something changed while a rebalance was under way: join again when it is over.
    join_again: bool,
    reason: &'static str,
    attempts: u32,
    commits_in_flight: usize,
    /// While a rebalance waits for this member: when the coordinator ends it without it.
    rebalance_ends: Option<Instant>,
    heartbeats: Heartbeats,
    progress: Progress,
    /// Leaders only: every member's topics, and how many partitions the assignment was made for.
    watched: Option<BTreeMap<TopicName, Option<usize>>>,
    outbox: VecDeque<Action>,
}

#[derive(Debug)]
enum State {
    /// Not a member and not trying.
    Out,
    /// About to join, not before this time.
    Preparing(Instant),
    /// JoinGroup is on its way.
    Joining(Call),
    /// This member leads and waits for the cluster's layout.
    Assigning(Call, Vec<GroupMember>),
    /// Ready to send this.
    Joined(Box<SyncGroupRequest>),
    /// SyncGroup is on its way.
    Syncing(Call),
    /// In the group, with its partitions.
    Stable,
    /// In the group; what the leader took away is being let go.
    LettingGo(Next),
    /// On the way out.
    Leaving(Departure),
    /// Over for good.
    Failed,
}

/// The assignment to be taken up once the rest is let go.
#[derive(Debug)]
struct Next {
    partitions: BTreeSet<TopicPartition>,
    user_data: Option<Bytes>,
}

/// How far a departure is, and whether the member comes back at the next poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Departure {
    Announcing,
    Announced(Call),
}

/// An event that has not been acknowledged.
#[derive(Debug)]
struct Waiting {
    ack: Ack,
    letting_go: Vec<TopicPartition>,
}

/// Whether the application polls. A poll that waits is progress all the time.
#[derive(Debug, Default)]
struct Progress {
    polling: bool,
    last: Option<Instant>,
    /// Left for want of polls; the next one brings it back.
    dormant: bool,
}

impl Member {
    /// A member that has not joined. The first assignor that all members know is used.
    #[must_use]
    pub fn new(config: MemberConfig, assignors: Vec<Box<dyn PartitionAssignor>>) -> Self {
        let identity = GroupMetadata::of(&config);
        Self {
            config,
            assignors,
            topics: Vec::new(),
            identity,
            state: State::Out,
            picked: None,
            owned: BTreeSet::new(),
            waiting: None,
            last_ack: 0,
            last_call: 0,
            join_again: false,
            reason: "",
            attempts: 0,
            commits_in_flight: 0,
            rebalance_ends: None,
            heartbeats: Heartbeats::default(),
            progress: Progress::default(),
            watched: None,
            outbox: VecDeque::new(),
        }
    }

    // --- what the application wants

    /// Replaces the subscription. No topics at all means leaving, at once: whoever asks for that has let go already.
    pub fn subscribe(&mut self, now: Instant, topics: impl IntoIterator<Item = TopicName>) {
        let topics: BTreeSet<TopicName> = topics.into_iter().collect();
        let topics: Vec<TopicName> = topics.into_iter().collect();
        if topics.is_empty() {
            return self.unsubscribe(now);
        }
        if topics == self.topics && !matches!(self.state, State::Out | State::Leaving(_)) {
            return;
        }
        self.topics = topics;
        match self.state {
            State::Out => self.rejoin(now, "the consumer subscribed"),
            State::Stable => self.rejoin(now, "the subscription changed"),
            State::Failed => {}
            _ => self.join_again = true,
        }
    }
    /// Joins again, since what this member's assignor says about it has changed.
    pub fn join_anew(&mut self, now: Instant) {
        match self.state {
            State::Stable => self.rejoin(now, "what the member says about itself changed"),
            State::Out | State::Leaving(_) | State::Failed => {}
            _ => self.join_again = true,
        }
    }
    /// Says that an event's consequences are drawn.
    pub fn acknowledge(&mut self, now: Instant, ack: Ack) {
        let Some(waiting) = self.waiting.take_if(|waiting| waiting.ack == ack) else { return };
        for partition in &waiting.letting_go {
            self.owned.remove(partition);
        }
        match std::mem::replace(&mut self.state, State::Stable) {
            State::LettingGo(next) => {
                self.take_up(next);
                self.rejoin(now, "partitions were let go");
            }
            other => self.state = other,
        }
    }
    /// The application waits in a poll from now on, or has come back from it. True when that is something to act on.
    pub fn set_polling(&mut self, now: Instant, polling: bool) -> bool {
        self.progress.polling = polling;
        self.progress.last = Some(now);
        let back = std::mem::take(&mut self.progress.dormant) && matches!(self.state, State::Out);
        if back {
            self.rejoin(now, "the consumer polls again");
        }
        back
    }

    // --- what is to be done

    /// The next thing to do, until there is none.
    pub fn poll_action(&mut self, now: Instant) -> Option<Action> {
        self.check_progress(now);
        if let Some(action) = self.outbox.pop_front() {
            return Some(action);
        }
        self.poll_heartbeat(now).or_else(|| self.poll_state(now))
    }
    /// When to ask again, if nothing happens before.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let pause = match self.state {
            State::Preparing(at) if self.may_move() => Some(at),
            _ => None,
        };
        [pause, self.heartbeat_deadline(), self.progress_deadline()].into_iter().flatten().min()
    }
    fn poll_state(&mut self, now: Instant) -> Option<Action> {
        if !self.may_move() {
            return None;
        }
        match self.state {
            State::Preparing(at) if at <= now => Some(self.start_join()),
            State::Joined(_) => self.start_sync(),
            State::Leaving(Departure::Announcing) => Some(self.start_leave()),
            _ => None,
        }
    }
    /// Nobody is still busy with partitions that a move would take away.
    fn may_move(&self) -> bool {
        self.waiting.is_none() && self.commits_in_flight == 0
    }

    // --- asking

    /// Who this member is now.
    #[must_use]
    pub fn metadata(&self) -> &GroupMetadata {
        &self.identity
    }
    /// The partitions that are this member's, also while it lets them go.
    #[must_use]
    pub fn owned(&self) -> &BTreeSet<TopicPartition> {
        &self.owned
    }
    /// Whether an assignment stands and nothing is under way.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        matches!(self.state, State::Stable)
    }
    /// Whether it is out of the group, or over.
    #[must_use]
    pub fn is_out(&self) -> bool {
        matches!(self.state, State::Out | State::Failed)
    }
    /// The topics whose partition counts this member, as leader, has to watch.
    #[must_use]
    pub fn watched_topics(&self) -> Option<BTreeSet<TopicName>> {
        self.watched.as_ref().map(|watched| watched.keys().cloned().collect())
    }

    // --- moves

    /// Joins (again), after what has to be revoked first. A group that rebalances already is joined at its end.
    fn rejoin(&mut self, now: Instant, reason: &'static str) {
        self.reason = reason;
        self.join_again = false;
        self.state = State::Preparing(now);
        self.rebalance_ends = Some(now + self.time_to_join());
        let revoked: Vec<TopicPartition> = match self.mode() {
            RebalanceMode::Eager => self.owned.iter().cloned().collect(),
            RebalanceMode::Cooperative => {
                self.owned.iter().filter(|owned| !self.topics.contains(&owned.topic)).cloned().collect()
            }
        };
        self.revoke(revoked);
    }
    fn revoke(&mut self, partitions: Vec<TopicPartition>) {
        if !partitions.is_empty() {
            let ack = self.wait_for(partitions.clone());
            self.emit(GroupEvent::Revoking { partitions, ack });
        }
    }
    /// The partitions are somebody else's. A revocation that was under way is void.
    fn lose(&mut self) {
        let partitions: Vec<TopicPartition> = std::mem::take(&mut self.owned).into_iter().collect();
        self.waiting = None;
        if !partitions.is_empty() {
            let ack = self.wait_for(Vec::new());
            self.emit(GroupEvent::Lost { partitions, ack });
        }
    }
    /// The coordinator does not know this member, or not in this generation: the partitions are gone; join anew.
    fn lose_and_rejoin(&mut self, now: Instant, forget: Forget) {
        self.lose();
        self.identity.generation = -1;
        if forget == Forget::Member {
            self.identity.member_id.clear();
        }
        if !matches!(self.state, State::Leaving(_) | State::Out) {
            self.reason = "the coordinator dropped this member";
            self.state = State::Preparing(now);
        }
    }
    fn retry(&mut self, now: Instant) {
        let pause = self.config.backoff(self.attempts);
        self.attempts += 1;
        self.state = State::Preparing(now + pause);
    }
    fn retry_elsewhere(&mut self, now: Instant) {
        self.outbox.push_back(Action::ForgetCoordinator);
        self.retry(now);
    }
    fn fail(&mut self, error: GroupError) {
        self.lose();
        self.identity.generation = -1;
        self.state = State::Failed;
        self.emit(GroupEvent::Failed(error));
    }
    fn fail_refused(&mut self, attempt: &'static str, code: ErrorCode) {
        let group = self.config.group_id.clone();
        match (code, &self.config.instance_id) {
            (ErrorCode::FENCED_INSTANCE_ID, Some(instance)) => {
                self.fail(GroupError::Fenced { group, instance: instance.clone() });
            }
            _ => self.fail(GroupError::Refused { group, attempt, code }),
        }
    }
    fn fail_protocol(&mut self, problem: String) {
        let group = self.config.group_id.clone();
        self.fail(GroupError::Protocol { group, problem });
    }
    fn fail_transport(&mut self, now: Instant, failure: Failure) {
        match failure {
            Failure::Unavailable => self.retry_elsewhere(now),
            Failure::Fatal(problem) => self.fail_protocol(problem),
        }
    }

    fn emit(&mut self, event: GroupEvent) {
        self.outbox.push_back(Action::Event(event));
    }
    fn wait_for(&mut self, letting_go: Vec<TopicPartition>) -> Ack {
        self.last_ack += 1;
        let ack = Ack(self.last_ack);
        self.waiting = Some(Waiting { ack, letting_go });
        ack
    }
    const fn next_call(&mut self) -> Call {
        self.last_call += 1;
        Call(self.last_call)
    }
    /// Before the first rebalance nothing is owned, so the mode makes no difference.
    fn mode(&self) -> RebalanceMode {
        let picked = self.picked.and_then(|index| self.assignors.get(index));
        picked.map_or(RebalanceMode::Eager, |assignor| assignor.rebalance_mode())
    }
}

/// How much of its identity a dropped member forgets: a stale generation keeps its id, an unknown id is of no more use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forget {
    Generation,
    Member,
}
