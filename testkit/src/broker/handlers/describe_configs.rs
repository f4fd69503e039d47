//! DescribeConfigs: topics and brokers. Of a broker it shows what was set. Left out: documentation, loggers, client metrics, groups.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::topics::config::{OPTIONS, TopicOption};
use crate::broker::topics::topic::{FROM_CLUSTER, Topic, is_set_by_cluster};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::describe_configs_request::DescribeConfigsResource;
use millstream_protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
};
use millstream_protocol::messages::{DescribeConfigsRequest, DescribeConfigsResponse, StrBytes};

pub(super) const TOPIC: i8 = 2;
pub(super) const BROKER: i8 = 4;
const FROM_FILE: i8 = 4;
const FROM_DEFAULT: i8 = 5;
const FROM_TOPIC: i8 = 1;
const TEXT: i8 = 2;

pub(super) struct DescribeConfigs;

impl Handler for DescribeConfigs {
    type Request = DescribeConfigsRequest;
    fn handle(broker: &mut Broker, _: &Call, request: DescribeConfigsRequest) -> Answer<DescribeConfigsResponse> {
        let results = request.resources.iter().map(|asked| match find(broker, asked, request.include_synonyms) {
            Ok(configs) => named(asked).with_error_message(None).with_configs(configs),
            Err(code) => refused(asked, code),
        });
        Answer::Reply(DescribeConfigsResponse::default().with_results(results.collect()))
    }
    fn refuse(request: &DescribeConfigsRequest, code: ErrorCode) -> DescribeConfigsResponse {
        DescribeConfigsResponse::default()
            .with_results(request.resources.iter().map(|asked| refused(asked, code)).collect())
    }
}

fn named(asked: &DescribeConfigsResource) -> DescribeConfigsResult {
    DescribeConfigsResult::default()
        .with_resource_type(asked.resource_type)
        .with_resource_name(asked.resource_name.clone())
}
fn refused(asked: &DescribeConfigsResource, code: ErrorCode) -> DescribeConfigsResult {
    named(asked).with_error_code(code.get()).with_error_message(Some(StrBytes::from_static_str(code.message())))
}
fn find(
    broker: &Broker,
    asked: &DescribeConfigsResource,
    synonyms: bool,
) -> Result<Vec<DescribeConfigsResourceResult>, ErrorCode> {
    let is_wanted = |name: &str| {
        asked
            .configuration_keys
            .as_ref()
            .is_none_or(|keys| keys.is_empty() || keys.iter().any(|key| key.as_str() == name))
    };
    match asked.resource_type {
        TOPIC => {
            let topic = broker.topics.find(&asked.resource_name).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
            let shown = OPTIONS.iter().filter(|option| is_wanted(option.name));
            Ok(shown.map(|option| describe(topic, option, synonyms)).collect())
        }
        BROKER => {
            let given = broker.settings.given.iter().filter(|(name, _)| is_wanted(name));
            Ok(given.map(|(name, value)| describe_broker(name, value)).collect())
        }
        _ => Err(ErrorCode::INVALID_REQUEST),
    }
}
fn describe(topic: &Topic, option: &TopicOption, synonyms: bool) -> DescribeConfigsResourceResult {
    DescribeConfigsResourceResult::default()
        .with_name(StrBytes::from_static_str(option.name))
        .with_value(Some(StrBytes::from_string(topic.config(option.name).to_owned())))
        .with_config_source(topic.source_of(option.name))
        .with_config_type(option.kind.number())
        .with_synonyms(if synonyms { synonyms_of(topic, option) } else { Vec::new() })
        .with_documentation(None)
}
fn synonyms_of(topic: &Topic, option: &TopicOption) -> Vec<DescribeConfigsSynonym> {
    let synonym = |name: &'static str, value: &str, source: i8| {
        DescribeConfigsSynonym::default()
            .with_name(StrBytes::from_static_str(name))
            .with_value(Some(StrBytes::from_string(value.to_owned())))
            .with_source(source)
    };
    let own = topic.configs.get(option.name).map(|value| synonym(option.name, value, FROM_TOPIC));
    let inherited = topic.defaults.get(option.name).map(|value| synonym(option.broker_key, value, FROM_FILE));
    let default = option.has_broker_default().then(|| synonym(option.broker_key, option.default, FROM_DEFAULT));
    let by_cluster =
        is_set_by_cluster(option.name).then(|| synonym(option.broker_key, topic.inherited(option.name), FROM_CLUSTER));
    own.into_iter().chain(by_cluster).chain(inherited).chain(default).collect()
}
fn describe_broker(name: &str, value: &str) -> DescribeConfigsResourceResult {
    DescribeConfigsResourceResult::default()
        .with_name(StrBytes::from_string(name.to_owned()))
        .with_value(Some(StrBytes::from_string(value.to_owned())))
        .with_read_only(true)
        .with_config_source(FROM_FILE)
        .with_config_type(TEXT)
        .with_documentation(None)
}
