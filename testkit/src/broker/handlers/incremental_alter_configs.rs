//! IncrementalAlterConfigs (KIP-339): single options of topics, brokers, loggers, groups and subscriptions to clients' metrics are set,
//! deleted, appended to or subtracted from.
//!
//! Versions 0 to 1. Left out: nothing.

use super::Handler;
use super::altering::{Alteration, Change, Mode, Operation, alter_all};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::incremental_alter_configs_request::AlterConfigsResource;
use millstream_protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse;
use millstream_protocol::messages::{IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, StrBytes};

pub(super) struct IncrementalAlterConfigs;

impl Handler for IncrementalAlterConfigs {
    type Request = IncrementalAlterConfigsRequest;
    fn handle(
        broker: &mut Broker,
        call: &Call,
        request: IncrementalAlterConfigsRequest,
    ) -> Answer<IncrementalAlterConfigsResponse> {
        let alterations = request.resources.iter().map(|asked| alteration(asked, request.validate_only));
        let altered = alter_all(broker, call, &alterations.collect::<Vec<_>>());
        let responses = request.resources.iter().zip(altered).map(|(asked, altered)| match altered {
            Ok(()) => named(asked).with_error_message(None),
            Err((code, reason)) => refused(asked, code, reason),
        });
        let responses = responses.collect();
        Answer::Reply(IncrementalAlterConfigsResponse::default().with_responses(responses))
    }
    fn when_full(_: &Broker, request: &IncrementalAlterConfigsRequest) -> Option<ErrorCode> {
        let mut operations = request.resources.iter().flat_map(|resource| &resource.configs);
        operations.any(|each| each.value.is_some()).then_some(ErrorCode::POLICY_VIOLATION)
    }
    fn refuse(request: &IncrementalAlterConfigsRequest, code: ErrorCode) -> IncrementalAlterConfigsResponse {
        let responses = request.resources.iter().map(|asked| refused(asked, code, code.message().to_owned()));
        IncrementalAlterConfigsResponse::default().with_responses(responses.collect())
    }
}

fn alteration(asked: &AlterConfigsResource, validate_only: bool) -> Alteration {
    let changes = asked.configs.iter().map(|given| Change {
        name: given.name.clone(),
        operation: Operation::numbered(given.config_operation),
        value: given.value.clone(),
    });
    Alteration {
        resource_type: asked.resource_type,
        resource_name: asked.resource_name.clone(),
        mode: Mode::Single,
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
    let message = (code != ErrorCode::UNKNOWN_SERVER_ERROR).then(|| StrBytes::from_string(reason));
    named(asked).with_error_code(code.get()).with_error_message(message)
}
