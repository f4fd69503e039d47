//! What becomes of an answer on its way out: it is late, lost, spoilt, or waits because its node stands still.

use super::held::{Held, Waiting};
use super::malform;
use crate::broker::Broker;
use crate::broker::call::{Closing, ConnectionId, Outcome, Reply};
use crate::broker::timers::TimerKey;
use crate::faults::{Effect, Malformation, Then};
use millstream_protocol::{ApiKey, NodeId};
use std::time::Duration;

/// What becomes of the next answer on a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct After {
    pub(crate) api: ApiKey,
    pub(crate) version: i16,
    pub(crate) effect: Option<Effect>,
    pub(crate) rtt: Duration,
}

/// What waits for a time.
#[derive(Debug)]
pub(super) enum Late {
    Request(Held),
    Answer(NodeId, Reply),
}

impl After {
    /// What is left of an answer; nothing when it never comes.
    fn apply(self, outcome: Outcome, seed: u64) -> Option<Outcome> {
        let spoil = |outcome, how| match outcome {
            Outcome::Frame(frame) => malform::apply(how, (self.api, self.version), &frame, seed),
            other => other,
        };
        match self.effect {
            Some(Effect::ApplyThen(Then::Disconnect)) => Some(Outcome::Close(Closing::wanted())),
            Some(Effect::ApplyThen(Then::Silence)) => None,
            Some(Effect::CorruptRecords) => Some(spoil(outcome, Malformation::BadChecksum)),
            Some(Effect::Malform(how)) => Some(spoil(outcome, how)),
            _ => Some(outcome),
        }
    }
    fn delay(&self) -> Duration {
        match self.effect {
            Some(Effect::ApplyThen(Then::Delay(by))) => self.rtt.saturating_add(by),
            _ => self.rtt,
        }
    }
}

impl Broker {
    /// Sends an answer, unless something is to become of it.
    pub(crate) fn push_reply(&mut self, node: NodeId, connection: ConnectionId, outcome: Outcome) {
        let Some(after) = self.faults.after.remove(&connection) else {
            return self.send(node, Reply { connection, outcome });
        };
        self.names_given += 1;
        let Some(outcome) = after.apply(outcome, self.seed ^ self.names_given) else { return };
        let reply = Reply { connection, outcome };
        match after.delay() {
            Duration::ZERO => self.send(node, reply),
            delay => self.delay(Late::Answer(node, reply), delay),
        }
    }
    /// Sends an answer, once its node moves.
    pub(super) fn send(&mut self, node: NodeId, mut reply: Reply) {
        if self.nodes.stands_still(node) {
            self.faults.waiting.push((node, Waiting::Answer(reply)));
            return;
        }
        if let Outcome::Close(closing) | Outcome::Last(_, closing) = &mut reply.outcome {
            closing.request = self.log.name_of_open(reply.connection);
        }
        self.log.answered(self.now, reply.connection, &reply.outcome);
        self.replies.push(reply);
    }
    pub(super) fn delay(&mut self, late: Late, by: Duration) {
        self.faults.last_late += 1;
        let number = self.faults.last_late;
        self.faults.late.insert(number, late);
        self.timers.arm(TimerKey::Late(number), Some(self.now + by));
    }
    /// The time of something that waits has come.
    pub(crate) fn handle_late(&mut self, number: u64) {
        match self.faults.late.remove(&number) {
            Some(Late::Request(held)) => self.let_go(held),
            Some(Late::Answer(node, reply)) => self.send(node, reply),
            None => {}
        }
    }
    /// Forgets what waits for a connection that is gone.
    pub(crate) fn forget_waiting(&mut self, connection: ConnectionId) {
        let faults = &mut self.faults;
        faults.after.remove(&connection);
        faults.parked.values_mut().for_each(|held| held.retain(|held| held.call.connection != connection));
        faults.late.retain(|_, late| match late {
            Late::Request(held) => held.call.connection != connection,
            Late::Answer(_, reply) => reply.connection != connection,
        });
        faults.waiting.retain(|(_, waiting)| waiting.connection() != connection);
    }
}
