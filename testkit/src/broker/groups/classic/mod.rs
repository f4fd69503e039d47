//! A classic group: its members and its state. How members come in is in `join`, how they get their assignment and stay in `sync`, how
//! they go in `leave`.
//!
//! ```text
//!            join                       all joined, or time is up              leader's SyncGroup
//!   Empty ─────────► PreparingRebalance ────────────────────────► CompletingRebalance ──────────► Stable
//!     ▲                │     ▲   ▲                                     │                            │
//!     └── nobody left ─┘     │   └─── join, leave, session end, ───────┘                            │
//!                            │        no SyncGroup in time                                          │
//!                            └──────── join that changes something, leave, session end ─────────────┘
//! ```
//! A group that was deleted is not there any more, which DescribeGroups calls Dead.

pub(crate) mod join;
pub(crate) mod leave;
pub(crate) mod member;
mod sync;

use super::committing::Committer;
use super::embedded::Subscription;
use super::protocols::common;
use crate::broker::bounds::text_weight;
use crate::broker::call::Call;
use crate::broker::java_hash::string_hash;
use crate::broker::java_order::in_map_order;
use bytes::Bytes;
use member::Member;
use millstream_protocol::messages::join_group_response::JoinGroupResponseMember;
use millstream_protocol::messages::{JoinGroupResponse, StrBytes, SyncGroupResponse};
use millstream_protocol::{ErrorCode, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const NO_NAME_SINCE: i16 = 7;
/// What consumers call their protocol.
const CONSUMER: &str = "consumer";

/// What the broker's options say about groups.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) now: Timestamp,
    pub(crate) initial_delay: Duration,
    pub(crate) max_size: usize,
}

/// Where a group stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Empty,
    PreparingRebalance {
        /// When those that have not joined again are dropped.
        until: Timestamp,
        /// A first rebalance waits for more members to come.
        initial: Option<Initial>,
    },
    CompletingRebalance,
    Stable,
}
impl State {
    /// As ListGroups names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::PreparingRebalance { .. } => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Stable => "Stable",
        }
    }
}

/// The delay before a group's first generation (`group.initial.rebalance.delay.ms`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Initial {
    /// How much longer it may be drawn out.
    pub(super) remaining: Duration,
    /// Whether a member came since it was last drawn out.
    pub(super) has_new_member: bool,
}

/// An answer to a call that the group held.
#[derive(Debug)]
pub(crate) enum GroupReply {
    Join(Call, JoinGroupResponse),
    Sync(Call, SyncGroupResponse),
}

/// One group.
#[derive(Debug)]
pub(crate) struct ClassicGroup {
    pub(crate) id: StrBytes,
    pub(crate) state: State,
    pub(crate) generation: i32,
    /// `consumer`, `connect`, or none for a group that only keeps offsets.
    pub(crate) protocol_type: Option<StrBytes>,
    /// The assignor of this generation.
    pub(crate) protocol: Option<StrBytes>,
    pub(crate) leader: Option<StrBytes>,
    pub(crate) members: BTreeMap<StrBytes, Member>,
    /// Ids given out whose owners have not joined yet (KIP-394), and until when they may.
    pub(crate) pending: BTreeMap<StrBytes, Timestamp>,
    /// When members that have not asked for their assignment are dropped.
    pub(super) sync_until: Option<Timestamp>,
    /// The topics of this generation's subscriptions, if these can be read.
    pub(super) subscribed: Option<BTreeSet<StrBytes>>,
    replies: Vec<GroupReply>,
}

impl ClassicGroup {
    pub(crate) fn new(id: StrBytes) -> Self {
        Self {
            id,
            state: State::Empty,
            generation: 0,
            protocol_type: None,
            protocol: None,
            leader: None,
            members: BTreeMap::new(),
            pending: BTreeMap::new(),
            sync_until: None,
            subscribed: None,
            replies: Vec::new(),
        }
    }
    /// About how many bytes its members take.
    pub(crate) fn weight(&self) -> usize {
        let given_out = self.pending.keys().map(|id| text_weight(id) + size_of::<Timestamp>()).sum::<usize>();
        self.members.values().map(Member::weight).sum::<usize>() + given_out
    }
    /// Takes the answers that are due.
    pub(crate) fn poll_replies(&mut self) -> Vec<GroupReply> {
        std::mem::take(&mut self.replies)
    }
    /// When it next has something to do by itself.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let sessions = self.members.values().filter_map(Member::session_end);
        let rebalance = match self.state {
            State::PreparingRebalance { until, .. } => Some(until),
            State::Empty | State::CompletingRebalance | State::Stable => None,
        };
        sessions.chain(self.pending.values().copied()).chain(rebalance).chain(self.sync_until).min()
    }
    /// Does what is due: ends sessions, ends waits.
    pub(crate) fn handle_time(&mut self, rules: &Rules) {
        self.pending.retain(|_, until| *until > rules.now);
        let is_over = |member: &&Member| member.session_end().is_some_and(|end| end <= rules.now);
        let expired: Vec<StrBytes> = self.members.values().filter(is_over).map(|member| member.id.clone()).collect();
        expired.iter().for_each(|id| self.remove_and_rebalance(id, rules));
        self.expire_sync(rules);
        self.try_complete_join(rules);
        self.expire_join(rules);
    }

    /// Finds a member by what a request says of it: both ids must agree.
    pub(crate) fn check_member(&self, member_id: &str, instance_id: Option<&str>) -> Result<(), ErrorCode> {
        if let Some(instance_id) = instance_id {
            return match self.find_static(instance_id) {
                Some(member) if member.id.as_str() == member_id => Ok(()),
                Some(_) => Err(ErrorCode::FENCED_INSTANCE_ID),
                None => Err(ErrorCode::UNKNOWN_MEMBER_ID),
            };
        }
        if self.members.contains_key(member_id.as_bytes()) { Ok(()) } else { Err(ErrorCode::UNKNOWN_MEMBER_ID) }
    }
    pub(crate) fn check_generation(&self, generation: i32) -> Result<(), ErrorCode> {
        if generation == self.generation { Ok(()) } else { Err(ErrorCode::ILLEGAL_GENERATION) }
    }
    /// Whether these offsets may be committed (OffsetCommit, TxnOffsetCommit).
    pub(crate) fn check_commit(&self, by: &Committer<'_>) -> Result<(), ErrorCode> {
        let Committer { member_id, instance_id, epoch: generation, .. } = *by;
        let is_transactional = by.producer.is_some();
        if generation < 0 && self.state == State::Empty {
            return Ok(());
        }
        if generation < 0 && member_id.is_empty() && instance_id.is_none() {
            return if is_transactional { Ok(()) } else { Err(ErrorCode::UNKNOWN_MEMBER_ID) };
        }
        self.check_member(member_id, instance_id)?;
        self.check_generation(generation)?;
        // Between JoinGroup and SyncGroup nobody knows who owns what. Kafka does not mind in a transaction.
        let is_between = self.state == State::CompletingRebalance && !is_transactional;
        if is_between { Err(ErrorCode::REBALANCE_IN_PROGRESS) } else { Ok(()) }
    }
    pub(crate) fn find_static(&self, instance_id: &str) -> Option<&Member> {
        self.members.values().find(|member| member.instance_id.as_deref() == Some(instance_id))
    }
    /// Whether this generation's members are subscribed to a topic; subscriptions that cannot be read may be to any.
    pub(crate) fn is_subscribed(&self, topic: &str) -> bool {
        self.protocol_type.as_deref() == Some(CONSUMER)
            && self.subscribed.as_ref().is_none_or(|topics| topics.contains(topic.as_bytes()))
    }
    pub(in crate::broker::groups) fn read_subscriptions(&self) -> Option<BTreeSet<StrBytes>> {
        let protocol = self.protocol.as_deref().unwrap_or_default();
        let read = self.members.values().map(|member| Subscription::read(&member.metadata(protocol)));
        read.map(|read| Some(read?.topics))
            .collect::<Option<Vec<_>>>()
            .map(|topics| topics.into_iter().flatten().collect())
    }
    pub(crate) fn is_leader(&self, member_id: &str) -> bool {
        self.leader.as_deref() == Some(member_id)
    }

    /// The assignor that all members know and most of them prefer; of several the one that is first in Kafka's table.
    pub(crate) fn select_protocol(&self) -> Option<StrBytes> {
        let common = self.common_protocols();
        let mut votes: BTreeMap<StrBytes, usize> = BTreeMap::new();
        for member in self.members.values() {
            if let Some((name, _)) = member.protocols.iter().find(|(name, _)| common.contains(name)) {
                *votes.entry(name.clone()).or_default() += 1;
            }
        }
        let most = votes.values().max().copied()?;
        let votes = in_map_order(votes.into_iter().collect(), |(name, _)| string_hash(name));
        votes.into_iter().find(|(_, count)| *count == most).map(|(name, _)| name)
    }
    /// The assignors that all members know.
    fn common_protocols(&self) -> BTreeSet<&StrBytes> {
        common(self.members.values().map(|member| &member.protocols)).unwrap_or_default()
    }
    pub(super) fn max_rebalance_timeout(&self) -> Duration {
        self.members.values().map(|member| member.rebalance_timeout).max().unwrap_or_default()
    }
    /// The members with what they told this generation's assignor, for the leader.
    pub(super) fn members_for_leader(&self) -> Vec<JoinGroupResponseMember> {
        let protocol = self.protocol.clone().unwrap_or_default();
        let describe = |member: &Member| {
            JoinGroupResponseMember::default()
                .with_member_id(member.id.clone())
                .with_group_instance_id(member.instance_id.clone())
                .with_metadata(member.metadata(&protocol))
        };
        self.members.values().map(describe).collect()
    }
    /// Answers all that wait with a code: the group goes on in another form.
    pub(crate) fn refuse_all(&mut self, code: ErrorCode) {
        let held: Vec<_> = self
            .members
            .values_mut()
            .map(|member| (member.id.clone(), member.awaiting_join.take(), member.awaiting_sync.take()))
            .collect();
        for (id, join, sync) in held {
            join.into_iter().for_each(|call| self.refuse_join(call, code, id.clone()));
            sync.into_iter().for_each(|call| self.refuse_sync(call, code));
        }
    }
    /// Lets all members share anew.
    pub(crate) fn restart(&mut self, rules: &Rules) {
        self.prepare_rebalance(rules);
    }
    pub(super) fn reply_join(&mut self, call: Call, response: JoinGroupResponse) {
        let response = in_version(response, call.version);
        self.replies.push(GroupReply::Join(call, response));
    }
    pub(super) fn refuse_join(&mut self, call: Call, code: ErrorCode, member_id: StrBytes) {
        self.reply_join(call, refused_join(code, member_id));
    }
    pub(super) fn reply_sync(&mut self, call: Call, assignment: Bytes) {
        let response = SyncGroupResponse::default()
            .with_protocol_type(self.protocol_type.clone())
            .with_protocol_name(self.protocol.clone())
            .with_assignment(assignment);
        self.replies.push(GroupReply::Sync(call, response));
    }
    pub(super) fn refuse_sync(&mut self, call: Call, code: ErrorCode) {
        self.replies.push(GroupReply::Sync(call, refused_sync(code)));
    }
}

/// From version 7 on there need not be a protocol's name, and a refusal has none.
pub(crate) fn in_version(response: JoinGroupResponse, version: i16) -> JoinGroupResponse {
    if response.error_code == 0 || version < NO_NAME_SINCE { response } else { response.with_protocol_name(None) }
}
/// A JoinGroup answered with a code.
pub(crate) fn refused_join(code: ErrorCode, member_id: StrBytes) -> JoinGroupResponse {
    JoinGroupResponse::default()
        .with_error_code(code.get())
        .with_generation_id(-1)
        .with_protocol_type(None)
        .with_protocol_name(Some(StrBytes::new()))
        .with_member_id(member_id)
}
/// A SyncGroup answered with a code.
pub(crate) fn refused_sync(code: ErrorCode) -> SyncGroupResponse {
    SyncGroupResponse::default().with_error_code(code.get()).with_protocol_type(None).with_protocol_name(None)
}
