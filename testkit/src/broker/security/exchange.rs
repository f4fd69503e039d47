//! One token further in an exchange.

use super::fail::Refusal;
use super::mechanism::Mechanism;
use super::session::{Exchange, Framing, Identity, Server, Stage};
use super::{oauthbearer, plain, scram};
use crate::broker::Broker;
use crate::broker::call::ConnectionId;
use bytes::Bytes;
use millstream_protocol::Timestamp;

/// The answer to a token.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) bytes: Bytes,
    /// How long the identity lasts; 0: as long as the connection, or it is not proved yet.
    pub(crate) lifetime_ms: i64,
}

/// Who has proved itself, and until when the proof itself holds.
struct Proof {
    user: String,
    until: Option<Timestamp>,
}

impl Broker {
    /// Begins an exchange; what the connection was before must come out of it again.
    pub(crate) fn begin_exchange(
        &mut self,
        connection: ConnectionId,
        mechanism: Mechanism,
        framing: Framing,
        before: Option<Identity>,
    ) {
        let server = match mechanism {
            Mechanism::Plain => Server::Plain,
            Mechanism::Scram(hash) => Server::Scram(scram::ScramServer::new(hash)),
            Mechanism::OauthBearer => Server::OauthBearer(oauthbearer::Server::default()),
        };
        let is_other = before.as_ref().is_some_and(|before| before.mechanism != mechanism);
        self.security.session(connection).stage = if is_other {
            Stage::OtherMechanism
        } else {
            Stage::Exchange(Exchange { mechanism, framing, server, before })
        };
    }
    /// Takes a token; what the client may know when it is refused.
    pub(crate) fn advance_exchange(&mut self, connection: ConnectionId, token: &[u8]) -> Result<Token, String> {
        let stage = std::mem::take(&mut self.security.session(connection).stage);
        let Stage::Exchange(mut exchange) = stage else {
            self.security.session(connection).stage = Stage::Failed;
            return Err("There is no exchange of tokens under way.".to_owned());
        };
        let stepped = self.step(&mut exchange, token).map_err(|refusal| text(refusal, &exchange))?;
        let (bytes, Some(proof)) = stepped else {
            self.security.session(connection).stage = Stage::Exchange(exchange);
            return Ok(Token { bytes: stepped.0, lifetime_ms: 0 });
        };
        check_user(&exchange, &proof.user)?;
        let expires = self.end_of_session(proof.until);
        let lifetime_ms = expires.map_or(0, |end| i64::try_from(end.since(self.now).as_millis()).unwrap_or(i64::MAX));
        let identity = Identity { user: proof.user, mechanism: exchange.mechanism, expires };
        self.security.session(connection).stage = Stage::Done(identity);
        Ok(Token { bytes, lifetime_ms })
    }
    fn step(&mut self, exchange: &mut Exchange, token: &[u8]) -> Result<(Bytes, Option<Proof>), Refusal> {
        let credentials = &mut self.security.credentials;
        match &mut exchange.server {
            Server::Plain => {
                let user = plain::authenticate(token, credentials)?;
                Ok((Bytes::new(), Some(Proof { user, until: None })))
            }
            Server::Scram(server) => {
                let step = server.handle(token, credentials)?;
                Ok((step.answer.into(), step.user.map(|user| Proof { user, until: None })))
            }
            Server::OauthBearer(server) => {
                let step = server.handle(token, &self.settings.security.oauth, self.now)?;
                let proof = step.accepted.map(|accepted| Proof { user: accepted.user, until: Some(accepted.until) });
                Ok((step.answer.into(), proof))
            }
        }
    }
    /// The earlier of the proof's end and `connections.max.reauth.ms` from now.
    fn end_of_session(&self, until: Option<Timestamp>) -> Option<Timestamp> {
        let longest = self.settings.security.max_reauth.map(|longest| self.now + longest);
        until.into_iter().chain(longest).min()
    }
}

fn text(refusal: Refusal, exchange: &Exchange) -> String {
    match refusal {
        Refusal::Told(text) => text,
        Refusal::Hidden => format!(
            "Authentication failed during {} due to invalid credentials with SASL mechanism {}",
            if exchange.before.is_some() { "re-authentication" } else { "authentication" },
            exchange.mechanism.name()
        ),
    }
}
fn check_user(exchange: &Exchange, user: &str) -> Result<(), String> {
    match &exchange.before {
        Some(before) if before.user != user => {
            Err(format!("Cannot change principals during re-authentication from User.{}: User.{user}", before.user))
        }
        _ => Ok(()),
    }
}
