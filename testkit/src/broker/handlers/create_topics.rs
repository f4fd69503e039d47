//! CreateTopics: validation as Kafka's controller does it, by any node.
//!
//! Versions 2 to 7. Left out: NOT_CONTROLLER (KRaft brokers forward).

use super::describe_configs::{FROM_TOPIC, in_force};
use super::{Handler, counted_by};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call, Refusal};
use crate::broker::topics::config;
use crate::broker::topics::topic::Topic;
use crate::broker::topics::{check_count, check_name, layout};
use millstream_protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use millstream_protocol::messages::create_topics_response::{CreatableTopicConfigs, CreatableTopicResult};
use millstream_protocol::messages::{CreateTopicsRequest, CreateTopicsResponse, StrBytes};
use millstream_protocol::{ErrorCode, NodeId};
use std::collections::BTreeMap;

pub(super) struct CreateTopics;

/// A topic that may be made.
struct Design {
    layout: Vec<Vec<NodeId>>,
    configs: BTreeMap<String, String>,
}

impl Handler for CreateTopics {
    type Request = CreateTopicsRequest;
    fn handle(broker: &mut Broker, _: &Call, request: CreateTopicsRequest) -> Answer<CreateTopicsResponse> {
        if let Err((code, reason)) = check_total(broker, &request) {
            let results = request.topics.iter().map(|asked| refused(asked, code, reason.clone()));
            return Answer::Reply(CreateTopicsResponse::default().with_topics(results.collect()));
        }
        let mut results = Vec::with_capacity(request.topics.len());
        for (asked, times) in counted_by(&request.topics, |asked| &asked.name) {
            let design = if times > 1 {
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
    fn when_full(_: &Broker, _: &CreateTopicsRequest) -> Option<ErrorCode> {
        Some(ErrorCode::POLICY_VIOLATION)
    }
    fn refuse(request: &CreateTopicsRequest, code: ErrorCode) -> CreateTopicsResponse {
        let results = request.topics.iter().map(|asked| refused(asked, code, code.message().to_owned()));
        CreateTopicsResponse::default().with_topics(results.collect())
    }
}

/// Refuses all of a request that asks for too much.
fn check_total(broker: &Broker, request: &CreateTopicsRequest) -> Result<(), Refusal> {
    let count = |asked: &CreatableTopic| match (asked.assignments.len(), asked.num_partitions) {
        (0, -1) => usize::try_from(broker.settings.num_partitions).unwrap_or(0),
        (0, count) => usize::try_from(count).unwrap_or(0),
        (count, _) => count,
    };
    check_count(request.topics.iter().map(count).sum(), "partitions")
}
fn design(broker: &Broker, asked: &CreatableTopic) -> Result<Design, Refusal> {
    check_name(&asked.name.0)?;
    if broker.topics.find(&asked.name.0).is_some() {
        return Err((ErrorCode::TOPIC_ALREADY_EXISTS, format!("Topic '{}' already exists.", asked.name.0)));
    }
    check_collision(broker, &asked.name.0)?;
    let configs = check_configs(broker, &asked.configs)?;
    let layout = if asked.assignments.is_empty() { spread(broker, asked)? } else { assigned(broker, asked)? };
    broker.check_partition_room(layout.len())?;
    Ok(Design { layout, configs })
}
/// In metrics a dot and an underscore are the same.
fn check_collision(broker: &Broker, name: &str) -> Result<(), Refusal> {
    broker.topics.collides_with(name).map_or(Ok(()), |other| {
        let reason = format!("Topic '{name}' collides with existing topic: {other}");
        Err((ErrorCode::INVALID_TOPIC_EXCEPTION, reason))
    })
}
/// The values as they were given. Of an option that comes twice the last one counts.
fn check_configs(broker: &Broker, configs: &[CreatableTopicConfig]) -> Result<BTreeMap<String, String>, Refusal> {
    let invalid = |reason: String| (ErrorCode::INVALID_CONFIG, reason);
    let nulls: Vec<&str> =
        configs.iter().filter(|given| given.value.is_none()).map(|given| given.name.as_str()).collect();
    if !nulls.is_empty() {
        return Err(invalid(format!("Null value not supported for topic configs: {}", nulls.join(","))));
    }
    let given = configs.iter().filter_map(|given| Some((given.name.to_string(), given.value.as_ref()?.to_string())));
    let given = given.collect();
    config::check_all(&given, &broker.settings.topic_defaults, broker.settings.release).map_err(invalid)?;
    Ok(given)
}
fn spread(broker: &Broker, asked: &CreatableTopic) -> Result<Vec<Vec<NodeId>>, Refusal> {
    // −1 is the default, which Kafka documents from version 4 on and takes at any.
    let or_default = |given: i32, default: i32| if given == -1 { default } else { given };
    let count = or_default(asked.num_partitions, broker.settings.num_partitions);
    let factor = or_default(i32::from(asked.replication_factor), i32::from(broker.settings.default_replication_factor));
    let factor = usize::try_from(factor).ok().filter(|factor| *factor > 0);
    let factor = factor.ok_or((
        ErrorCode::INVALID_REPLICATION_FACTOR,
        "Replication factor must be larger than 0, or -1 to use the default value.".to_owned(),
    ))?;
    let count = usize::try_from(count).ok().filter(|count| *count > 0);
    let count = count.ok_or((
        ErrorCode::INVALID_PARTITIONS,
        "Number of partitions was set to an invalid non-positive value.".to_owned(),
    ))?;
    check_factor(broker, factor)?;
    Ok(layout(&asked.name.0, 0, count, factor, &broker.nodes))
}
fn check_factor(broker: &Broker, factor: usize) -> Result<(), Refusal> {
    let up = broker.nodes.up().count();
    if factor <= up {
        return Ok(());
    }
    let reason = format!(
        "Unable to replicate the partition {factor} time(s): The target replication factor of {factor} cannot be reached because only {up} broker(s) are registered or some brokers have all their log directories cordoned."
    );
    Err((ErrorCode::INVALID_REPLICATION_FACTOR, reason))
}
fn assigned(broker: &Broker, asked: &CreatableTopic) -> Result<Vec<Vec<NodeId>>, Refusal> {
    let both = |what: &str| {
        let reason = format!("A manual partition assignment was specified, but {what} was not set to -1.");
        Err((ErrorCode::INVALID_REQUEST, reason))
    };
    if asked.replication_factor != -1 {
        return both("replication factor");
    }
    if asked.num_partitions != -1 {
        return both("numPartitions");
    }
    let mut by_index: BTreeMap<i32, Vec<NodeId>> = BTreeMap::new();
    for each in &asked.assignments {
        let replicas: Vec<NodeId> = each.broker_ids.iter().map(|id| NodeId::new(id.0)).collect();
        check_replicas(broker, &replicas)?;
        if by_index.insert(each.partition_index, replicas).is_some() {
            let reason = format!("Found multiple manual partition assignments for partition {}", each.partition_index);
            return Err((ErrorCode::INVALID_REPLICA_ASSIGNMENT, reason));
        }
    }
    if (0..).zip(by_index.keys()).any(|(expected, index)| expected != *index) {
        let reason = "partitions should be a consecutive 0-based integer sequence";
        return Err((ErrorCode::INVALID_REPLICA_ASSIGNMENT, reason.to_owned()));
    }
    Ok(by_index.into_values().collect())
}
/// Whether these can be the replicas of a partition; if not, why, in Kafka's words.
pub(super) fn check_replicas(broker: &Broker, replicas: &[NodeId]) -> Result<(), Refusal> {
    let invalid = |reason: String| Err((ErrorCode::INVALID_REPLICA_ASSIGNMENT, reason));
    if replicas.is_empty() {
        return invalid("The manual partition assignment includes an empty replica list.".to_owned());
    }
    if let Some(unknown) = replicas.iter().find(|id| broker.nodes.find(**id).is_none()) {
        return invalid(format!(
            "The manual partition assignment includes broker {unknown}, but no such broker is registered."
        ));
    }
    let twice = replicas.iter().find(|id| replicas.iter().filter(|other| other == id).count() > 1);
    twice.map_or(Ok(()), |id| {
        invalid(format!("The manual partition assignment includes the broker {id} more than once."))
    })
}

fn create(broker: &mut Broker, asked: &CreatableTopic, design: Design, validate_only: bool) -> CreatableTopicResult {
    let partitions = i32::try_from(design.layout.len()).unwrap_or(i32::MAX);
    let factor = design.layout.first().and_then(|replicas| i16::try_from(replicas.len()).ok()).unwrap_or(0);
    let result = CreatableTopicResult::default()
        .with_name(asked.name.clone())
        .with_error_message(None)
        .with_num_partitions(partitions)
        .with_replication_factor(factor);
    let configs = config::spelled(design.configs.clone());
    let topic = broker.topics.draft(&asked.name.0, design.layout, configs, &broker.settings, &broker.nodes);
    let told = describe_configs(broker, &topic, &design.configs);
    let result = result.with_topic_id(topic.id).with_configs(Some(told));
    if !validate_only {
        broker.topics.insert(topic);
    }
    result
}
/// What was given is told as it was given, unlike what DescribeConfigs tells.
fn describe_configs(broker: &Broker, topic: &Topic, given: &BTreeMap<String, String>) -> Vec<CreatableTopicConfigs> {
    // The controller tells what it goes by itself.
    let node = broker.nodes.controller().map_or(NodeId::new(-1), |node| node.id);
    let describe = |option: &config::TopicOption| {
        let (value, source) = match given.get(option.name) {
            Some(value) => (value.clone(), FROM_TOPIC),
            None => in_force(broker, node, topic, option),
        };
        let told = CreatableTopicConfigs::default().with_name(StrBytes::from_static_str(option.name));
        told.with_value(Some(StrBytes::from_string(value))).with_config_source(source)
    };
    let mut configs: Vec<_> = config::OPTIONS.iter().map(describe).collect();
    configs.sort_by(|one, two| one.name.cmp(&two.name));
    configs
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
