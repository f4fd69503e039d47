//! FindCoordinator: single and batched, for groups (0) and transactional ids (1).
//!
//! Versions 0 to 6. Left out: share groups (2).

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::topics::{OFFSETS_TOPIC, TRANSACTIONS_TOPIC};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::find_coordinator_response::Coordinator;
use millstream_protocol::messages::{BrokerId, FindCoordinatorRequest, FindCoordinatorResponse, StrBytes};

const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;

pub(super) struct FindCoordinator;

impl Handler for FindCoordinator {
    type Request = FindCoordinatorRequest;
    fn handle(broker: &mut Broker, call: &Call, request: FindCoordinatorRequest) -> Answer<FindCoordinatorResponse> {
        Answer::Reply(if call.version >= 4 {
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

impl Broker {
    /// Makes an internal topic when somebody first needs its owner, as Kafka does.
    pub(in crate::broker) fn ensure_internal(&mut self, name: &str) {
        if self.has_topic(name) {
            return;
        }
        let partitions = self.settings.partitions_of(name);
        let id = self.create_topic(name, partitions);
        let configs = internal_configs(name);
        if let Some(topic) = self.topics.find_id_mut(id) {
            topic.configs = configs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        }
    }
}
/// What Kafka sets for its internal topics.
fn internal_configs(name: &str) -> &'static [(&'static str, &'static str)] {
    match name {
        TRANSACTIONS_TOPIC => &[
            ("cleanup.policy", "compact"),
            ("compression.type", "uncompressed"),
            ("segment.bytes", "104857600"),
            ("unclean.leader.election.enable", "false"),
        ],
        _ => &[("cleanup.policy", "compact"), ("compression.type", "producer"), ("segment.bytes", "104857600")],
    }
}
