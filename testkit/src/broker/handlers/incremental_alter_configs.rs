//! IncrementalAlterConfigs: set, delete, append and subtract, for topics. Left out: brokers, groups, loggers.

use super::Handler;
use super::alter_configs::topic_to_alter;
use super::create_topics::Refusal;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::topics::config::{self, Kind};
use crate::broker::topics::topic::Topic;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use millstream_protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse;
use millstream_protocol::messages::{IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, StrBytes};
use std::collections::BTreeMap;

const SET: i8 = 0;
const DELETE: i8 = 1;
const APPEND: i8 = 2;
const SUBTRACT: i8 = 3;

pub(super) struct IncrementalAlterConfigs;

impl Handler for IncrementalAlterConfigs {
    type Request = IncrementalAlterConfigsRequest;
    fn handle(
        broker: &mut Broker,
        _: &Call,
        request: IncrementalAlterConfigsRequest,
    ) -> Answer<IncrementalAlterConfigsResponse> {
        let responses = request.resources.iter().map(|asked| match alter(broker, asked, request.validate_only) {
            Ok(()) => named(asked).with_error_message(None),
            Err((code, reason)) => refused(asked, code, reason),
        });
        let responses = responses.collect();
        Answer::Reply(IncrementalAlterConfigsResponse::default().with_responses(responses))
    }
    fn refuse(request: &IncrementalAlterConfigsRequest, code: ErrorCode) -> IncrementalAlterConfigsResponse {
        let responses = request.resources.iter().map(|asked| refused(asked, code, code.message().to_owned()));
        IncrementalAlterConfigsResponse::default().with_responses(responses.collect())
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
    let mut configs = topic.configs.clone();
    asked.configs.iter().try_for_each(|change| apply(topic, &mut configs, change))?;
    if !validate_only {
        topic.configs = configs;
    }
    Ok(())
}
fn apply(topic: &Topic, configs: &mut BTreeMap<String, String>, change: &AlterableConfig) -> Result<(), Refusal> {
    let invalid = |reason: String| (ErrorCode::INVALID_CONFIG, reason);
    let option =
        config::option(&change.name).ok_or_else(|| invalid(format!("Unknown topic config name: {}", change.name)))?;
    let given = change.value.as_deref().unwrap_or_default();
    let now = configs.get(option.name).map_or_else(|| topic.config(option.name), String::as_str);
    let parts = now.split(',').filter(|part| !part.is_empty());
    let value = match change.config_operation {
        DELETE => {
            configs.remove(option.name);
            return Ok(());
        }
        SET => given.to_owned(),
        APPEND if option.kind == Kind::List => {
            parts.filter(|part| *part != given).chain([given]).collect::<Vec<_>>().join(",")
        }
        SUBTRACT if option.kind == Kind::List => parts.filter(|part| *part != given).collect::<Vec<_>>().join(","),
        APPEND | SUBTRACT => {
            return Err(invalid(format!("Can't append to or subtract from key {}: it is not a list", option.name)));
        }
        other => return Err((ErrorCode::INVALID_REQUEST, format!("Unknown operation type {other}"))),
    };
    option.check(&value).map_err(invalid)?;
    configs.insert(option.name.to_owned(), value);
    Ok(())
}
