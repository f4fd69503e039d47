//! IncrementalAlterConfigs (KIP-339): single options of topics, brokers, loggers, groups and subscriptions to clients' metrics are set,
//! deleted, appended to or subtracted from.
//!
//! Versions 0 to 1. Left out: nothing.

use super::Handler;
use super::altering::resource::{alter_resources, refuse_resources};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse};

pub(super) struct IncrementalAlterConfigs;

impl Handler for IncrementalAlterConfigs {
    type Request = IncrementalAlterConfigsRequest;
    fn handle(
        broker: &mut Broker,
        call: &Call,
        request: IncrementalAlterConfigsRequest,
    ) -> Answer<IncrementalAlterConfigsResponse> {
        let responses = alter_resources(broker, call, &request.resources, request.validate_only);
        Answer::Reply(IncrementalAlterConfigsResponse::default().with_responses(responses))
    }
    fn when_full(_: &Broker, request: &IncrementalAlterConfigsRequest) -> Option<ErrorCode> {
        let mut operations = request.resources.iter().flat_map(|resource| &resource.configs);
        operations.any(|each| each.value.is_some()).then_some(ErrorCode::POLICY_VIOLATION)
    }
    fn refuse(request: &IncrementalAlterConfigsRequest, code: ErrorCode) -> IncrementalAlterConfigsResponse {
        IncrementalAlterConfigsResponse::default().with_responses(refuse_resources(&request.resources, code))
    }
}
