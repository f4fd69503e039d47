//! From being let in to having partitions: the leader's assignment, SyncGroup, and what changed.

use super::{Action, Call, ErrorCode, Failure, Forget, GroupEvent, Member, Next, RebalanceMode, State};
use crate::group::Assignment;
use crate::group::assignor::{AssignorError, ClusterLayout, GroupMember, PartitionAssignor};
use bytes::Bytes;
use millstream_protocol::messages::SyncGroupResponse;
use millstream_protocol::{TopicName, TopicPartition};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

impl Member {
    /// What the cluster has of the topics that [`Action::FetchLayout`] asked for, by which the leader assigns. None: it could not be had,
    /// and the group is joined again.
    pub fn handle_layout(&mut self, now: Instant, call: Call, layout: Option<&ClusterLayout>) {
        match std::mem::replace(&mut self.state, State::Stable) {
            State::Assigning(waited_for, members) if waited_for == call => match layout {
                Some(layout) => self.assign(now, &members, layout),
                None => self.retry(now),
            },
            other => self.state = other,
        }
    }
    /// What the cluster has now of [`Member::watched_topics`]: a leader whose assignment was made for other partition counts joins again.
    pub fn handle_watched(&mut self, now: Instant, layout: &ClusterLayout) {
        if self.is_stable() {
            self.compare_with_watched(now, layout);
        }
    }
    /// What SyncGroup brought.
    pub fn handle_sync(&mut self, now: Instant, call: Call, answer: Result<SyncGroupResponse, Failure>) {
        if !matches!(self.state, State::Syncing(waited_for) if waited_for == call) {
            return;
        }
        match answer {
            Ok(response) => self.synced(now, &response),
            Err(failure) => self.fail_transport(now, failure),
        }
    }

    pub(super) fn start_sync(&mut self) -> Option<Action> {
        let call = self.next_call();
        match std::mem::replace(&mut self.state, State::Syncing(call)) {
            State::Joined(request) => Some(Action::Sync(call, request, self.answer_timeout())),
            other => {
                self.state = other;
                None
            }
        }
    }
    /// Takes up an assignment whose revocations are done.
    pub(super) fn take_up(&mut self, next: Next) {
        let added = next.partitions.difference(&self.owned).cloned().collect();
        self.owned = next.partitions;
        self.state = State::Stable;
        let (all, generation) = (self.owned.clone(), self.identity.generation);
        self.emit(GroupEvent::Assigned { added, all, user_data: next.user_data, generation });
    }

    fn assign(&mut self, now: Instant, members: &[GroupMember], layout: &ClusterLayout) {
        let counts = |topic: &TopicName| (topic.clone(), Some(layout.partition_count(topic.as_str()).unwrap_or(0)));
        self.watched = self.watched.as_ref().map(|watched| watched.keys().map(counts).collect());
        let Some(assignor) = self.picked.and_then(|index| self.assignors.get_mut(index)) else {
            return self.retry(now);
        };
        match checked_assign(assignor.as_mut(), members, layout) {
            Ok(shares) => {
                let ids = members.iter().map(|member| member.member_id.clone());
                self.follow(ids.zip(shares.iter().map(Assignment::encode)).collect());
            }
            Err(error) => {
                tracing::error!(group = %self.config.group_id, %error, "no assignment; the group joins again");
                self.retry(now);
            }
        }
    }
    /// A static leader that came back without assigning (KIP-814) takes its first look for what the assignment was made for.
    fn compare_with_watched(&mut self, now: Instant, layout: &ClusterLayout) {
        let Some(watched) = &mut self.watched else { return };
        let mut changed = false;
        for (topic, known) in watched {
            let Some(count) = layout.partition_count(topic.as_str()) else { continue };
            changed |= known.replace(count).is_some_and(|before| before != count);
        }
        if changed {
            self.rejoin(now, "a topic's partitions changed");
        }
    }

    fn synced(&mut self, now: Instant, response: &SyncGroupResponse) {
        match ErrorCode::new(response.error_code) {
            ErrorCode::NONE => self.assigned(now, &response.assignment),
            ErrorCode::UNKNOWN_MEMBER_ID => self.lose_and_rejoin(now, Forget::Member),
            ErrorCode::ILLEGAL_GENERATION => self.lose_and_rejoin(now, Forget::Generation),
            ErrorCode::REBALANCE_IN_PROGRESS => self.rejoin(now, "the group went on without this member's sync"),
            code if code.refreshes_coordinator() => self.retry_elsewhere(now),
            code if code.is_retriable() => self.retry(now),
            code => self.fail_refused("give this member its partitions", code),
        }
    }
    fn assigned(&mut self, now: Instant, bytes: &Bytes) {
        let assignment = match Assignment::decode(bytes) {
            Ok(assignment) => assignment,
            Err(error) => return self.fail_protocol(format!("the leader's assignment cannot be read: {error}")),
        };
        if let Some(assignor) = self.picked.and_then(|index| self.assignors.get_mut(index)) {
            assignor.on_assignment(&assignment, self.identity.generation);
        }
        let wanted = |partition: &TopicPartition| self.topics.contains(&partition.topic);
        let partitions: BTreeSet<_> = assignment.partitions.into_iter().filter(wanted).collect();
        self.move_to(now, Next { partitions, user_data: assignment.user_data });
    }
    fn move_to(&mut self, now: Instant, next: Next) {
        let taken: Vec<TopicPartition> = match self.mode() {
            RebalanceMode::Cooperative => self.owned.difference(&next.partitions).cloned().collect(),
            RebalanceMode::Eager => Vec::new(),
        };
        if !taken.is_empty() {
            self.revoke(taken);
            self.state = State::LettingGo(next);
            return;
        }
        self.take_up(next);
        if self.join_again {
            self.rejoin(now, "something changed during the rebalance");
        }
    }
}

/// Assignors may be the user's: a panic or a short answer becomes an error.
fn checked_assign(
    assignor: &mut dyn PartitionAssignor,
    members: &[GroupMember],
    layout: &ClusterLayout,
) -> Result<Vec<Assignment>, AssignorError> {
    let shares = catch_unwind(AssertUnwindSafe(|| assignor.assign(members, layout)))
        .unwrap_or_else(|_| Err(AssignorError::new(assignor.name(), "it panicked")))?;
    if shares.len() == members.len() {
        return Ok(shares);
    }
    let problem = format!("it made {} assignments for {} members", shares.len(), members.len());
    Err(AssignorError::new(assignor.name(), problem))
}
