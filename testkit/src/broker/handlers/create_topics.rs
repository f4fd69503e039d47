//! CreateTopics: validation as Kafka's controller does it, by any node. Left out: NOT_CONTROLLER (KRaft brokers forward).

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::topics::config;
use crate::broker::topics::topic::Topic;
use crate::broker::topics::{check_name, layout};
use millstream_protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use millstream_protocol::messages::create_topics_response::{CreatableTopicConfigs, CreatableTopicResult};
use millstream_protocol::messages::{CreateTopicsRequest, CreateTopicsResponse, StrBytes};
use millstream_protocol::{ErrorCode, NodeId};
use std::collections::BTreeMap;

/// A code and the sentence that goes with it.
pub(super) type Refusal = (ErrorCode, String);

pub(super) struct CreateTopics;

/// A topic that may be made.
struct Design {
    layout: Vec<Vec<NodeId>>,
    configs: BTreeMap<String, String>,
}

impl Handler for CreateTopics {
    type Request = CreateTopicsRequest;
    fn handle(broker: &mut Broker, _: &Call, request: CreateTopicsRequest) -> Answer<CreateTopicsResponse> {
        let mut results = Vec::with_capacity(request.topics.len());
        for asked in &request.topics {
            let is_twice = request.topics.iter().filter(|other| other.name == asked.name).count() > 1;
            let design = if is_twice {
                Err((ErrorCode::INVALID_REQUEST, "Duplicate topic name.".to_owned()))
            } else {
                design(broker, asked)
            };
            results.push(match design {
                Ok(design) => create(broker, asked, design, request.validate_only),
                Err((code, reason)) => refused(asked, code, reason),
            });
        }
        Answer::Reply(CreateTopicsResponse::default().with_topics(results))
    }
    fn refuse(request: &CreateTopicsRequest, code: ErrorCode) -> CreateTopicsResponse {
        let results = request.topics.iter().map(|asked| refused(asked, code, code.message().to_owned()));
        CreateTopicsResponse::default().with_topics(results.collect())
    }
}

fn design(broker: &Broker, asked: &CreatableTopic) -> Result<Design, Refusal> {
    check_name(&asked.name.0)?;
    if broker.topics.find(&asked.name.0).is_some() {
        return Err((ErrorCode::TOPIC_ALREADY_EXISTS, format!("Topic '{}' already exists.", asked.name.0)));
    }
    let configs = check_configs(&asked.configs)?;
    let layout = if asked.assignments.is_empty() { spread(broker, asked)? } else { assigned(broker, asked)? };
    Ok(Design { layout, configs })
}
fn check_configs(configs: &[CreatableTopicConfig]) -> Result<BTreeMap<String, String>, Refusal> {
    let mut checked = BTreeMap::new();
    for given in configs {
        let invalid = |reason: String| (ErrorCode::INVALID_CONFIG, reason);
        let option =
            config::option(&given.name).ok_or_else(|| invalid(format!("Unknown topic config name: {}", given.name)))?;
        let value = given
            .value
            .as_deref()
            .ok_or_else(|| invalid(format!("Null value not supported for topic configs: {}", given.name)))?;
        option.check(value).map_err(invalid)?;
        checked.insert(given.name.to_string(), value.to_owned());
    }
    Ok(checked)
}
fn spread(broker: &Broker, asked: &CreatableTopic) -> Result<Vec<Vec<NodeId>>, Refusal> {
    // −1 is the default, which Kafka documents from version 4 on and takes at any.
    let or_default = |given: i32, default: i32| if given == -1 { default } else { given };
    let count = or_default(asked.num_partitions, broker.settings.num_partitions);
    let factor = or_default(i32::from(asked.replication_factor), i32::from(broker.settings.default_replication_factor));
    let count = usize::try_from(count).ok().filter(|count| *count > 0);
    let count = count.ok_or((
        ErrorCode::INVALID_PARTITIONS,
        "Number of partitions was set to an invalid non-positive value.".to_owned(),
    ))?;
    let factor = usize::try_from(factor).ok().filter(|factor| *factor > 0);
    let factor = factor
        .ok_or((ErrorCode::INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0.".to_owned()))?;
    check_factor(broker, factor)?;
    Ok(layout(&asked.name.0, 0, count, factor, &broker.nodes))
}
fn check_factor(broker: &Broker, factor: usize) -> Result<(), Refusal> {
    let up = broker.nodes.up().count();
    if factor <= up {
        return Ok(());
    }
    let reason = format!(
        "Unable to replicate the partition {factor} time(s): The target replication factor of {factor} cannot be reached because only {up} broker(s) are registered."
    );
    Err((ErrorCode::INVALID_REPLICATION_FACTOR, reason))
}
fn assigned(broker: &Broker, asked: &CreatableTopic) -> Result<Vec<Vec<NodeId>>, Refusal> {
    if asked.num_partitions != -1 || asked.replication_factor != -1 {
        let reason = "A manual partition assignment was specified, but number of partitions or replication factor was not set to -1.";
        return Err((ErrorCode::INVALID_REQUEST, reason.to_owned()));
    }
    let by_index: BTreeMap<i32, Vec<NodeId>> = asked
        .assignments
        .iter()
        .map(|each| (each.partition_index, each.broker_ids.iter().map(|id| NodeId::new(id.0)).collect()))
        .collect();
    let is_dense = (0..).zip(by_index.keys()).all(|(expected, index)| expected == *index)
        && by_index.len() == asked.assignments.len();
    let is_known = by_index
        .values()
        .all(|replicas| !replicas.is_empty() && replicas.iter().all(|id| broker.nodes.find(*id).is_some()));
    if !is_dense || !is_known {
        return Err((
            ErrorCode::INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment is not dense, is empty, or names brokers that are not there.".to_owned(),
        ));
    }
    Ok(by_index.into_values().collect())
}

fn create(broker: &mut Broker, asked: &CreatableTopic, design: Design, validate_only: bool) -> CreatableTopicResult {
    let partitions = i32::try_from(design.layout.len()).unwrap_or(i32::MAX);
    let factor = design.layout.first().and_then(|replicas| i16::try_from(replicas.len()).ok()).unwrap_or(0);
    let result = CreatableTopicResult::default()
        .with_name(asked.name.clone())
        .with_error_message(None)
        .with_num_partitions(partitions)
        .with_replication_factor(factor);
    if validate_only {
        return result.with_configs(Some(Vec::new()));
    }
    let topic = broker.topics.create(&asked.name.0, design.layout, design.configs, &broker.settings, &broker.nodes);
    result.with_topic_id(topic.id).with_configs(Some(describe_configs(topic)))
}
fn describe_configs(topic: &Topic) -> Vec<CreatableTopicConfigs> {
    let describe = |option: &config::TopicOption| {
        CreatableTopicConfigs::default()
            .with_name(StrBytes::from_static_str(option.name))
            .with_value(Some(StrBytes::from_string(topic.config(option.name).to_owned())))
            .with_config_source(topic.source_of(option.name))
    };
    config::OPTIONS.iter().map(describe).collect()
}
fn refused(asked: &CreatableTopic, code: ErrorCode, reason: String) -> CreatableTopicResult {
    CreatableTopicResult::default()
        .with_name(asked.name.clone())
        .with_error_code(code.get())
        .with_error_message(Some(StrBytes::from_string(reason)))
        .with_num_partitions(-1)
        .with_replication_factor(-1)
        .with_configs(Some(Vec::new()))
}
