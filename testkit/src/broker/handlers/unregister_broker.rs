//! UnregisterBroker (KIP-500): a broker that is down is forgotten.
//!
//! Version 0. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::messages::{StrBytes, UnregisterBrokerRequest, UnregisterBrokerResponse};
use millstream_protocol::{ErrorCode, NodeId};

pub(super) struct UnregisterBroker;

impl Handler for UnregisterBroker {
    type Request = UnregisterBrokerRequest;
    fn handle(broker: &mut Broker, _: &Call, request: UnregisterBrokerRequest) -> Answer<UnregisterBrokerResponse> {
        let id = request.broker_id.0;
        if broker.forget_node(NodeId::new(id)) == Ok(true) {
            return Answer::Reply(UnregisterBrokerResponse::default().with_error_message(None));
        }
        let reason = format!("Broker ID {id} is not currently registered");
        let refused = UnregisterBrokerResponse::default().with_error_code(ErrorCode::BROKER_ID_NOT_REGISTERED.get());
        Answer::Reply(refused.with_error_message(Some(StrBytes::from_string(reason))))
    }
    fn refuse(_: &UnregisterBrokerRequest, code: ErrorCode) -> UnregisterBrokerResponse {
        UnregisterBrokerResponse::default()
            .with_error_code(code.get())
            .with_error_message(Some(StrBytes::from_static_str(code.message())))
    }
}
