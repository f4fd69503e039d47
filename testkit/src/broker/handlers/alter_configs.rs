//! AlterConfigs, the older way: the options of a topic, broker, group or subscription to clients' metrics are replaced as a whole.
//!
//! Versions 0 to 2. Left out: nothing.

use super::Handler;
use super::altering::resource::{alter_resources, refuse_resources};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{AlterConfigsRequest, AlterConfigsResponse};

pub(super) struct AlterConfigs;

impl Handler for AlterConfigs {
    type Request = AlterConfigsRequest;
    fn handle(broker: &mut Broker, call: &Call, request: AlterConfigsRequest) -> Answer<AlterConfigsResponse> {
        let responses = alter_resources(broker, call, &request.resources, request.validate_only);
        Answer::Reply(AlterConfigsResponse::default().with_responses(responses))
    }
    fn when_full(_: &Broker, _: &AlterConfigsRequest) -> Option<ErrorCode> {
        Some(ErrorCode::POLICY_VIOLATION)
    }
    fn refuse(request: &AlterConfigsRequest, code: ErrorCode) -> AlterConfigsResponse {
        AlterConfigsResponse::default().with_responses(refuse_resources(&request.resources, code))
    }
}
