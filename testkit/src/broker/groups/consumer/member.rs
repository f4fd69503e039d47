//! A member of a consumer group, and how far it has come towards what it is to own.
//!
//! ```text
//!                target changes, nothing to give up, all of it free
//!            ┌────────────────────────────────────────────────────────┐
//!            │                                                        ▼
//!         Stable ──── has to give up ────► UnrevokedPartitions      Stable
//!            │                               │            │           ▲
//!            │            gave up, rest not free      gave up, all free
//!            │                               ▼                        │
//!            └─ some is another's ──► UnreleasedPartitions ── freed ──┘
//! ```
//! A member that has to give up stays in its epoch until it has; all others go to the target's epoch at once.

use super::PARTITION;
use super::assignor::Assignor;
use crate::broker::bounds::text_weight;
use crate::broker::groups::protocols::{self, Protocols};
use millstream_protocol::Timestamp;
use millstream_protocol::messages::{StrBytes, Uuid};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Partitions by topic.
pub(crate) type Assignment = BTreeMap<Uuid, BTreeSet<i32>>;
/// Partitions by topic, with the epoch in which each was given (KIP-1251).
pub(crate) type Owned = BTreeMap<Uuid, BTreeMap<i32, i32>>;

/// Where a member stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemberState {
    /// It has what it is to have.
    Stable,
    /// It has been told to give partitions up, and has not said that it did.
    UnrevokedPartitions,
    /// It waits for partitions that others have not given up.
    UnreleasedPartitions,
}

/// What is known of a member that still speaks the classic protocol (KIP-848's online migration).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClassicPart {
    pub(crate) session_timeout: Duration,
    pub(crate) protocols: Protocols,
    /// Until when it has to ask for its assignment, or to join again.
    pub(crate) answer_until: Option<Timestamp>,
}

/// A member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) id: StrBytes,
    pub(crate) instance_id: Option<StrBytes>,
    pub(crate) rack_id: Option<StrBytes>,
    pub(crate) client_id: StrBytes,
    pub(crate) client_host: StrBytes,
    pub(crate) rebalance_timeout: Duration,
    pub(crate) topics: BTreeSet<StrBytes>,
    /// Never empty.
    pub(crate) regex: Option<StrBytes>,
    pub(crate) assignor: Option<Assignor>,
    pub(crate) epoch: i32,
    pub(crate) previous_epoch: i32,
    pub(crate) state: MemberState,
    pub(crate) assigned: Owned,
    pub(crate) revoking: Owned,
    pub(crate) classic: Option<ClassicPart>,
    pub(crate) session_until: Timestamp,
    /// Until when it has to give up what it was told to.
    pub(crate) revoke_until: Option<Timestamp>,
}

/// The epoch of a static member that is away and means to come back.
pub(crate) const AWAY: i32 = -2;

impl Member {
    /// About how many bytes it takes.
    pub(crate) fn weight(&self) -> usize {
        let named = [&self.instance_id, &self.rack_id, &self.regex].into_iter().flatten();
        let texts = [&self.id, &self.client_id, &self.client_host].into_iter().chain(named).chain(&self.topics);
        let owned =
            self.assigned.values().chain(self.revoking.values()).map(|partitions| (partitions.len() + 8) * PARTITION);
        let protocols = self.classic.iter().map(|classic| protocols::weight(&classic.protocols));
        size_of::<Self>()
            + texts.map(|text| text_weight(text)).sum::<usize>()
            + owned.sum::<usize>()
            + protocols.sum::<usize>()
    }
    pub(crate) fn new(id: StrBytes, now: Timestamp) -> Self {
        Self {
            id,
            instance_id: None,
            rack_id: None,
            client_id: StrBytes::new(),
            client_host: StrBytes::new(),
            rebalance_timeout: Duration::ZERO,
            topics: BTreeSet::new(),
            regex: None,
            assignor: None,
            epoch: 0,
            previous_epoch: -1,
            state: MemberState::Stable,
            assigned: Owned::new(),
            revoking: Owned::new(),
            classic: None,
            session_until: now,
            revoke_until: None,
        }
    }
    /// Moves it to an epoch.
    pub(super) fn advance(&mut self, epoch: i32) {
        self.previous_epoch = self.epoch;
        self.epoch = epoch;
    }
    /// Whether it has all that the target of an epoch gives it.
    pub(crate) fn is_reconciled(&self, epoch: i32) -> bool {
        self.state == MemberState::Stable && self.epoch == epoch
    }
    /// Whether what it says it owns is no more than what it was given.
    pub(crate) fn owns_no_more(&self, owned: Option<&Assignment>) -> bool {
        owned.is_some_and(|owned| {
            owned.iter().all(|(topic, partitions)| {
                let given = self.assigned.get(topic);
                partitions.iter().all(|partition| given.is_some_and(|given| given.contains_key(partition)))
            })
        })
    }
    /// The epoch in which it was given a partition that it has, or has not said it gave up.
    pub(super) fn given_in(&self, topic: Uuid, partition: i32) -> Option<i32> {
        let given = |owned: &Owned| owned.get(&topic)?.get(&partition).copied();
        given(&self.assigned).or_else(|| given(&self.revoking))
    }
    /// What it has, what it has not said it gave up included: as administrators see it.
    pub(crate) fn holds(&self) -> Assignment {
        let mut holds = self.assignment();
        for (topic, partitions) in &self.revoking {
            holds.entry(*topic).or_default().extend(partitions.keys().copied());
        }
        holds
    }
    /// What it may use.
    pub(crate) fn assignment(&self) -> Assignment {
        self.assigned.iter().map(|(topic, given)| (*topic, given.keys().copied().collect())).collect()
    }
    /// When it next has to have done something.
    pub(crate) fn next_deadline(&self) -> Timestamp {
        let answer = self.classic.as_ref().and_then(|classic| classic.answer_until);
        [self.revoke_until, answer].into_iter().flatten().fold(self.session_until, Timestamp::min)
    }
}
