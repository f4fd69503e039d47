//! JoinGroup: asking to be let in, and what each answer means.

use super::{Action, Call, ErrorCode, Failure, Forget, GroupMember, Member, RebalanceMode, State};
use crate::group::Subscription;
use bytes::Bytes;
use millstream_protocol::messages::JoinGroupResponse;
use millstream_protocol::messages::join_group_response::JoinGroupResponseMember;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How much longer than the rebalance itself its answers may take.
const SLACK: Duration = Duration::from_secs(5);

impl Member {
    /// What JoinGroup brought.
    pub fn handle_join(&mut self, now: Instant, call: Call, answer: Result<JoinGroupResponse, Failure>) {
        if !matches!(self.state, State::Joining(waited_for) if waited_for == call) {
            return;
        }
        match answer {
            Ok(response) => self.joined(now, response),
            Err(failure) => self.fail_transport(now, failure),
        }
    }

    pub(super) fn start_join(&mut self) -> Action {
        let protocols = self.protocols();
        let request = self.identity.join(&self.config, protocols, self.reason);
        let call = self.next_call();
        self.state = State::Joining(call);
        self.join_again = false;
        self.rebalance_ends = None;
        self.watched = None;
        Action::Join(call, Box::new(request), self.answer_timeout())
    }
    pub(super) fn answer_timeout(&self) -> Duration {
        self.config.rebalance_timeout.max(self.config.session_timeout).saturating_add(SLACK)
    }
    fn protocols(&mut self) -> Vec<(String, Bytes)> {
        let mut subscription = Subscription::to(self.topics.clone());
        subscription.owned = self.owned.iter().cloned().collect();
        subscription.generation = Some(self.identity.generation).filter(|generation| *generation >= 0);
        subscription.rack = self.config.rack.clone();
        let mut protocols = Vec::with_capacity(self.assignors.len());
        for assignor in &mut self.assignors {
            subscription.user_data = assignor.subscription_user_data(&self.topics, &self.owned);
            protocols.push((assignor.name().to_owned(), subscription.encode()));
        }
        protocols
    }

    fn joined(&mut self, now: Instant, response: JoinGroupResponse) {
        match ErrorCode::new(response.error_code) {
            ErrorCode::NONE => self.admitted(now, response),
            // The id that the coordinator wants to see first (KIP-394): not a failure.
            ErrorCode::MEMBER_ID_REQUIRED => {
                self.identity.member_id = response.member_id.to_string();
                self.state = State::Preparing(now);
            }
            ErrorCode::UNKNOWN_MEMBER_ID => self.lose_and_rejoin(now, Forget::Member),
            ErrorCode::ILLEGAL_GENERATION => self.lose_and_rejoin(now, Forget::Generation),
            code if code.refreshes_coordinator() => self.retry_elsewhere(now),
            ErrorCode::REBALANCE_IN_PROGRESS => self.retry(now),
            code if code.is_retriable() => self.retry(now),
            code => self.fail_refused("let this member in", code),
        }
    }
    fn admitted(&mut self, now: Instant, response: JoinGroupResponse) {
        self.attempts = 0;
        self.identity.generation = response.generation_id;
        self.identity.member_id = response.member_id.to_string();
        self.heartbeats.restart(now, self.config.heartbeat_interval);
        let name = response.protocol_name.as_deref().unwrap_or_default();
        let Some(picked) = self.assignors.iter().position(|assignor| assignor.name() == name) else {
            return self.fail_protocol(format!("the coordinator picked the protocol `{name}`, which was not offered"));
        };
        self.picked = Some(picked);
        // An upgrade back to an eager protocol: the others have let go of everything, so nothing here is this member's.
        if self.mode() == RebalanceMode::Eager {
            self.lose();
        }
        if response.leader == response.member_id {
            self.lead(response.members, response.skip_assignment);
        } else {
            self.follow(Vec::new());
        }
    }
    pub(super) fn follow(&mut self, assignments: Vec<(String, Bytes)>) {
        let protocol = self.picked.and_then(|index| self.assignors.get(index)).map_or("", |assignor| assignor.name());
        self.state = State::Joined(Box::new(self.identity.sync(protocol, assignments)));
    }
    fn lead(&mut self, members: Vec<JoinGroupResponseMember>, skip_assignment: bool) {
        let members: Vec<GroupMember> = members.into_iter().filter_map(|member| self.group_member(member)).collect();
        let topics: BTreeSet<_> =
            members.iter().flat_map(|member| member.subscription.topics.iter().cloned()).collect();
        self.watched = Some(topics.iter().map(|topic| (topic.clone(), None)).collect::<BTreeMap<_, _>>());
        if skip_assignment {
            return self.follow(Vec::new());
        }
        let call = self.next_call();
        self.state = State::Assigning(call, members);
        self.outbox.push_back(Action::FetchLayout(call, topics));
    }
    /// A member whose metadata cannot be read gets nothing; the others must not suffer for it.
    fn group_member(&self, member: JoinGroupResponseMember) -> Option<GroupMember> {
        let member_id = member.member_id.to_string();
        match Subscription::decode(&member.metadata) {
            Ok(subscription) => {
                let instance_id = member.group_instance_id.map(|id| id.to_string());
                Some(GroupMember { member_id, instance_id, subscription })
            }
            Err(error) => {
                tracing::warn!(group = %self.config.group_id, %member_id, %error, "cannot read a member's subscription");
                None
            }
        }
    }
}
