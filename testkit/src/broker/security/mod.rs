//! Who is at the other end, and how it proves it: listeners' protocols, credentials, and one authentication machine per connection.
//! What somebody may do is `authorizer`'s.

pub(crate) mod credentials;
mod exchange;
pub(crate) mod fail;
mod gate;
mod jaas;
mod mapping;
pub(crate) mod mechanism;
pub(crate) mod oauthbearer;
mod plain;
mod protocol;
pub(crate) mod scram;
mod scram_messages;
pub(crate) mod session;
pub(crate) mod settings;

pub use protocol::SecurityProtocol;

use super::call::{ConnectionId, ListenerId};
use credentials::Credentials;
use fail::LastWords;
pub(crate) use gate::Gate;
use session::Session;
use std::collections::BTreeMap;

/// The principal of whoever says nothing about itself.
pub(crate) const ANONYMOUS: &str = "User:ANONYMOUS";

/// What of a cluster has to do with identities.
#[derive(Debug)]
pub(crate) struct Security {
    protocols: Vec<SecurityProtocol>,
    pub(crate) credentials: Credentials,
    /// Of connections to listeners that use SASL.
    sessions: BTreeMap<ConnectionId, Session>,
    last_words: LastWords,
}
impl Security {
    /// Listeners by their protocols. Without any there is one, which asks for nothing.
    pub(crate) fn new(protocols: Vec<SecurityProtocol>, seed: u64) -> Self {
        Self { protocols, credentials: Credentials::new(seed), sessions: BTreeMap::new(), last_words: LastWords::new() }
    }
    /// Whether a listener wants SASL.
    pub(crate) fn uses_sasl(&self, listener: ListenerId) -> bool {
        self.protocols.get(listener.0).is_some_and(|protocol| protocol.uses_sasl())
    }
    pub(crate) fn session(&mut self, connection: ConnectionId) -> &mut Session {
        self.sessions.entry(connection).or_default()
    }
    /// Forgets a connection.
    pub(crate) fn forget(&mut self, connection: ConnectionId) {
        self.sessions.remove(&connection);
    }
}
