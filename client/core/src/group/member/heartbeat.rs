//! Heartbeats: due whenever the coordinator could forget the member, whatever else goes on.

use super::{Action, Call, Departure, ErrorCode, Failure, Forget, Member, State};
use millstream_protocol::messages::HeartbeatResponse;
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub(super) struct Heartbeats {
    next: Option<Instant>,
    /// The one that is waited for, and its generation.
    in_flight: Option<(Call, i32)>,
}

impl Heartbeats {
    pub(super) fn restart(&mut self, now: Instant, interval: Duration) {
        self.next = Some(now + interval);
        self.in_flight = None;
    }
}

impl Member {
    /// What a heartbeat brought.
    pub fn handle_heartbeat(&mut self, now: Instant, call: Call, answer: Result<HeartbeatResponse, Failure>) {
        // An answer to an earlier generation says nothing about this one.
        let Some((_, generation)) = self.heartbeats.in_flight.take_if(|(waited_for, _)| *waited_for == call) else {
            return;
        };
        if generation != self.identity.generation {
            return;
        }
        match answer {
            Ok(response) => self.heard(now, ErrorCode::new(response.error_code)),
            Err(Failure::Unavailable) => self.beat_elsewhere(now),
            Err(Failure::Fatal(problem)) => self.fail_protocol(problem),
        }
    }

    pub(super) fn poll_heartbeat(&mut self, now: Instant) -> Option<Action> {
        if self.heartbeat_deadline()? > now {
            return None;
        }
        let call = self.next_call();
        self.heartbeats.in_flight = Some((call, self.identity.generation));
        // From the sending on: the session does not wait for an answer that is late.
        self.heartbeats.next = Some(now + self.config.heartbeat_interval);
        Some(Action::Heartbeat(call, Box::new(self.identity.heartbeat())))
    }
    pub(super) fn heartbeat_deadline(&self) -> Option<Instant> {
        // While JoinGroup or SyncGroup waits at the coordinator the session does not run.
        let runs = match self.state {
            State::Preparing(_) | State::Assigning(..) | State::Joined(_) | State::Stable | State::LettingGo(_) => true,
            State::Leaving(departure) => departure == Departure::Announcing && !self.may_move(),
            State::Out | State::Joining(_) | State::Syncing(_) | State::Failed => false,
        };
        let due = runs && self.identity.generation >= 0 && self.heartbeats.in_flight.is_none();
        if due { self.heartbeats.next } else { None }
    }

    fn heard(&mut self, now: Instant, code: ErrorCode) {
        match code {
            ErrorCode::NONE => self.attempts = 0,
            ErrorCode::REBALANCE_IN_PROGRESS => match self.state {
                State::Stable => self.rejoin(now, "the group rebalances"),
                State::LettingGo(_) => self.join_again = true,
                _ => {}
            },
            ErrorCode::UNKNOWN_MEMBER_ID => self.lose_and_rejoin(now, Forget::Member),
            ErrorCode::ILLEGAL_GENERATION => self.lose_and_rejoin(now, Forget::Generation),
            code if code.refreshes_coordinator() => self.beat_elsewhere(now),
            code if code.is_retriable() => self.beat_again(now),
            code => self.fail_refused("take its heartbeat", code),
        }
    }
    fn beat_elsewhere(&mut self, now: Instant) {
        self.outbox.push_back(Action::ForgetCoordinator);
        self.beat_again(now);
    }
    fn beat_again(&mut self, now: Instant) {
        let pause = self.config.backoff(self.attempts);
        self.attempts += 1;
        self.heartbeats.next = Some(now + pause.min(self.config.heartbeat_interval));
    }
}
