//! DescribeCluster: nodes and controller.
//!
//! Versions 0 to 2. Left out: the controllers' own endpoints (endpoint type 2).

use super::Handler;
use super::metadata::CLUSTER_OPERATIONS;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::describe_cluster_response::DescribeClusterBroker;
use millstream_protocol::messages::{BrokerId, DescribeClusterRequest, DescribeClusterResponse, StrBytes};

const BROKERS: i8 = 1;

const CONTROLLERS: i8 = 2;

pub(super) struct DescribeCluster;

impl Handler for DescribeCluster {
    type Request = DescribeClusterRequest;
    fn handle(broker: &mut Broker, call: &Call, request: DescribeClusterRequest) -> Answer<DescribeClusterResponse> {
        if call.version >= 1 && request.endpoint_type != BROKERS {
            let (code, reason) = wrong_endpoint(request.endpoint_type);
            let refused = Self::refuse(&request, code).with_endpoint_type(BROKERS);
            return Answer::Reply(refused.with_error_message(Some(StrBytes::from_string(reason))));
        }
        let shown = broker.nodes.all().iter().filter(|node| node.is_up() || request.include_fenced_brokers);
        let brokers = shown.map(|node| {
            DescribeClusterBroker::default()
                .with_broker_id(BrokerId(node.id.get()))
                .with_host(node.host(call.listener))
                .with_port(node.port(call.listener))
                .with_rack(node.rack.clone())
                .with_is_fenced(!node.is_up())
        });
        Answer::Reply(
            DescribeClusterResponse::default()
                .with_error_message(None)
                .with_endpoint_type(BROKERS)
                .with_cluster_id(broker.cluster_id.clone())
                .with_controller_id(BrokerId(broker.nodes.controller().map_or(-1, |node| node.id.get())))
                .with_brokers(brokers.collect())
                .with_cluster_authorized_operations(if request.include_cluster_authorized_operations {
                    CLUSTER_OPERATIONS
                } else {
                    i32::MIN
                }),
        )
    }
    fn refuse(_: &DescribeClusterRequest, code: ErrorCode) -> DescribeClusterResponse {
        DescribeClusterResponse::default()
            .with_error_code(code.get())
            .with_error_message(Some(StrBytes::from_static_str(code.message())))
    }
}

fn wrong_endpoint(asked: i8) -> (ErrorCode, String) {
    if asked == CONTROLLERS {
        let reason = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER";
        return (ErrorCode::MISMATCHED_ENDPOINT_TYPE, reason.to_owned());
    }
    (ErrorCode::UNSUPPORTED_ENDPOINT_TYPE, format!("Unsupported endpoint type {asked}"))
}
