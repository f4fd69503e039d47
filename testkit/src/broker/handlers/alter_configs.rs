//! AlterConfigs, the older way: a topic's options are replaced as a whole.

use super::Handler;
use super::create_topics::Refusal;
use super::describe_configs::TOPIC;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::topics::config;
use crate::broker::topics::topic::Topic;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::alter_configs_request::AlterConfigsResource;
use millstream_protocol::messages::alter_configs_response::AlterConfigsResourceResponse;
use millstream_protocol::messages::{AlterConfigsRequest, AlterConfigsResponse, StrBytes};
use std::collections::BTreeMap;

pub(super) struct AlterConfigs;

impl Handler for AlterConfigs {
    type Request = AlterConfigsRequest;
    fn handle(broker: &mut Broker, _: &Call, request: AlterConfigsRequest) -> Answer<AlterConfigsResponse> {
        let responses = request.resources.iter().map(|asked| match alter(broker, asked, request.validate_only) {
            Ok(()) => named(asked).with_error_message(None),
            Err((code, reason)) => refused(asked, code, reason),
        });
        let responses = responses.collect();
        Answer::Reply(AlterConfigsResponse::default().with_responses(responses))
    }
    fn refuse(request: &AlterConfigsRequest, code: ErrorCode) -> AlterConfigsResponse {
        let responses = request.resources.iter().map(|asked| refused(asked, code, code.message().to_owned()));
        AlterConfigsResponse::default().with_responses(responses.collect())
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
fn alter(broker: &mut Broker, asked: &AlterConfigsResource, validate_only: bool) -> Result<(), Refusal> {
    let topic = topic_to_alter(broker, asked.resource_type, &asked.resource_name)?;
    let mut configs = BTreeMap::new();
    for given in &asked.configs {
        let invalid = |reason: String| (ErrorCode::INVALID_CONFIG, reason);
        let option =
            config::option(&given.name).ok_or_else(|| invalid(format!("Unknown topic config name: {}", given.name)))?;
        let value = given.value.as_deref().unwrap_or_default();
        option.check(value).map_err(invalid)?;
        configs.insert(option.name.to_owned(), value.to_owned());
    }
    if !validate_only {
        topic.configs = configs;
    }
    Ok(())
}
/// The topic whose options are to be altered; nothing else has options that can be.
pub(super) fn topic_to_alter<'b>(
    broker: &'b mut Broker,
    resource_type: i8,
    name: &str,
) -> Result<&'b mut Topic, Refusal> {
    if resource_type != TOPIC {
        return Err((ErrorCode::INVALID_REQUEST, "the test cluster alters the options of topics only".to_owned()));
    }
    let unknown = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    broker.topics.find_mut(name).ok_or_else(|| (unknown, unknown.message().to_owned()))
}
