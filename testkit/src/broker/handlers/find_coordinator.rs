//! FindCoordinator: single and batched, for groups (0) and transactional ids (1).
//!
//! Versions 0 to 6. Left out: share groups (2), whose keys are refused as Kafka refuses malformed ones.

use super::{Handler, MOST_COSTLY_THINGS};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::topics::{OFFSETS_TOPIC, TRANSACTIONS_TOPIC};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::find_coordinator_response::Coordinator;
use millstream_protocol::messages::{BrokerId, FindCoordinatorRequest, FindCoordinatorResponse, StrBytes};

/// From this version on several keys come in one request.
const BATCHED_SINCE: i16 = 4;
const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;
const SHARE: i8 = 2;

pub(super) struct FindCoordinator;

impl Handler for FindCoordinator {
    type Request = FindCoordinatorRequest;
    const MOST_THINGS: usize = MOST_COSTLY_THINGS;
    fn handle(broker: &mut Broker, call: &Call, request: FindCoordinatorRequest) -> Answer<FindCoordinatorResponse> {
        Answer::Reply(if call.version >= BATCHED_SINCE {
            let found = request.coordinator_keys.iter().map(|key| find(broker, call, key, request.key_type)).collect();
            FindCoordinatorResponse::default().with_coordinators(found)
        } else {
            let found = single(find(broker, call, &request.key, request.key_type));
            // The older versions have the code's name there, also when there is no error.
            let is_found = found.error_code == 0;
            if is_found { found.with_error_message(Some(StrBytes::from_static_str("NONE"))) } else { found }
        })
    }
    fn refuse(request: &FindCoordinatorRequest, code: ErrorCode) -> FindCoordinatorResponse {
        if request.coordinator_keys.is_empty() {
            return single(failed(&request.key, code));
        }
        let refused = request.coordinator_keys.iter().map(|key| failed(key, code));
        FindCoordinatorResponse::default().with_coordinators(refused.collect())
    }
}

fn find(broker: &mut Broker, call: &Call, key: &StrBytes, key_type: i8) -> Coordinator {
    let topic = match key_type {
        GROUP => OFFSETS_TOPIC,
        TRANSACTION => TRANSACTIONS_TOPIC,
        // Kafka gives no reason here, but when it answers for one key.
        SHARE if call.version >= BATCHED_SINCE => {
            return failed(key, ErrorCode::INVALID_REQUEST).with_error_message(Some(StrBytes::new()));
        }
        _ => return failed(key, ErrorCode::INVALID_REQUEST),
    };
    broker.ensure_internal(topic);
    match broker.coordinator(topic, key) {
        None => failed(key, ErrorCode::COORDINATOR_NOT_AVAILABLE),
        Some(node) => Coordinator::default()
            .with_key(key.clone())
            .with_node_id(BrokerId(node.id.get()))
            .with_host(node.host(call.listener))
            .with_port(node.port(call.listener))
            .with_error_message(Some(StrBytes::new())),
    }
}
fn failed(key: &StrBytes, code: ErrorCode) -> Coordinator {
    Coordinator::default()
        .with_key(key.clone())
        .with_node_id(BrokerId(-1))
        .with_port(-1)
        .with_error_code(code.get())
        .with_error_message(Some(StrBytes::from_static_str(code.message())))
}
fn single(found: Coordinator) -> FindCoordinatorResponse {
    FindCoordinatorResponse::default()
        .with_error_code(found.error_code)
        .with_error_message(found.error_message)
        .with_node_id(found.node_id)
        .with_host(found.host)
        .with_port(found.port)
}
