//! AlterConfigs, the older way: the options of a topic, broker, group or subscription to clients' metrics are replaced as a whole.
//!
//! Versions 0 to 2. Left out: nothing.

use super::Handler;
use super::altering::{Alteration, Change, Mode, Operation, alter_all};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::alter_configs_request::AlterConfigsResource;
use millstream_protocol::messages::alter_configs_response::AlterConfigsResourceResponse;
use millstream_protocol::messages::{AlterConfigsRequest, AlterConfigsResponse, StrBytes};

pub(super) struct AlterConfigs;

impl Handler for AlterConfigs {
    type Request = AlterConfigsRequest;
    fn handle(broker: &mut Broker, call: &Call, request: AlterConfigsRequest) -> Answer<AlterConfigsResponse> {
        let alterations = request.resources.iter().map(|asked| alteration(asked, request.validate_only));
        let altered = alter_all(broker, call, &alterations.collect::<Vec<_>>());
        let responses = request.resources.iter().zip(altered).map(|(asked, altered)| match altered {
            Ok(()) => named(asked).with_error_message(None),
            Err((code, reason)) => refused(asked, code, reason),
        });
        let responses = responses.collect();
        Answer::Reply(AlterConfigsResponse::default().with_responses(responses))
    }
    fn when_full(_: &Broker, _: &AlterConfigsRequest) -> Option<ErrorCode> {
        Some(ErrorCode::POLICY_VIOLATION)
    }
    fn refuse(request: &AlterConfigsRequest, code: ErrorCode) -> AlterConfigsResponse {
        let responses = request.resources.iter().map(|asked| refused(asked, code, code.message().to_owned()));
        AlterConfigsResponse::default().with_responses(responses.collect())
    }
}

fn alteration(asked: &AlterConfigsResource, validate_only: bool) -> Alteration {
    let changes = asked.configs.iter().map(|given| Change {
        name: given.name.clone(),
        operation: Operation::Set,
        value: given.value.clone(),
    });
    Alteration {
        resource_type: asked.resource_type,
        resource_name: asked.resource_name.clone(),
        mode: Mode::Whole,
        changes: changes.collect(),
        validate_only,
    }
}
fn named(asked: &AlterConfigsResource) -> AlterConfigsResourceResponse {
    AlterConfigsResourceResponse::default()
        .with_resource_type(asked.resource_type)
        .with_resource_name(asked.resource_name.clone())
}
fn refused(asked: &AlterConfigsResource, code: ErrorCode, reason: String) -> AlterConfigsResourceResponse {
    named(asked).with_error_code(code.get()).with_error_message(Some(StrBytes::from_string(reason)))
}
