//! How members get their assignment, and how they show that they are there.

use super::{ClassicGroup, Rules, State};
use crate::broker::call::Call;
use crate::broker::own;
use bytes::Bytes;
use millstream_protocol::ErrorCode;
use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::{StrBytes, SyncGroupRequest};

impl ClassicGroup {
    /// Takes a SyncGroup in; its answer comes with the leader's.
    pub(crate) fn handle_sync(&mut self, call: Call, request: SyncGroupRequest, rules: &Rules) {
        if let Err(code) = self.check_sync(&request) {
            return self.refuse_sync(call, code);
        }
        let id = request.member_id.clone();
        let Some(member) = self.members.get_mut(&id) else { return };
        member.has_synced = true;
        member.last_seen = rules.now;
        if self.state == State::Stable {
            let assignment = member.assignment.clone();
            return self.reply_sync(call, assignment);
        }
        let before = member.awaiting_sync.replace(call);
        if let Some(call) = before {
            self.refuse_sync(call, ErrorCode::REBALANCE_IN_PROGRESS);
        }
        if self.is_leader(&id) {
            let given = request.assignments.into_iter().map(|each| (each.member_id, own::bytes(&each.assignment)));
            self.assign(given.collect(), rules);
        }
    }
    fn check_sync(&self, request: &SyncGroupRequest) -> Result<(), ErrorCode> {
        self.check_member(&request.member_id, request.group_instance_id.as_deref())?;
        self.check_generation(request.generation_id)?;
        let differs = |asked: &Option<StrBytes>, ours: &Option<StrBytes>| asked.is_some() && asked != ours;
        if differs(&request.protocol_type, &self.protocol_type) || differs(&request.protocol_name, &self.protocol) {
            return Err(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
        }
        match self.state {
            State::Empty => Err(ErrorCode::UNKNOWN_MEMBER_ID),
            State::PreparingRebalance { .. } => Err(ErrorCode::REBALANCE_IN_PROGRESS),
            State::CompletingRebalance | State::Stable => Ok(()),
        }
    }
    fn assign(&mut self, mut given: HashMap<StrBytes, Bytes>, rules: &Rules) {
        self.state = State::Stable;
        let mut held = Vec::new();
        for member in self.members.values_mut() {
            member.assignment = given.remove(&member.id).unwrap_or_default();
            if let Some(call) = member.awaiting_sync.take() {
                member.last_seen = rules.now;
                held.push((call, member.assignment.clone()));
            }
        }
        held.into_iter().for_each(|(call, assignment)| self.reply_sync(call, assignment));
    }
    /// Drops members that have not asked for their assignment in time.
    pub(super) fn expire_sync(&mut self, rules: &Rules) {
        if self.sync_until.is_none_or(|until| until > rules.now) {
            return;
        }
        self.sync_until = None;
        let late: Vec<StrBytes> =
            self.members.values().filter(|member| !member.has_synced).map(|member| member.id.clone()).collect();
        late.iter().for_each(|id| self.remove_and_rebalance(id, rules));
    }
    /// Takes a heartbeat in.
    pub(crate) fn handle_heartbeat(
        &mut self,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
        rules: &Rules,
    ) -> Result<(), ErrorCode> {
        self.check_member(member_id, instance_id)?;
        self.check_generation(generation)?;
        if let Some(member) = self.members.get_mut(member_id.as_bytes()) {
            member.last_seen = rules.now;
        }
        match self.state {
            State::Empty => Err(ErrorCode::UNKNOWN_MEMBER_ID),
            State::PreparingRebalance { .. } => Err(ErrorCode::REBALANCE_IN_PROGRESS),
            State::CompletingRebalance | State::Stable => Ok(()),
        }
    }
    /// A commit shows that a member is there, as a heartbeat does.
    pub(crate) fn touch(&mut self, member_id: &str, rules: &Rules) {
        if let Some(member) = self.members.get_mut(member_id.as_bytes()) {
            member.last_seen = rules.now;
        }
    }
}
