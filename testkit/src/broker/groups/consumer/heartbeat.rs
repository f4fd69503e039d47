//! A ConsumerGroupHeartbeat: joins, leaves, says what changed, and takes the next step towards the target.

use super::assignor::Assignor;
use super::member::{Assignment, Member, MemberState};
use super::membership::Claim;
use super::{ConsumerGroup, Context};
use crate::broker::call::Refusal;
use millstream_protocol::Timestamp;
use millstream_protocol::messages::{StrBytes, Uuid};
use std::collections::BTreeSet;
use std::time::Duration;

/// What a member says; none: as before.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heartbeat {
    pub(crate) member_id: StrBytes,
    pub(crate) epoch: i32,
    pub(crate) instance_id: Option<StrBytes>,
    pub(crate) rack_id: Option<StrBytes>,
    pub(crate) rebalance_timeout: Option<Duration>,
    pub(crate) topics: Option<BTreeSet<StrBytes>>,
    pub(crate) regex: Option<StrBytes>,
    pub(crate) assignor: Option<Assignor>,
    pub(crate) owned: Option<Assignment>,
    pub(crate) client_id: StrBytes,
    pub(crate) client_host: StrBytes,
}
impl Heartbeat {
    /// Whether it says everything, as it does when it joins or does not know whether its last heartbeat arrived.
    fn is_full(&self) -> bool {
        let subscribes = self.topics.is_some() || self.regex.is_some();
        self.epoch == 0 || (self.rebalance_timeout.is_some() && subscribes && self.owned.is_some())
    }
    fn claim(&self) -> Claim<'_> {
        Claim {
            id: &self.member_id,
            instance_id: self.instance_id.as_ref(),
            epoch: self.epoch,
            owned: self.owned.as_ref(),
        }
    }
}

/// What a member is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Beaten {
    pub(crate) epoch: i32,
    pub(crate) heartbeat_interval: Duration,
    /// What it may use, if that changed or it asked for it.
    pub(crate) assignment: Option<Assignment>,
}

impl ConsumerGroup {
    /// Takes a heartbeat in. What is refused changes nothing.
    pub(crate) fn handle_heartbeat(&mut self, beat: &Heartbeat, ctx: &Context<'_>) -> Result<Beaten, Refusal> {
        if beat.epoch < 0 {
            self.leave(&beat.claim(), ctx)?;
            return Ok(Beaten { epoch: beat.epoch, heartbeat_interval: Duration::ZERO, assignment: None });
        }
        self.check_room(&beat.member_id, ctx.settings.max_size)?;
        let admission = self.check_admission(&beat.claim())?;
        let brings_new = self.check_expression(beat.regex.as_ref())?;
        let subscriptions = self.known_subscriptions();
        let known = self.as_written(&beat.member_id);
        self.admit(&beat.claim(), admission, ctx.now);
        let before = self.members.get(&beat.member_id).map(Member::assignment).unwrap_or_default();
        let (is_changed, assignor) = self.update(beat, ctx);
        let updated = self.as_written(&beat.member_id);
        if updated != known {
            self.note_subscriptions();
        }
        let subscriptions = self.refresh_epoch(is_changed, subscriptions, ctx);
        self.refresh_target(assignor, subscriptions, ctx);
        self.reconcile(&beat.member_id, beat.owned.as_ref(), ctx);
        // Where it has come to is written after what is gone.
        self.seem_different &= self.as_written(&beat.member_id) == updated;
        self.review_expressions(brings_new, ctx);
        Ok(self.answer(beat, &before, ctx))
    }
    /// A member without what only passes with time; none where there are no expressions, for which nobody asks then.
    fn as_written(&self, id: &StrBytes) -> Option<Member> {
        let has_expressions = self.seem_different || !self.resolution.matches.is_empty();
        let member = self.members.get(id).filter(|_| has_expressions)?;
        Some(Member { session_until: Timestamp::EPOCH, revoke_until: None, ..member.clone() })
    }
    /// Takes over what a member says; tells whether that begins an epoch, and which assignor the members want now.
    fn update(&mut self, beat: &Heartbeat, ctx: &Context<'_>) -> (bool, Assignor) {
        let mut votes = self.votes();
        let first = ctx.settings.first_assignor();
        let before = votes.winner().unwrap_or(first);
        let Some(member) = self.members.get_mut(&beat.member_id) else { return (false, before) };
        let (topics, regex, asked) = (member.topics.clone(), member.regex.clone(), member.assignor);
        member.take_over(beat);
        member.session_until = ctx.now + ctx.timing.session_timeout;
        votes.change(asked, member.assignor);
        let assignor = votes.winner().unwrap_or(first);
        // An expression that nobody had counts when it is resolved.
        let is_known = member.regex.as_ref().is_none_or(|regex| self.resolution.matches.contains_key(regex));
        let is_other = member.topics != topics || (member.regex != regex && is_known);
        (is_other || assignor != before, assignor)
    }
    fn answer(&self, beat: &Heartbeat, before: &Assignment, ctx: &Context<'_>) -> Beaten {
        let member = self.members.get(&beat.member_id);
        let assignment = member.map(Member::assignment).unwrap_or_default();
        Beaten {
            epoch: member.map_or(0, |member| member.epoch),
            heartbeat_interval: ctx.timing.heartbeat_interval,
            assignment: Some(assignment).filter(|assignment| beat.is_full() || assignment != before),
        }
    }
}

impl Member {
    fn take_over(&mut self, beat: &Heartbeat) {
        self.client_id = beat.client_id.clone();
        self.client_host = beat.client_host.clone();
        // From here on it speaks the new protocol.
        self.classic = None;
        if let Some(rack) = &beat.rack_id {
            self.rack_id = Some(rack.clone());
        }
        if let Some(timeout) = beat.rebalance_timeout {
            self.rebalance_timeout = timeout;
        }
        if let Some(topics) = &beat.topics {
            self.topics.clone_from(topics);
        }
        if let Some(regex) = &beat.regex {
            self.regex = Some(regex.clone()).filter(|regex| !regex.is_empty());
        }
        if let Some(assignor) = beat.assignor {
            self.assignor = Some(assignor);
        }
    }
    /// Starts the time in which it has to give up what it was told to, once per epoch; ends it when it has.
    pub(super) fn renew_revocation(&mut self, before: (MemberState, i32), now: Timestamp) {
        if self.state != MemberState::UnrevokedPartitions || self.classic.is_some() {
            self.revoke_until = None;
        } else if before != (self.state, self.epoch) || self.revoke_until.is_none() {
            self.revoke_until = Some(now + self.rebalance_timeout);
        }
    }
}

/// Partitions as a request lists them.
pub(crate) fn owned(listed: impl IntoIterator<Item = (Uuid, Vec<i32>)>) -> Assignment {
    let mut owned = Assignment::new();
    for (topic, partitions) in listed {
        owned.entry(topic).or_default().extend(partitions);
    }
    owned
}
