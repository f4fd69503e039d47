//! SaslAuthenticate: one token of an exchange. A refusal is told after `connection.failed.authentication.delay.ms`, and ends the connection.
//!
//! Versions 0 to 2. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call, Closing};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{SaslAuthenticateRequest, SaslAuthenticateResponse, StrBytes};

const DONE: &str = "SaslAuthenticate request received after successful authentication";

pub(super) struct SaslAuthenticate;

impl Handler for SaslAuthenticate {
    type Request = SaslAuthenticateRequest;
    const MOST_BYTES: usize = usize::MAX;
    fn handle(broker: &mut Broker, call: &Call, request: SaslAuthenticateRequest) -> Answer<SaslAuthenticateResponse> {
        let is_done = broker.security.session(call.connection).identity().is_some();
        if is_done || !broker.security.uses_sasl(call.listener) {
            return Answer::Reply(refused(ErrorCode::ILLEGAL_SASL_STATE, DONE));
        }
        match broker.advance_exchange(call.connection, &request.auth_bytes) {
            Ok(token) => Answer::Reply(
                SaslAuthenticateResponse::default()
                    .with_error_message(Some(StrBytes::new()))
                    .with_auth_bytes(token.bytes)
                    .with_session_lifetime_ms(token.lifetime_ms),
            ),
            Err(reason) => {
                let response = refused(ErrorCode::SASL_AUTHENTICATION_FAILED, &reason);
                broker.fail_with::<SaslAuthenticateRequest>(call, &response, Closing::refused(reason))
            }
        }
    }
    fn refuse(_: &SaslAuthenticateRequest, code: ErrorCode) -> SaslAuthenticateResponse {
        refused(code, code.message())
    }
}

fn refused(code: ErrorCode, reason: &str) -> SaslAuthenticateResponse {
    SaslAuthenticateResponse::default()
        .with_error_code(code.get())
        .with_error_message(Some(StrBytes::from_string(reason.to_owned())))
}
