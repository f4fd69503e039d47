//! SaslHandshake: chooses a mechanism. Version 0 means that tokens come bare, 1 that they come in SaslAuthenticate. Also begins another
//! authentication on a connection whose session has an end (KIP-368).
//!
//! Versions 0 to 1. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call, Closing};
use crate::broker::security::mechanism::Mechanism;
use crate::broker::security::session::{Framing, Identity, Stage};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{SaslHandshakeRequest, SaslHandshakeResponse, StrBytes};

pub(super) struct SaslHandshake;

impl Handler for SaslHandshake {
    type Request = SaslHandshakeRequest;
    fn handle(broker: &mut Broker, call: &Call, request: SaslHandshakeRequest) -> Answer<SaslHandshakeResponse> {
        let Ok(before) = begin(broker, call) else {
            return Answer::Reply(Self::refuse(&request, ErrorCode::ILLEGAL_SASL_STATE));
        };
        let enabled = &broker.settings.security.mechanisms;
        let mechanism = Mechanism::find(&request.mechanism).filter(|mechanism| enabled.contains(mechanism));
        let names = enabled.iter().map(|each| StrBytes::from_static_str(each.name())).collect();
        let response = SaslHandshakeResponse::default().with_mechanisms(names);
        let Some(mechanism) = mechanism else {
            let response = response.with_error_code(ErrorCode::UNSUPPORTED_SASL_MECHANISM.get());
            let why = Closing::refused(format!("the SASL mechanism {:?} is not enabled", request.mechanism.as_str()));
            return broker.fail_with::<SaslHandshakeRequest>(call, &response, why);
        };
        let framing = if call.version == 0 { Framing::Bare } else { Framing::Requests };
        broker.begin_exchange(call.connection, mechanism, framing, before);
        Answer::Reply(response)
    }
    fn refuse(_: &SaslHandshakeRequest, code: ErrorCode) -> SaslHandshakeResponse {
        SaslHandshakeResponse::default().with_error_code(code.get())
    }
}

/// Whether this is the time for a handshake: who the connection is already, if anybody.
fn begin(broker: &mut Broker, call: &Call) -> Result<Option<Identity>, ()> {
    if !broker.security.uses_sasl(call.listener) {
        return Err(());
    }
    let now = broker.now;
    let session = broker.security.session(call.connection);
    match session.stage {
        Stage::Opening | Stage::Versions => Ok(None),
        _ => session.begin_again(now).map(Some).ok_or(()),
    }
}
