//! How members come into a group, and how a rebalance gathers them.

use super::member::Member;
use super::{ClassicGroup, Initial, Rules, State};
use crate::broker::call::Call;
use bytes::Bytes;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{JoinGroupResponse, StrBytes};
use std::time::Duration;

/// A JoinGroup request, its versions' differences resolved.
#[derive(Debug)]
pub(crate) struct Joining {
    pub(crate) call: Call,
    pub(crate) member_id: StrBytes,
    pub(crate) instance_id: Option<StrBytes>,
    /// The id that the member gets if it has none.
    pub(crate) fresh_id: StrBytes,
    pub(crate) session_timeout: Duration,
    pub(crate) rebalance_timeout: Duration,
    pub(crate) protocol_type: StrBytes,
    pub(crate) protocols: Vec<(StrBytes, Bytes)>,
}
impl Joining {
    /// From version 4 on, a member must have been given its id before it counts (KIP-394).
    pub(crate) fn must_know_its_id(&self) -> bool {
        self.call.version >= 4 && self.instance_id.is_none()
    }
    fn into_member(self, id: StrBytes, rules: &Rules) -> Member {
        Member {
            id,
            instance_id: self.instance_id,
            client_id: self.call.client_id.clone(),
            client_host: self.call.host.clone(),
            session_timeout: self.session_timeout,
            rebalance_timeout: self.rebalance_timeout,
            protocols: self.protocols,
            assignment: Bytes::new(),
            awaiting_join: Some(self.call),
            awaiting_sync: None,
            has_synced: false,
            last_seen: rules.now,
        }
    }
}

impl ClassicGroup {
    /// Takes a JoinGroup in; its answer comes with the generation, or at once when it is refused.
    pub(crate) fn handle_join(&mut self, joining: Joining, rules: &Rules) {
        match self.admit(&joining, rules) {
            Err(code) => self.refuse_join(joining.call, code, joining.member_id),
            Ok(()) if joining.member_id.is_empty() => self.join_without_id(joining, rules),
            Ok(()) => self.join_with_id(joining, rules),
        }
        self.try_complete_join(rules);
        self.expire_join(rules);
    }
    fn admit(&self, joining: &Joining, rules: &Rules) -> Result<(), ErrorCode> {
        let is_member = self.members.contains_key(joining.member_id.as_bytes());
        let is_replacing = joining.instance_id.as_deref().is_some_and(|id| self.find_static(id).is_some());
        if !is_member && !is_replacing && self.members.len() >= rules.max_size {
            return Err(ErrorCode::GROUP_MAX_SIZE_REACHED);
        }
        if self.agrees_with(joining) { Ok(()) } else { Err(ErrorCode::INCONSISTENT_GROUP_PROTOCOL) }
    }
    fn agrees_with(&self, joining: &Joining) -> bool {
        if joining.protocol_type.is_empty() || joining.protocols.is_empty() {
            return false;
        }
        if self.members.is_empty() {
            return true;
        }
        // What the member itself said last counts, too.
        let common = self.common_protocols();
        self.protocol_type.as_ref() == Some(&joining.protocol_type)
            && joining.protocols.iter().any(|(name, _)| common.contains(name))
    }
    fn join_without_id(&mut self, joining: Joining, rules: &Rules) {
        let replaced =
            joining.instance_id.as_deref().and_then(|id| self.find_static(id)).map(|member| member.id.clone());
        if let Some(old_id) = replaced {
            return self.replace_static(&old_id, joining, rules);
        }
        let id = joining.fresh_id.clone();
        if joining.must_know_its_id() {
            self.pending.insert(id.clone(), rules.now + joining.session_timeout);
            return self.refuse_join(joining.call, ErrorCode::MEMBER_ID_REQUIRED, id);
        }
        self.add(id, joining, rules);
    }
    fn join_with_id(&mut self, joining: Joining, rules: &Rules) {
        let id = joining.member_id.clone();
        if joining.instance_id.is_some() && self.pending.contains_key(&id) {
            // A static member is given no id beforehand; Kafka does not count on one that says so.
            return self.refuse_join(joining.call, ErrorCode::UNKNOWN_SERVER_ERROR, StrBytes::new());
        }
        if self.pending.remove(&id).is_some() {
            return self.add(id, joining, rules);
        }
        if let Err(code) = self.check_member(&id, joining.instance_id.as_deref()) {
            return self.refuse_join(joining.call, code, id);
        }
        let is_same = self.members.get(&id).is_some_and(|member| member.protocols == joining.protocols);
        let is_repeat = match self.state {
            State::CompletingRebalance => is_same,
            // A leader that joins again wants a rebalance: it has seen something change.
            State::Stable => is_same && !self.is_leader(&id),
            State::Empty | State::PreparingRebalance { .. } => false,
        };
        if is_repeat {
            return self.repeat_join(&id, joining.call, rules);
        }
        self.update(&id, joining, rules);
        self.prepare_rebalance(rules);
    }

    fn add(&mut self, id: StrBytes, joining: Joining, rules: &Rules) {
        if self.members.is_empty() {
            self.protocol_type = Some(joining.protocol_type.clone());
        }
        self.leader.get_or_insert_with(|| id.clone());
        self.members.insert(id.clone(), joining.into_member(id, rules));
        if let State::PreparingRebalance { initial: Some(initial), .. } = &mut self.state {
            initial.has_new_member = true;
        }
        self.prepare_rebalance(rules);
    }
    fn update(&mut self, id: &StrBytes, joining: Joining, rules: &Rules) {
        let Some(old) = self.members.remove(id) else { return };
        let (held_join, held_sync, assignment) = (old.awaiting_join, old.awaiting_sync, old.assignment);
        // Whoever was static stays so, whatever it says now.
        let instance_id = old.instance_id;
        let member = Member { assignment, instance_id, ..joining.into_member(id.clone(), rules) };
        self.members.insert(id.clone(), member);
        // A client that asks again has given up on its first call; it is answered all the same, so that its connection goes on.
        if let Some(call) = held_join {
            self.refuse_join(call, ErrorCode::REBALANCE_IN_PROGRESS, id.clone());
        }
        if let Some(call) = held_sync {
            self.refuse_sync(call, ErrorCode::REBALANCE_IN_PROGRESS);
        }
    }
    /// Answers a member that is already part of this generation.
    fn repeat_join(&mut self, id: &StrBytes, call: Call, rules: &Rules) {
        if let Some(member) = self.members.get_mut(id) {
            member.last_seen = rules.now;
        }
        let response = self.generation_for(id);
        self.reply_join(call, response);
    }
    /// A static member came back under a new id: the old holder is fenced, and nothing is rebalanced if nothing changed (KIP-345, KIP-814).
    fn replace_static(&mut self, old_id: &StrBytes, joining: Joining, rules: &Rules) {
        let Some(mut old) = self.members.remove(old_id) else { return };
        let id = joining.fresh_id.clone();
        let was_leader = self.is_leader(old_id);
        if was_leader {
            self.leader = Some(id.clone());
        }
        if let Some(call) = old.awaiting_join.take() {
            self.refuse_join(call, ErrorCode::FENCED_INSTANCE_ID, old_id.clone());
        }
        if let Some(call) = old.awaiting_sync.take() {
            self.refuse_sync(call, ErrorCode::FENCED_INSTANCE_ID);
        }
        let call = joining.call.clone();
        let assignment = old.assignment;
        let mut member = Member { assignment, has_synced: old.has_synced, ..joining.into_member(id.clone(), rules) };
        let stays = self.state == State::Stable;
        if stays {
            member.awaiting_join = None;
        }
        self.members.insert(id.clone(), member);
        if stays && self.select_protocol() == self.protocol {
            let response = self.returning_static(&id, old_id, was_leader, call.version);
            return self.reply_join(call, response);
        }
        if let Some(member) = self.members.get_mut(&id) {
            member.awaiting_join = Some(call);
        }
        self.prepare_rebalance(rules);
    }
    // Before version 9 a returning leader is told that its old self still leads, so that it does not assign anew.
    fn returning_static(&self, id: &StrBytes, old_id: &StrBytes, was_leader: bool, version: i16) -> JoinGroupResponse {
        let response = self.generation_for(id);
        match (was_leader, version >= 9) {
            (true, true) => response.with_skip_assignment(true),
            (true, false) => response.with_leader(old_id.clone()).with_members(Vec::new()),
            (false, _) => response,
        }
    }

    /// Begins a rebalance, unless one is being prepared.
    pub(super) fn prepare_rebalance(&mut self, rules: &Rules) {
        match self.state {
            State::PreparingRebalance { .. } => return,
            State::Empty => self.delay_first(rules),
            State::CompletingRebalance => {
                self.drop_assignments();
                self.await_members(rules);
            }
            State::Stable => self.await_members(rules),
        }
        self.sync_until = None;
    }
    fn delay_first(&mut self, rules: &Rules) {
        let remaining = self.max_rebalance_timeout().saturating_sub(rules.initial_delay);
        let initial = Some(Initial { remaining, has_new_member: false });
        self.state = State::PreparingRebalance { until: rules.now + rules.initial_delay, initial };
    }
    fn await_members(&mut self, rules: &Rules) {
        // A wait of no length would be over again and again.
        let wait = self.max_rebalance_timeout().max(Duration::from_millis(1));
        self.state = State::PreparingRebalance { until: rules.now + wait, initial: None };
    }
    fn drop_assignments(&mut self) {
        let mut held = Vec::new();
        for member in self.members.values_mut() {
            member.assignment = Bytes::new();
            held.extend(member.awaiting_sync.take());
        }
        held.into_iter().for_each(|call| self.refuse_sync(call, ErrorCode::REBALANCE_IN_PROGRESS));
    }
    /// Ends the wait when everybody is here.
    pub(super) fn try_complete_join(&mut self, rules: &Rules) {
        let State::PreparingRebalance { initial: None, .. } = self.state else { return };
        if self.pending.is_empty() && self.members.values().all(|member| member.awaiting_join.is_some()) {
            self.complete_join(rules);
        }
    }
    /// Ends the wait when its time is up.
    pub(super) fn expire_join(&mut self, rules: &Rules) {
        let State::PreparingRebalance { until, initial } = self.state else { return };
        if until > rules.now {
            return;
        }
        match initial {
            Some(Initial { remaining, has_new_member: true }) if remaining > Duration::ZERO => {
                let more = rules.initial_delay.min(remaining);
                let initial = Some(Initial { remaining: remaining.saturating_sub(more), has_new_member: false });
                self.state = State::PreparingRebalance { until: rules.now + more, initial };
            }
            _ => self.complete_join(rules),
        }
    }
    fn complete_join(&mut self, rules: &Rules) {
        // A static member that has not come back keeps its place until its session ends.
        let gone = |member: &Member| member.awaiting_join.is_none() && !member.is_static();
        self.members.retain(|_, member| !gone(member));
        if !self.members.is_empty() && self.members.values().all(|member| member.awaiting_join.is_none()) {
            return self.await_members(rules);
        }
        self.generation += 1;
        self.elect_leader();
        self.protocol = self.select_protocol();
        self.subscribed = self.read_subscriptions();
        if self.members.is_empty() {
            self.state = State::Empty;
            return;
        }
        self.state = State::CompletingRebalance;
        self.sync_until = Some(rules.now + self.max_rebalance_timeout());
        self.announce_generation(rules);
    }
    fn elect_leader(&mut self) {
        let has_joined = |id: &StrBytes| self.members.get(id).is_some_and(|member| member.awaiting_join.is_some());
        if !self.leader.as_ref().is_some_and(has_joined) {
            self.leader =
                self.members.values().find(|member| member.awaiting_join.is_some()).map(|member| member.id.clone());
        }
    }
    fn announce_generation(&mut self, rules: &Rules) {
        let mut held = Vec::new();
        for member in self.members.values_mut() {
            member.has_synced = false;
            member.last_seen = rules.now;
            held.extend(member.awaiting_join.take().map(|call| (member.id.clone(), call)));
        }
        for (id, call) in held {
            let response = self.generation_for(&id);
            self.reply_join(call, response);
        }
    }
    fn generation_for(&self, id: &StrBytes) -> JoinGroupResponse {
        let members = if self.is_leader(id) { self.members_for_leader() } else { Vec::new() };
        JoinGroupResponse::default()
            .with_generation_id(self.generation)
            .with_protocol_type(self.protocol_type.clone())
            .with_protocol_name(self.protocol.clone())
            .with_leader(self.leader.clone().unwrap_or_default())
            .with_member_id(id.clone())
            .with_members(members)
    }
}
