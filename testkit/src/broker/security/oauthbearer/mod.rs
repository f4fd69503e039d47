//! OAUTHBEARER (RFC 7628). With unsecured tokens, as Kafka's unsecured validator takes them: for tests, since anybody can write one. Where keys
//! are given, with tokens that one of them has signed, and no others.

mod keys;
mod message;
mod rules;
mod token;

pub(crate) use rules::Rules;

use super::fail::Refusal;
use message::ClientMessage;
use millstream_protocol::Timestamp;
use token::Token;

/// What a client sends when it has read why it was refused.
const ACKNOWLEDGED: &[u8] = b"\x01";

/// Why a token is not taken, as the client is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    InvalidToken,
    /// These scopes are needed.
    InsufficientScope(String),
}
impl Fault {
    fn to_json(&self) -> String {
        match self {
            Self::InvalidToken => r#"{"status":"invalid_token"}"#.to_owned(),
            Self::InsufficientScope(scope) => format!(r#"{{"status":"insufficient_scope","scope":"{scope}"}}"#),
        }
    }
}

/// The server's side of one exchange.
#[derive(Debug, Default)]
pub(crate) struct Server {
    /// Told to the client, which has yet to acknowledge it.
    refused: Option<String>,
}

/// What a message is answered with, and who has proved itself until when.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) answer: String,
    pub(crate) accepted: Option<Accepted>,
}
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) user: String,
    pub(crate) until: Timestamp,
}

impl Server {
    /// Takes a message of the client.
    pub(crate) fn handle(&mut self, bytes: &[u8], rules: &Rules, now: Timestamp) -> Result<Step, Refusal> {
        if let Some(reason) = self.refused.take()
            && bytes == ACKNOWLEDGED
        {
            return Err(Refusal::Told(reason));
        }
        let message = ClientMessage::parse(bytes).ok_or(Refusal::Hidden)?;
        let checked = Token::parse(&message.token, rules).ok_or(Fault::InvalidToken);
        match checked.and_then(|token| rules.check(&token, now).map(|()| token)) {
            Ok(token) => accept(&message, token),
            Err(fault) => {
                let answer = fault.to_json();
                self.refused = Some(answer.clone());
                Ok(Step { answer, accepted: None })
            }
        }
    }
}

fn accept(message: &ClientMessage, token: Token) -> Result<Step, Refusal> {
    if let Some(id) = message.authorization_id.as_ref().filter(|id| **id != token.principal) {
        return Err(Refusal::Told(format!(
            "Authentication failed: Client requested an authorization id ({id}) that is different from the token's principal name ({})",
            token.principal
        )));
    }
    let until = token.expires();
    Ok(Step { answer: String::new(), accepted: Some(Accepted { user: token.principal, until }) })
}

#[cfg(test)]
mod tests;
