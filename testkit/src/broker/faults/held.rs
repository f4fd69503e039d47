//! Requests that wait: until a test lets them go, for a time, or because their node stands still.

use super::answers::{After, Late};
use super::{Taken, Verdict};
use crate::broker::call::{Call, Closing, ConnectionId, Outcome, Peer, Reply};
use crate::broker::{Broker, handlers};
use crate::faults::Effect;
use bytes::Bytes;
use millstream_protocol::{ApiKey, ErrorCode, NodeId};

/// A request that was not served yet.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) api: ApiKey,
    pub(crate) call: Call,
    pub(crate) body: Bytes,
}

/// What came to a node that stands still.
#[derive(Debug)]
pub(super) enum Waiting {
    Request(Peer, Bytes),
    Answer(Reply),
}
impl Waiting {
    pub(super) fn connection(&self) -> ConnectionId {
        match self {
            Self::Request(peer, _) => peer.connection,
            Self::Answer(reply) => reply.connection,
        }
    }
}

/// What a handler is to do with a request, once the rules have been asked.
#[derive(Debug)]
pub(crate) enum Judged {
    /// Serve it.
    Serve,
    /// Refuse it with a code.
    Refuse(ErrorCode),
    /// It is answered already, or waits.
    Done(Option<Outcome>),
}

impl Broker {
    /// Asks the rules about a request.
    pub(crate) fn judge(&mut self, api: ApiKey, call: &Call, body: &Bytes, request: &dyn std::any::Any) -> Judged {
        if call.is_held {
            return Judged::Serve;
        }
        let Some(Taken { verdict, rtt, rule }) = self.faults.take(api, call, request) else { return Judged::Serve };
        self.log.note(call.connection, &verdict);
        let mut after = After { api, version: call.version, effect: None, rtt };
        let held = || Held { api, call: Call { is_held: true, ..call.clone() }, body: body.clone() };
        let judged = match verdict {
            Verdict::Answer(outcome) => Judged::Done(Some(outcome)),
            Verdict::Park => {
                self.faults.parked.entry(rule).or_default().push_back(held());
                return Judged::Done(None);
            }
            Verdict::Effect(Effect::Delay(by)) => {
                let held = held();
                self.faults.after.insert(call.connection, after);
                self.delay(Late::Request(held), by);
                return Judged::Done(None);
            }
            Verdict::Effect(Effect::Error(code)) => Judged::Refuse(code),
            Verdict::Effect(Effect::Disconnect) => Judged::Done(Some(Outcome::Close(Closing::wanted()))),
            Verdict::Effect(Effect::Silence) => return Judged::Done(None),
            Verdict::Effect(Effect::Pass) => Judged::Serve,
            Verdict::Effect(effect) => {
                after.effect = Some(effect);
                Judged::Serve
            }
        };
        if after.effect.is_some() || !rtt.is_zero() {
            self.faults.after.insert(call.connection, after);
        }
        judged
    }
    /// The code that one partition of a request is to fail with.
    pub(crate) fn partition_fault(
        &mut self,
        api: ApiKey,
        call: &Call,
        topic: &str,
        partition: i32,
    ) -> Result<(), ErrorCode> {
        self.faults.take_for_partition(api, call, topic, partition).map_or(Ok(()), Err)
    }
    /// Whether any partition is to fail by itself: most of the time there is no need to ask for each.
    pub(crate) fn has_partition_faults(&self) -> bool {
        self.faults.has_for_partitions()
    }
    pub(super) fn let_go(&mut self, held: Held) {
        let Held { api, call, body } = held;
        if let Some(outcome) = handlers::dispatch(self, api, &call, body) {
            self.push_reply(call.node, call.connection, outcome);
        }
    }
    /// How many requests a rule holds.
    pub(crate) fn parked(&self, rule: u64) -> usize {
        self.faults.parked.get(&rule).map_or(0, std::collections::VecDeque::len)
    }
    /// Ends a rule that holds requests, and serves those that it holds.
    pub(crate) fn release(&mut self, rule: u64) {
        self.faults.remove(rule);
        self.faults.parked.remove(&rule).into_iter().flatten().for_each(|held| self.let_go(held));
    }
    /// Serves and sends what came to a node while it stood still.
    pub(crate) fn let_node_go_on(&mut self, node: NodeId) {
        let (mine, others) = std::mem::take(&mut self.faults.waiting).into_iter().partition(|(at, _)| *at == node);
        self.faults.waiting = others;
        for (_, waiting) in mine {
            match waiting {
                Waiting::Request(peer, payload) => self.handle(self.now, &peer, &payload),
                Waiting::Answer(reply) => self.send(node, reply),
            }
        }
    }
    /// Forgets what came to a node while it stood still, and died.
    pub(crate) fn forget_waiting_at(&mut self, node: NodeId) {
        self.faults.waiting.retain(|(at, _)| *at != node);
    }
    /// Keeps a request if its node stands still; says whether it did.
    pub(crate) fn keep_if_still(&mut self, peer: &Peer, payload: &Bytes) -> bool {
        let is_still = self.nodes.stands_still(peer.node);
        if is_still {
            self.faults.waiting.push((peer.node, Waiting::Request(peer.clone(), payload.clone())));
        }
        is_still
    }
}
