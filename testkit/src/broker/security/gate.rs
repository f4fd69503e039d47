//! What a connection may send before and after it has proved who it is.

use super::session::{Framing, Stage};
use super::{ANONYMOUS, session};
use crate::broker::Broker;
use crate::broker::call::{Call, Closing, Outcome, Peer};
use crate::broker::handlers;
use bytes::Bytes;
use millstream_protocol::frame::Frame;
use millstream_protocol::messages::StrBytes;
use millstream_protocol::{ApiKey, ErrorCode};

/// Whether a request goes on to its handler.
pub(crate) enum Gate {
    Open,
    /// Answered already, or later.
    Shut(Option<Outcome>),
}

impl Broker {
    /// Takes a token that comes bare, after SaslHandshake 0; none when this is no such connection.
    pub(crate) fn take_bare_token(&mut self, peer: &Peer, payload: &Bytes) -> Option<Option<Outcome>> {
        if !self.security.uses_sasl(peer.listener) {
            return None;
        }
        let limit = self.settings.security.max_receive_size;
        let session = self.security.session(peer.connection);
        if session.identity().is_none() && payload.len() > limit {
            let size = payload.len();
            let why = format!("{size} bytes before it has authenticated; sasl.server.max.receive.size is {limit}");
            return Some(Some(Outcome::Close(Closing::refused(why))));
        }
        match &session.stage {
            Stage::Exchange(exchange) if exchange.framing == Framing::Bare => {}
            _ => return None,
        }
        match self.advance_exchange(peer.connection, payload) {
            Ok(token) => Some(Some(bare(&token.bytes))),
            Err(reason) => {
                self.fail_authentication(peer.node, peer.connection, None, Closing::refused(reason));
                Some(None)
            }
        }
    }
    /// Lets a request through, or not.
    pub(crate) fn gate(&mut self, api: ApiKey, call: &Call, body: Bytes) -> Gate {
        if !self.security.uses_sasl(call.listener) {
            return Gate::Open;
        }
        let now = self.now;
        let session = self.security.session(call.connection);
        match (&session.stage, api) {
            (Stage::Opening, ApiKey::API_VERSIONS) => {
                if handlers::versions(self, api).is_some_and(|range| range.contains(call.version)) {
                    self.security.session(call.connection).stage = Stage::Versions;
                }
                Gate::Open
            }
            (Stage::Opening | Stage::Versions, ApiKey::SASL_HANDSHAKE) => Gate::Open,
            (Stage::Exchange(_), ApiKey::SASL_AUTHENTICATE) => Gate::Open,
            (Stage::Exchange(_), _) => {
                let last = handlers::refusal(api, call, body, ErrorCode::ILLEGAL_SASL_STATE);
                self.shut(call, last, "SaslAuthenticate was to come, in an exchange of tokens")
            }
            (Stage::Done(identity), _) => match identity.expires {
                Some(end) if end <= now && api != ApiKey::SASL_HANDSHAKE => {
                    let why = "its session is over (connections.max.reauth.ms, or its token), and it did not authenticate again";
                    Gate::Shut(Some(Outcome::Close(Closing::refused(why))))
                }
                _ => Gate::Open,
            },
            (Stage::OtherMechanism, _) => {
                self.shut(call, None, "it authenticates again by another mechanism than before")
            }
            (Stage::Opening | Stage::Versions | Stage::Failed, _) => {
                self.shut(call, None, "this listener wants SASL, and it has not authenticated: check security.protocol")
            }
        }
    }
    fn shut(&mut self, call: &Call, last: Option<Frame>, why: &'static str) -> Gate {
        self.fail_authentication(call.node, call.connection, last, Closing::refused(why));
        Gate::Shut(None)
    }
    /// Who sends a request, as ACLs name it; none for a certificate that no mapping rule is about.
    pub(crate) fn principal(&mut self, peer: &Peer) -> Option<StrBytes> {
        let anonymous = StrBytes::from_static_str(ANONYMOUS);
        if self.security.uses_sasl(peer.listener) {
            let identity = self.security.session(peer.connection).identity();
            return Some(identity.map_or(anonymous, session::Identity::principal));
        }
        let Some(name) = &peer.certified else { return Some(anonymous) };
        let user = self.settings.security.mapping.apply(name)?;
        Some(StrBytes::from_string(format!("User:{user}")))
    }
}

/// A token behind its size.
fn bare(token: &[u8]) -> Outcome {
    match i32::try_from(token.len()) {
        Ok(size) => Outcome::Raw(Bytes::from([size.to_be_bytes().as_slice(), token].concat())),
        Err(_) => Outcome::Close(Closing::failed("its token does not fit a frame")),
    }
}
