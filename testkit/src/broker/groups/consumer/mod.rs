//! A group of the consumer protocol (KIP-848): the broker assigns, members only say what they want and what they own. How a heartbeat is
//! taken in is in `heartbeat`, who a member is in `membership`, what it subscribes to in `subscriptions` and `expressions`, the group's epochs
//! and target in `target`, a member's way there in `reconcile`, and members that still speak the classic protocol in `classic_members`.
//!
//! ```text
//!              join                      target computed                  all members in its epoch
//!   Empty ─────────────► Assigning ──────────────────────► Reconciling ─────────────────────────► Stable
//!     ▲                    ▲  ▲                              │     ▲                                │
//!     │                    │  └─── join, leave, other ───────┘     └── other target, at once ───────┤
//!     │                    │       topics: a new epoch                                              │
//!     │                    └──────────────────────── join, leave, other topics: a new epoch ────────┘
//!     └── nobody left, from everywhere
//! ```
//! A new epoch that gets its target in the same step, as it does unless the last target is younger than the assignment interval, goes
//! through Assigning unseen.

pub(crate) mod assignor;
pub(crate) mod classic_members;
pub(crate) mod expressions;
pub(crate) mod heartbeat;
pub(crate) mod member;
mod membership;
mod reconcile;
mod subscriptions;
mod target;

use super::committing::{CONSUMERS_SINCE, Committer};
use super::settings::{ConsumerSettings, Timing};
use crate::broker::bounds::text_weight;
use crate::broker::java_hash::{string_hash, uuid_hash};
use crate::broker::topics::Topics;
use expressions::Resolution;
use member::{Assignment, Member};
use millstream_protocol::messages::{StrBytes, Uuid};
use millstream_protocol::{ErrorCode, Timestamp};
use std::collections::BTreeMap;

/// About how many bytes a partition takes where it is one of an assignment.
pub(super) const PARTITION: usize = 16;

/// A topic and how many partitions it has.
type TopicSize = (Uuid, usize);

/// What a group sees of its cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) now: Timestamp,
    pub(crate) topics: &'a Topics,
    pub(crate) settings: &'a ConsumerSettings,
    pub(crate) timing: Timing,
}
impl<'a> Context<'a> {
    /// Of a group with these options of its own.
    pub(crate) fn new(
        now: Timestamp,
        topics: &'a Topics,
        settings: &'a ConsumerSettings,
        own: Option<&BTreeMap<String, String>>,
    ) -> Self {
        Self { now, topics, settings, timing: settings.timing(own) }
    }
}

/// Where a group stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Empty,
    Assigning,
    Reconciling,
    Stable,
}
impl State {
    /// As ListGroups names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Assigning => "Assigning",
            Self::Reconciling => "Reconciling",
            Self::Stable => "Stable",
        }
    }
}

/// One group.
#[derive(Debug)]
pub(crate) struct ConsumerGroup {
    pub(crate) id: StrBytes,
    pub(crate) epoch: i32,
    /// The epoch of the target.
    pub(crate) assignment_epoch: i32,
    pub(crate) members: BTreeMap<StrBytes, Member>,
    pub(crate) targets: BTreeMap<StrBytes, Assignment>,
    /// When the target was computed.
    assigned_at: Option<Timestamp>,
    /// The subscribed topics that there are, with their sizes: what a target was made for.
    image: BTreeMap<StrBytes, TopicSize>,
    resolution: Resolution,
    /// Whether the members are still taken for differently subscribed, as an expression that is gone counted when one of them changed last.
    seem_different: bool,
    /// Whether it may become a classic one now, and how.
    going_back: Option<GoingBack>,
}

/// Why a group of which only members of the classic protocol are left becomes a classic one: it is looked at when somebody goes.
#[derive(Debug)]
pub(crate) enum GoingBack {
    /// Somebody went, whose partitions those share who are left.
    Left,
    /// The last one of the consumer protocol is a static member, in whose place one of the classic protocol came. The others are not disturbed
    /// unless that one is subscribed otherwise, or there is no target for what was subscribed to before.
    Replaced { shares_anew: bool },
}

impl ConsumerGroup {
    pub(crate) fn new(id: StrBytes) -> Self {
        Self {
            id,
            epoch: 1,
            assignment_epoch: 1,
            members: BTreeMap::new(),
            targets: BTreeMap::new(),
            assigned_at: None,
            image: BTreeMap::new(),
            resolution: Resolution::nothing(),
            seem_different: false,
            going_back: None,
        }
    }
    /// About how many bytes its members take.
    pub(crate) fn weight(&self) -> usize {
        let targets =
            self.targets.values().flat_map(BTreeMap::values).map(|partitions| (partitions.len() + 8) * PARTITION);
        let topics = self.resolution.matches.values().flatten().chain(self.image.keys()).map(|name| text_weight(name));
        self.members.values().map(Member::weight).sum::<usize>() + targets.sum::<usize>() + topics.sum::<usize>()
    }
    pub(crate) fn assigned_at(&self) -> Option<Timestamp> {
        self.assigned_at
    }
    /// Which topics each expression matched last, and when.
    pub(crate) fn resolution(&self) -> &Resolution {
        &self.resolution
    }
    /// A number that changes with the subscribed topics.
    pub(crate) fn image_hash(&self) -> i64 {
        let mix = |hash: i64, part: i64| hash.wrapping_mul(31).wrapping_add(part);
        self.image.iter().fold(0, |hash, (name, (id, size))| {
            let parts = [string_hash(name), uuid_hash(*id), i32::try_from(*size).unwrap_or(i32::MAX)];
            parts.into_iter().map(i64::from).fold(hash, mix)
        })
    }
    pub(crate) fn state(&self) -> State {
        if self.members.is_empty() {
            State::Empty
        } else if self.epoch > self.assignment_epoch {
            State::Assigning
        } else if self.members.values().all(|member| member.is_reconciled(self.assignment_epoch)) {
            State::Stable
        } else {
            State::Reconciling
        }
    }
    /// The assignor that most members ask for, or the broker's first.
    pub(crate) fn assignor(&self, settings: &ConsumerSettings) -> assignor::Assignor {
        self.votes().winner().unwrap_or(settings.first_assignor())
    }
    fn votes(&self) -> assignor::Votes {
        assignor::Votes::count(self.members.values().filter_map(|member| member.assignor))
    }
    pub(crate) fn find_static(&self, instance_id: &str) -> Option<&Member> {
        self.members.values().find(|member| member.instance_id.as_deref() == Some(instance_id))
    }
    /// When it next has something to do by itself.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        self.members.values().map(Member::next_deadline).min()
    }
    /// Puts out whoever was silent too long, or did not do in time what it was told.
    pub(crate) fn handle_time(&mut self, ctx: &Context<'_>) {
        let late = |member: &&Member| member.next_deadline() <= ctx.now;
        let late: Vec<StrBytes> = self.members.values().filter(late).map(|member| member.id.clone()).collect();
        for id in &late {
            self.remove(id);
            self.bump_after_loss(ctx);
        }
    }
    /// Whether these offsets may be read (OffsetFetch from version 9 on) by whom the request names.
    pub(crate) fn check_fetch(&self, member_id: Option<&str>, epoch: i32) -> Result<(), ErrorCode> {
        if member_id.is_none() && epoch < 0 {
            return Ok(());
        }
        let member = member_id.and_then(|id| self.members.get(id.as_bytes())).ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?;
        check_epoch(member, epoch)
    }
    /// Whether these offsets may be committed (OffsetCommit, TxnOffsetCommit).
    pub(crate) fn check_commit(&self, by: &Committer<'_>) -> Result<(), ErrorCode> {
        let Committer { member_id, instance_id, epoch, .. } = *by;
        let is_transactional = by.producer.is_some();
        // Without members, or for whoever is none, an administrator may.
        if epoch < 0 && self.members.is_empty() {
            return Ok(());
        }
        if is_transactional && epoch == -1 && member_id.is_empty() && instance_id.is_none() {
            return Ok(());
        }
        let member = self.members.get(member_id.as_bytes()).ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?;
        if member.classic.is_none() && !is_transactional && by.version < CONSUMERS_SINCE {
            return Err(ErrorCode::UNSUPPORTED_VERSION);
        }
        if epoch > member.epoch { Err(wrong_epoch(member)) } else { Ok(()) }
    }
    /// Whether these partitions were the committer's in the epoch that it names, if that is before its own (KIP-1251).
    pub(crate) fn check_assigned(
        &self,
        by: &Committer<'_>,
        mut partitions: impl Iterator<Item = (Uuid, i32)>,
    ) -> Result<(), ErrorCode> {
        let member = self.members.get(by.member_id.as_bytes()).filter(|member| by.epoch < member.epoch);
        let Some(member) = member else { return Ok(()) };
        let was_given = |(topic, partition)| member.given_in(topic, partition).is_some_and(|epoch| epoch <= by.epoch);
        if partitions.all(was_given) { Ok(()) } else { Err(wrong_epoch(member)) }
    }
}

/// A member of either protocol fetches in its own epoch; the classic one calls that its generation.
fn check_epoch(member: &Member, epoch: i32) -> Result<(), ErrorCode> {
    if member.epoch == epoch { Ok(()) } else { Err(wrong_epoch(member)) }
}
fn wrong_epoch(member: &Member) -> ErrorCode {
    if member.classic.is_some() { ErrorCode::ILLEGAL_GENERATION } else { ErrorCode::STALE_MEMBER_EPOCH }
}
