//! Leaving: by wish, at the end, and when the application has not polled for too long.

use super::{Action, Call, Departure, Member, State};
use crate::group::{Failure, LeavePolicy};
use millstream_protocol::messages::LeaveGroupResponse;
use std::time::Instant;

impl Member {
    pub(super) fn unsubscribe(&mut self, now: Instant) {
        self.let_go_of_everything();
        self.depart(now, "the consumer unsubscribed", LeavePolicy::Leave);
    }
    /// Leaves for good, without a revocation: whoever closes has let go already.
    pub fn close(&mut self, now: Instant, policy: LeavePolicy) {
        self.let_go_of_everything();
        self.depart(now, "the consumer was closed", policy);
    }
    /// What LeaveGroup brought. Whatever it is, the member is out.
    pub fn handle_left(&mut self, now: Instant, call: Call, answer: Result<LeaveGroupResponse, Failure>) {
        if let Err(failure) = answer {
            tracing::debug!(group = %self.config.group_id, ?failure, "leave was not answered; the session will end by itself");
        }
        if matches!(self.state, State::Leaving(Departure::Announced(waited_for)) if waited_for == call) {
            self.left(now);
        }
    }

    pub(super) fn start_leave(&mut self) -> Action {
        let call = self.next_call();
        self.state = State::Leaving(Departure::Announced(call));
        let leave = self.identity.leave(self.reason);
        self.identity.generation = -1;
        Action::Leave(call, leave)
    }
    pub(super) fn check_progress(&mut self, now: Instant) {
        if self.progress_deadline().is_some_and(|deadline| deadline <= now) {
            tracing::warn!(group = %self.config.group_id, "no poll within max.poll.interval.ms: leaving the group until the next one");
            self.lose();
            // The application is busy elsewhere: others get its partitions without its acknowledgement.
            self.waiting = None;
            self.progress.dormant = true;
            self.depart(now, "no poll within max.poll.interval.ms", LeavePolicy::Dynamic);
        }
    }
    pub(super) fn progress_deadline(&self) -> Option<Instant> {
        let counts = !self.progress.polling && !self.progress.dormant && self.identity.generation >= 0;
        let last = self.progress.last.filter(|_| counts)?;
        Some(last + self.config.max_poll_interval?)
    }

    fn let_go_of_everything(&mut self) {
        self.owned.clear();
        self.waiting = None;
        self.topics.clear();
    }
    fn depart(&mut self, now: Instant, reason: &'static str, policy: LeavePolicy) {
        if matches!(self.state, State::Out | State::Failed) {
            return;
        }
        self.reason = reason;
        self.watched = None;
        let announces = match policy {
            LeavePolicy::Leave => true,
            LeavePolicy::Remain => false,
            LeavePolicy::Dynamic => self.config.instance_id.is_none(),
        };
        if announces && !self.identity.member_id.is_empty() {
            self.state = State::Leaving(Departure::Announcing);
        } else {
            self.left(now);
        }
    }
    fn left(&mut self, now: Instant) {
        self.identity.generation = -1;
        self.owned.clear();
        // A static member keeps its id: coming back with it is no new member.
        if self.config.instance_id.is_none() {
            self.identity.member_id.clear();
        }
        self.state = State::Out;
        if !self.topics.is_empty() && !self.progress.dormant {
            self.rejoin(now, "the consumer subscribed");
        }
    }
}
