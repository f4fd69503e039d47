//! Where a connection to a SASL listener stands.
//!
//! ```text
//!           ApiVersions            SaslHandshake              token accepted
//! Opening ───────────────▶ Versions ───────────▶ Exchange ──────────────────▶ Done ◀─┐
//!    └────────────────────SaslHandshake────────────▲  │                        │      │ token of the
//!                                                  │  │ refused   SaslHandshake│      │ same user
//!                                                  │  ▼           (session has an end)│
//!                                                  │ Failed ◀───── Exchange ──────────┘
//! ```
//!
//! In `Exchange` after SaslHandshake 0 tokens come bare, after 1 in SaslAuthenticate.

use super::mechanism::Mechanism;
use super::oauthbearer;
use super::scram::ScramServer;
use millstream_protocol::Timestamp;
use millstream_protocol::messages::StrBytes;
use std::time::Duration;

/// No two authentications of one connection begin within this time.
const MIN_REAUTH_INTERVAL: Duration = Duration::from_secs(1);

/// How tokens come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// A size, then the token.
    Bare,
    /// SaslAuthenticate requests.
    Requests,
}

/// The mechanism's own state.
#[derive(Debug)]
pub(crate) enum Server {
    Plain,
    Scram(ScramServer),
    OauthBearer(oauthbearer::Server),
}

/// An exchange of tokens.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) mechanism: Mechanism,
    pub(crate) framing: Framing,
    pub(crate) server: Server,
    /// Who the connection was before, when it proves itself again.
    pub(crate) before: Option<Identity>,
}

/// Who a connection is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) user: String,
    pub(crate) mechanism: Mechanism,
    /// When it must have proved itself again.
    pub(crate) expires: Option<Timestamp>,
}

#[derive(Debug, Default)]
pub(crate) enum Stage {
    #[default]
    Opening,
    Versions,
    Exchange(Exchange),
    /// A handshake named another mechanism than the first; its first token ends it.
    OtherMechanism,
    Done(Identity),
    Failed,
}

#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) stage: Stage,
    /// When it last began to prove itself again.
    last_reauth: Option<Timestamp>,
}
impl Session {
    pub(crate) fn identity(&self) -> Option<&Identity> {
        match &self.stage {
            Stage::Done(identity) => Some(identity),
            _ => None,
        }
    }
    /// Begins another proof, if this is the time for one: who the connection was.
    pub(crate) fn begin_again(&mut self, now: Timestamp) -> Option<Identity> {
        let identity = self.identity().filter(|identity| identity.expires.is_some())?.clone();
        if self.last_reauth.is_some_and(|last| now.since(last) < MIN_REAUTH_INTERVAL) {
            return None;
        }
        self.last_reauth = Some(now);
        Some(identity)
    }
}
impl Identity {
    /// As ACLs name it.
    pub(crate) fn principal(&self) -> StrBytes {
        StrBytes::from_string(format!("User:{}", self.user))
    }
}
