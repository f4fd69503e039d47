//! Members of a consumer group that still speak the classic protocol (KIP-848's online migration). JoinGroup, SyncGroup, Heartbeat and
//! LeaveGroup act on the same members: a JoinGroup is their heartbeat, their generation is their epoch, and a rebalance is only theirs.

use super::super::classic::join::Joining;
use super::super::classic::leave::Leaver;
use super::super::classic::member::Member as ClassicMember;
use super::super::classic::{ClassicGroup, State as ClassicState, refused_join, refused_sync};
use super::super::embedded::{self, Named, Subscription};
use super::super::protocols::common;
use super::assignor::Assignor;
use super::member::{Assignment, ClassicPart, Member, MemberState, Owned};
use super::{ConsumerGroup, Context, GoingBack};
use crate::broker::topics::Topics;
use millstream_protocol::messages::{JoinGroupResponse, StrBytes, SyncGroupRequest, SyncGroupResponse};
use millstream_protocol::{ErrorCode, Timestamp};
use std::collections::BTreeSet;

/// The only protocol type that has both forms.
pub(crate) const CONSUMER: &str = "consumer";

// A classic group becomes a consumer group, and back.
impl ConsumerGroup {
    /// Takes over a classic group as it stands: generation, members, what they own. Says why it cannot.
    pub(crate) fn from_classic(classic: &ClassicGroup, topics: &Topics, now: Timestamp) -> Result<Self, &'static str> {
        let mut group = Self::new(classic.id.clone());
        group.epoch = classic.generation.max(1);
        group.assignment_epoch = group.epoch;
        for member in classic.members.values() {
            let member = migrate(member, classic, group.epoch, topics, now)?;
            group.targets.insert(member.id.clone(), member.assignment());
            group.members.insert(member.id.clone(), member);
        }
        Ok(group)
    }
    /// Takes what there is to become a classic group for, if all that are left speak that protocol.
    pub(crate) fn take_going_back(&mut self) -> Option<GoingBack> {
        self.going_back.take().filter(|_| self.is_classic())
    }
    /// Whether members are left, all of which speak the classic protocol.
    pub(crate) fn is_classic(&self) -> bool {
        !self.members.is_empty() && self.members.values().all(|member| member.classic.is_some())
    }
    /// The classic group of the same members, in the same generation.
    pub(crate) fn to_classic(&self, topics: &Topics, now: Timestamp) -> ClassicGroup {
        let mut classic = ClassicGroup::new(self.id.clone());
        classic.generation = self.epoch;
        classic.protocol_type = Some(StrBytes::from_static_str(CONSUMER));
        for member in self.members.values() {
            let Some(part) = &member.classic else { continue };
            // What it is to have, not what it has come to yet.
            let target = self.target_of(&member.id);
            classic.members.insert(member.id.clone(), classic_member(member, part, &target, topics, now));
        }
        classic.leader = classic.members.keys().next().cloned();
        classic.protocol = classic.select_protocol();
        classic.subscribed = classic.read_subscriptions();
        classic.state = ClassicState::Stable;
        classic
    }
}
fn migrate(
    member: &ClassicMember,
    classic: &ClassicGroup,
    epoch: i32,
    topics: &Topics,
    now: Timestamp,
) -> Result<Member, &'static str> {
    const MALFORMED: &str = "the embedded consumer protocol is malformed.";
    let protocol = classic.protocol.clone().or_else(|| member.protocols.first().map(|(name, _)| name.clone()));
    let subscription =
        Subscription::read(&member.metadata(protocol.as_deref().unwrap_or_default())).ok_or(MALFORMED)?;
    let assignment = if member.assignment.is_empty() {
        embedded::Assignment::default()
    } else {
        embedded::Assignment::read(&member.assignment).ok_or(MALFORMED)?
    };
    if assignment.user_data.as_ref().is_some_and(|data| !data.is_empty()) {
        return Err(
            "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default assignor before re-attempting the upgrade.",
        );
    }
    Ok(Member {
        instance_id: member.instance_id.clone(),
        rack_id: subscription.rack,
        client_id: member.client_id.clone(),
        client_host: member.client_host.clone(),
        rebalance_timeout: member.rebalance_timeout,
        topics: subscription.topics.into_iter().collect(),
        epoch,
        previous_epoch: epoch,
        assigned: given(&ids(&assignment.partitions, topics), epoch),
        classic: Some(ClassicPart {
            session_timeout: member.session_timeout,
            protocols: member.protocols.clone(),
            answer_until: None,
        }),
        session_until: now + member.session_timeout,
        ..Member::new(member.id.clone(), now)
    })
}
fn classic_member(
    member: &Member,
    part: &ClassicPart,
    target: &Assignment,
    topics: &Topics,
    now: Timestamp,
) -> ClassicMember {
    ClassicMember {
        id: member.id.clone(),
        instance_id: member.instance_id.clone(),
        client_id: member.client_id.clone(),
        client_host: member.client_host.clone(),
        session_timeout: part.session_timeout,
        rebalance_timeout: member.rebalance_timeout,
        protocols: part.protocols.clone(),
        assignment: embedded::Assignment::write(&names(target, topics), version_of(part)),
        awaiting_join: None,
        awaiting_sync: None,
        has_synced: true,
        last_seen: now,
    }
}
fn given(assignment: &Assignment, epoch: i32) -> Owned {
    let with_epoch = |partitions: &BTreeSet<i32>| partitions.iter().map(|p| (*p, epoch)).collect();
    assignment.iter().map(|(topic, partitions)| (*topic, with_epoch(partitions))).collect()
}
fn ids(named: &Named, topics: &Topics) -> Assignment {
    let known = named.iter().filter_map(|(name, partitions)| Some((topics.find(name)?.id, partitions)));
    known.map(|(id, partitions)| (id, partitions.iter().copied().collect())).collect()
}
fn names(assignment: &Assignment, topics: &Topics) -> Named {
    let known = assignment.iter().filter_map(|(id, partitions)| Some((topics.name_of(*id)?.clone(), partitions)));
    known.map(|(name, partitions)| (name, partitions.iter().copied().collect())).collect()
}
/// The version in which a member reads and writes.
fn version_of(part: &ClassicPart) -> i16 {
    let subscription = part.protocols.first().and_then(|(_, metadata)| Subscription::read(metadata));
    subscription.map_or(0, |subscription| subscription.version)
}

// What members of the classic protocol ask.
impl ConsumerGroup {
    /// Takes a JoinGroup in. It is answered at once: there is nobody to wait for.
    pub(crate) fn handle_classic_join(&mut self, joining: Joining, ctx: &Context<'_>) -> JoinGroupResponse {
        self.try_classic_join(joining, ctx).unwrap_or_else(|(code, given)| refused_join(code, given))
    }
    fn try_classic_join(
        &mut self,
        joining: Joining,
        ctx: &Context<'_>,
    ) -> Result<JoinGroupResponse, (ErrorCode, StrBytes)> {
        let refused = |code: ErrorCode| (code, StrBytes::new());
        self.check_room(&joining.member_id, ctx.settings.max_size).map_err(|(code, _)| refused(code))?;
        let (protocol, subscription) =
            self.common_protocol(&joining).ok_or(refused(ErrorCode::INCONSISTENT_GROUP_PROTOCOL))?;
        if joining.member_id.is_empty() && joining.must_know_its_id() {
            return Err((ErrorCode::MEMBER_ID_REQUIRED, joining.fresh_id));
        }
        let subscriptions = self.known_subscriptions();
        let id = self.classic_sender(&joining, ctx.now).map_err(refused)?;
        let is_changed = self.take_over_classic(&id, &joining, &subscription, ctx);
        let going_back = self.going_back_now(is_changed, ctx);
        if going_back.is_none() {
            let subscriptions = self.refresh_epoch(is_changed, subscriptions, ctx);
            self.refresh_target(self.assignor_with(&id, ctx), subscriptions, ctx);
        }
        // Who shares anew at once has nothing to come to.
        if !matches!(going_back, Some(GoingBack::Replaced { shares_anew: true })) {
            self.reconcile_classic(&id, &subscription, ctx);
        }
        self.going_back = going_back;
        self.review_expressions(false, ctx);
        Ok(self.joined(&id, protocol, ctx.now))
    }
    /// How the group becomes a classic one by the member that joined just now, if it does: what it was to share anew, it still is.
    fn going_back_now(&mut self, is_changed: bool, ctx: &Context<'_>) -> Option<GoingBack> {
        self.going_back.take().filter(|_| self.is_classic() && ctx.settings.migration.allows_downgrade())?;
        let shares_anew = is_changed || self.epoch > self.assignment_epoch || self.has_news(ctx.topics);
        Some(GoingBack::Replaced { shares_anew })
    }
    fn reconcile_classic(&mut self, id: &StrBytes, subscription: &Subscription, ctx: &Context<'_>) {
        let member = self.members.get(id);
        // What it owned in another generation it owns no more.
        let is_current = subscription.generation.is_none_or(|generation| member.is_some_and(|m| m.epoch == generation));
        let owned = if is_current { ids(&subscription.owned, ctx.topics) } else { Assignment::new() };
        self.reconcile(id, Some(&owned), ctx);
    }
    /// The assignor that the members want once this one was heard, who asks for none in this protocol.
    fn assignor_with(&self, id: &StrBytes, ctx: &Context<'_>) -> Assignor {
        let (mut votes, asked) = (self.votes(), self.members.get(id).and_then(|member| member.assignor));
        votes.change(asked, asked);
        votes.winner().unwrap_or(ctx.settings.first_assignor())
    }
    /// Finds the sender of a JoinGroup, or takes it in.
    fn classic_sender(&mut self, joining: &Joining, now: Timestamp) -> Result<StrBytes, ErrorCode> {
        if let Some(instance_id) = joining.instance_id.as_ref() {
            return self.classic_static(joining, instance_id, now);
        }
        // An id that nobody has is one that the broker gave and is yet to be used, or a client's own.
        let id = if joining.member_id.is_empty() { &joining.fresh_id } else { &joining.member_id };
        self.members.entry(id.clone()).or_insert_with(|| Member::new(id.clone(), now));
        Ok(id.clone())
    }
    fn classic_static(
        &mut self,
        joining: &Joining,
        instance_id: &StrBytes,
        now: Timestamp,
    ) -> Result<StrBytes, ErrorCode> {
        if !joining.member_id.is_empty() {
            return self
                .check_static(&joining.member_id, instance_id)
                .map(|member| member.id.clone())
                .map_err(|(code, _)| code);
        }
        let id = joining.fresh_id.clone();
        match self.find_static(instance_id).map(|member| (member.id.clone(), member.classic.is_some())) {
            Some((old_id, was_classic)) => {
                self.replace(&old_id, &id, now);
                self.going_back = (!was_classic).then_some(GoingBack::Replaced { shares_anew: false });
            }
            None => {
                let member = Member { instance_id: Some(instance_id.clone()), ..Member::new(id.clone(), now) };
                self.members.insert(id.clone(), member);
            }
        }
        Ok(id)
    }
    /// The sender's first protocol, and what it says in it, if it offers one that all of its kind support. What it said itself last counts,
    /// too.
    fn common_protocol(&self, joining: &Joining) -> Option<(StrBytes, Subscription)> {
        if joining.protocol_type.as_str() != CONSUMER {
            return None;
        }
        let parts = self.members.values().filter_map(|member| member.classic.as_ref());
        let common = common(parts.map(|part| &part.protocols));
        let is_common = |name: &StrBytes| common.as_ref().is_none_or(|common| common.contains(name));
        if !joining.protocols.iter().any(|(name, _)| is_common(name)) {
            return None;
        }
        let (name, metadata) = joining.protocols.first()?;
        Some((name.clone(), Subscription::read(metadata)?))
    }
    fn take_over_classic(
        &mut self,
        id: &StrBytes,
        joining: &Joining,
        subscription: &Subscription,
        ctx: &Context<'_>,
    ) -> bool {
        let Some(member) = self.members.get_mut(id) else { return false };
        let topics = subscription.topics.iter().cloned().collect();
        // Who speaks this protocol has no expression.
        let is_changed = member.regex.take().is_some() || member.topics != topics;
        member.topics = topics;
        member.client_id = joining.call.client_id.clone();
        member.client_host = joining.call.host.clone();
        member.rebalance_timeout = joining.rebalance_timeout;
        member.rack_id.clone_from(&subscription.rack);
        member.session_until = ctx.now + joining.session_timeout;
        member.classic = Some(ClassicPart {
            session_timeout: joining.session_timeout,
            protocols: joining.protocols.clone(),
            answer_until: None,
        });
        is_changed
    }
    fn joined(&mut self, id: &StrBytes, protocol: StrBytes, now: Timestamp) -> JoinGroupResponse {
        let timeout = self.members.get(id).map(|member| member.rebalance_timeout).unwrap_or_default();
        self.await_answer(id, Some(now + timeout));
        JoinGroupResponse::default()
            .with_generation_id(self.members.get(id).map_or(-1, |member| member.epoch))
            .with_protocol_type(Some(StrBytes::from_static_str(CONSUMER)))
            .with_protocol_name(Some(protocol))
            .with_member_id(id.clone())
    }
    fn await_answer(&mut self, id: &StrBytes, until: Option<Timestamp>) {
        if let Some(part) = self.members.get_mut(id).and_then(|member| member.classic.as_mut()) {
            part.answer_until = until;
        }
    }
    /// Takes a SyncGroup in.
    pub(crate) fn handle_classic_sync(&mut self, request: &SyncGroupRequest, ctx: &Context<'_>) -> SyncGroupResponse {
        self.try_classic_sync(request, ctx).unwrap_or_else(refused_sync)
    }
    fn try_classic_sync(
        &mut self,
        request: &SyncGroupRequest,
        ctx: &Context<'_>,
    ) -> Result<SyncGroupResponse, ErrorCode> {
        let instance_id = request.group_instance_id.as_deref();
        let (member, part) = self.classic_member(&request.member_id, instance_id, request.generation_id)?;
        let is_type = request.protocol_type.as_ref().is_none_or(|kind| kind.as_str() == CONSUMER);
        let protocol = part.protocols.first().map(|(name, _)| name.clone());
        let is_protocol = request.protocol_name.is_none() || request.protocol_name == protocol;
        if !is_type || !is_protocol {
            return Err(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
        }
        let id = member.id.clone();
        // An epoch without a target is nothing to join for.
        if self.assignment_epoch > member.epoch && member.state != MemberState::UnrevokedPartitions {
            let until = ctx.now + member.rebalance_timeout;
            self.await_answer(&id, Some(until));
            return Err(ErrorCode::REBALANCE_IN_PROGRESS);
        }
        let assignment = embedded::Assignment::write(&names(&member.assignment(), ctx.topics), version_of(part));
        self.await_answer(&id, None);
        self.renew_session(&id, ctx.now);
        Ok(SyncGroupResponse::default()
            .with_protocol_type(Some(StrBytes::from_static_str(CONSUMER)))
            .with_protocol_name(protocol)
            .with_assignment(assignment))
    }
    fn classic_member(
        &self,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
    ) -> Result<(&Member, &ClassicPart), ErrorCode> {
        if let Some(instance_id) = instance_id {
            self.check_static(member_id, instance_id).map_err(|(code, _)| code)?;
        }
        let member = self.members.get(member_id.as_bytes()).ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?;
        let part = member.classic.as_ref().ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?;
        if member.epoch == generation { Ok((member, part)) } else { Err(ErrorCode::ILLEGAL_GENERATION) }
    }
    fn renew_session(&mut self, id: &StrBytes, now: Timestamp) {
        if let Some(member) = self.members.get_mut(id)
            && let Some(part) = &member.classic
        {
            member.session_until = now + part.session_timeout;
        }
    }
    /// Takes a Heartbeat in: it says whether the member has to join again.
    pub(crate) fn handle_classic_heartbeat(
        &mut self,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
        ctx: &Context<'_>,
    ) -> Result<(), ErrorCode> {
        let (member, _) = self.classic_member(member_id, instance_id, generation)?;
        let has_news = match member.state {
            MemberState::UnrevokedPartitions => true,
            MemberState::UnreleasedPartitions => !self.waits_for_others(member),
            MemberState::Stable => false,
        };
        let (id, timeout) = (member.id.clone(), member.rebalance_timeout);
        let must_rejoin = has_news || member.epoch < self.assignment_epoch;
        self.renew_session(&id, ctx.now);
        if !must_rejoin {
            return Ok(());
        }
        let is_told = self.members.get(&id).and_then(|member| member.classic.as_ref()?.answer_until).is_some();
        if !is_told {
            self.await_answer(&id, Some(ctx.now + timeout));
        }
        Err(ErrorCode::REBALANCE_IN_PROGRESS)
    }
    /// Lets members go that LeaveGroup names, whichever protocol they speak, all in one epoch.
    pub(crate) fn handle_classic_leaves(
        &mut self,
        leavers: &[Leaver<'_>],
        ctx: &Context<'_>,
    ) -> Vec<Result<(), ErrorCode>> {
        let found: Vec<_> = leavers.iter().map(|(id, instance_id)| self.classic_leaver(id, *instance_id)).collect();
        let ids: BTreeSet<&StrBytes> = found.iter().flatten().collect();
        ids.iter().for_each(|id| self.remove(id));
        if !ids.is_empty() {
            self.bump_after_loss(ctx);
        }
        found.into_iter().map(|found| found.map(drop)).collect()
    }
    fn classic_leaver(&self, member_id: &str, instance_id: Option<&str>) -> Result<StrBytes, ErrorCode> {
        let Some(instance_id) = instance_id else {
            let member = self.members.get(member_id.as_bytes()).ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?;
            return Ok(member.id.clone());
        };
        let holder = self.find_static(instance_id).ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?;
        // An administrator names a static member by its instance id alone.
        if member_id.is_empty() || holder.id.as_str() == member_id {
            Ok(holder.id.clone())
        } else {
            Err(ErrorCode::FENCED_INSTANCE_ID)
        }
    }
}
