//! FindCoordinator: single and batched, for groups (0) and transactional ids (1). Left out: share groups (2).

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::find_coordinator_response::Coordinator;
use millstream_protocol::messages::{BrokerId, FindCoordinatorRequest, FindCoordinatorResponse, StrBytes};

pub(super) struct FindCoordinator;

impl Handler for FindCoordinator {
    type Request = FindCoordinatorRequest;
    fn handle(broker: &mut Broker, call: &Call, request: FindCoordinatorRequest) -> Answer<FindCoordinatorResponse> {
        Answer::Reply(if call.version >= 4 {
            let found = request.coordinator_keys.iter().map(|key| find(broker, key, request.key_type)).collect();
            FindCoordinatorResponse::default().with_coordinators(found)
        } else {
            single(find(broker, &request.key, request.key_type))
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

fn find(broker: &Broker, key: &StrBytes, key_type: i8) -> Coordinator {
    if !matches!(key_type, 0 | 1) {
        return failed(key, ErrorCode::INVALID_REQUEST);
    }
    match broker.nodes.coordinator(key) {
        None => failed(key, ErrorCode::COORDINATOR_NOT_AVAILABLE),
        Some(node) => Coordinator::default()
            .with_key(key.clone())
            .with_node_id(BrokerId(node.id.get()))
            .with_host(node.host.clone())
            .with_port(i32::from(node.port))
            .with_error_message(None),
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
