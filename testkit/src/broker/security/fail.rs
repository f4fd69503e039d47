//! How an authentication fails: what the client is told, when, and that the connection ends.

use super::session::Stage;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call, Closing, ConnectionId, Outcome};
use crate::broker::timers::TimerKey;
use millstream_protocol::NodeId;
use millstream_protocol::frame::Frame;
use std::collections::BTreeMap;

/// Why a proof was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The client may know.
    Told(String),
    /// It might learn who exists: it is told of invalid credentials.
    Hidden,
}

/// Last words that wait for their time.
pub(crate) type LastWords = BTreeMap<ConnectionId, (NodeId, Option<Frame>, Closing)>;

impl Broker {
    /// Ends a connection whose authentication failed, after `connection.failed.authentication.delay.ms` and with a last answer, if any.
    pub(crate) fn fail_authentication(
        &mut self,
        node: NodeId,
        connection: ConnectionId,
        last: Option<Frame>,
        why: Closing,
    ) {
        self.security.session(connection).stage = Stage::Failed;
        let delay = self.settings.security.failure_delay;
        if delay.is_zero() {
            return self.hang_up(node, connection, last, why);
        }
        self.security.last_words.insert(connection, (node, last, why));
        self.timers.arm(TimerKey::LastWords(connection), Some(self.now + delay));
    }
    /// The delay is over.
    pub(crate) fn say_last_words(&mut self, connection: ConnectionId) {
        if let Some((node, last, why)) = self.security.last_words.remove(&connection) {
            self.hang_up(node, connection, last, why);
        }
    }
    /// The connection is gone, and nobody listens.
    pub(crate) fn drop_last_words(&mut self, connection: ConnectionId) {
        if self.security.last_words.remove(&connection).is_some() {
            self.timers.arm(TimerKey::LastWords(connection), None);
        }
    }
    fn hang_up(&mut self, node: NodeId, connection: ConnectionId, last: Option<Frame>, why: Closing) {
        let outcome = match last {
            Some(frame) => Outcome::Last(frame, why),
            None => Outcome::Close(why),
        };
        self.push_reply(node, connection, outcome);
    }
    /// For handlers: the answer is the last one.
    pub(crate) fn fail_with<R: millstream_protocol::messages::Request>(
        &mut self,
        call: &Call,
        response: &R::Response,
        why: Closing,
    ) -> Answer<R::Response> {
        let frame = match crate::broker::encode::<R>(call, response) {
            Outcome::Frame(frame) => Some(frame),
            _ => None,
        };
        self.fail_authentication(call.node, call.connection, frame, why);
        Answer::Later
    }
}
