//! DescribeConfigs: topics, brokers, loggers, groups and subscriptions to clients' metrics, with synonyms.
//!
//! Versions 1 to 4. Left out: Kafka's sentences of documentation; there is one that refers to them.

use super::Handler;
use super::told::tells_too_much;
use crate::broker::Broker;
use crate::broker::bounds::values_weight;
use crate::broker::call::{Answer, Call, Refusal};
use crate::broker::configs::options::{self, ConfigOption};
use crate::broker::configs::{Kind, Values, client_metrics, loggers};
use crate::broker::nodes::Endpoint;
use crate::broker::security::SecurityProtocol;
use crate::broker::topics::check_name;
use crate::broker::topics::config::{self, Kind as Type, OPTIONS, TopicOption};
use crate::broker::topics::topic::{FROM_CLUSTER, Topic};
use millstream_protocol::messages::describe_configs_request::DescribeConfigsResource;
use millstream_protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
};
use millstream_protocol::messages::{DescribeConfigsRequest, DescribeConfigsResponse, StrBytes};
use millstream_protocol::{ErrorCode, NodeId};
use std::collections::BTreeSet;

pub(super) const FROM_TOPIC: i8 = 1;
const FROM_BROKER: i8 = 2;
const FROM_FILE: i8 = 4;
const FROM_DEFAULT: i8 = 5;
const FROM_LOGGER: i8 = 6;
const FROM_CLIENT_METRICS: i8 = 7;
const FROM_GROUP: i8 = 8;

/// What there is to tell of a resource of which nothing is set.
const PLAIN: usize = 4 << 10;

pub(super) struct DescribeConfigs;

impl Handler for DescribeConfigs {
    type Request = DescribeConfigsRequest;
    fn handle(broker: &mut Broker, call: &Call, request: DescribeConfigsRequest) -> Answer<DescribeConfigsResponse> {
        if request.resources.iter().any(|asked| Kind::numbered(asked.resource_type).is_none()) {
            return Answer::Reply(Self::refuse(&request, ErrorCode::INVALID_REQUEST));
        }
        let asked = request.resources.iter().map(|asked| (asked.resource_type, &asked.resource_name));
        let inherited = inherited_weight(broker);
        if tells_too_much(asked, |(kind, name)| weight(broker, inherited, (*kind, name.as_str()))) {
            return Answer::Reply(Self::refuse(&request, ErrorCode::INVALID_REQUEST));
        }
        let described = |asked: &DescribeConfigsResource| match find(broker, call, asked) {
            Ok(rows) => {
                let names = names(asked);
                let is_wanted = |row: &Row| names.is_empty() || names.contains(row.name.as_str());
                let wanted = rows.into_iter().filter(is_wanted);
                let configs = wanted.map(|row| row.into_result(&request)).collect();
                named(asked).with_error_message(Some(StrBytes::new())).with_configs(configs)
            }
            Err((code, reason)) => refused(asked, code, reason),
        };
        let results = request.resources.iter().map(described).collect();
        Answer::Reply(DescribeConfigsResponse::default().with_results(results))
    }
    fn refuse(request: &DescribeConfigsRequest, code: ErrorCode) -> DescribeConfigsResponse {
        let results = request.resources.iter().map(|asked| refused(asked, code, code.message().to_owned())).collect();
        DescribeConfigsResponse::default().with_results(results)
    }
}

/// How a value is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// As it is read.
    Read,
    /// As it was given.
    Given,
}

/// An option as it is told.
struct Row {
    name: String,
    kind: Type,
    spelling: Spelling,
    is_read_only: bool,
    /// Where its value may come from, nearest first: name, value, source. The first is in force.
    sources: Vec<(String, String, i8)>,
    /// In force when there is no source.
    otherwise: (Option<String>, i8),
}
impl Row {
    fn into_result(self, request: &DescribeConfigsRequest) -> DescribeConfigsResourceResult {
        let documentation = format!("`{}`: see Apache Kafka's documentation.", self.name);
        let is_secret = matches!(self.kind, Type::Password | Type::Unknown);
        let shown = |value: String| Some(StrBytes::from_string(value)).filter(|_| !is_secret);
        let spelled = |value: &str| match self.spelling {
            Spelling::Read => config::canonical(self.kind, value),
            Spelling::Given => value.to_owned(),
        };
        let first = self.sources.first().map(|(_, value, source)| (Some(spelled(value)), *source));
        let (value, source) = first.unwrap_or(self.otherwise);
        let synonyms = self.sources.into_iter().filter(|_| request.include_synonyms).map(|(name, value, source)| {
            DescribeConfigsSynonym::default()
                .with_name(StrBytes::from_string(name))
                .with_value(shown(value))
                .with_source(source)
        });
        DescribeConfigsResourceResult::default()
            .with_name(StrBytes::from_string(self.name))
            .with_value(value.and_then(shown))
            .with_read_only(self.is_read_only)
            .with_config_source(source)
            .with_is_sensitive(is_secret)
            .with_config_type(self.kind.number())
            .with_synonyms(synonyms.collect())
            .with_documentation(request.include_documentation.then(|| StrBytes::from_string(documentation)))
    }
}

fn named(asked: &DescribeConfigsResource) -> DescribeConfigsResult {
    DescribeConfigsResult::default()
        .with_resource_type(asked.resource_type)
        .with_resource_name(asked.resource_name.clone())
}
fn refused(asked: &DescribeConfigsResource, code: ErrorCode, reason: String) -> DescribeConfigsResult {
    named(asked).with_error_code(code.get()).with_error_message(Some(StrBytes::from_string(reason)))
}
/// The options that are asked for; none stands for all.
fn names(asked: &DescribeConfigsResource) -> BTreeSet<&str> {
    asked.configuration_keys.iter().flatten().map(StrBytes::as_str).collect()
}
/// About how many bytes there are to tell of what was set for brokers, which topics inherit.
fn inherited_weight(broker: &Broker) -> usize {
    let of_nodes = broker.configs.brokers.values().chain([&broker.configs.cluster]);
    of_nodes.map(values_weight).sum()
}
/// The same of a resource.
fn weight(broker: &Broker, inherited: usize, (kind, name): (i8, &str)) -> usize {
    let own = match Kind::numbered(kind) {
        Some(Kind::Topic) => broker.topics.find(name).map(|topic| values_weight(&topic.configs) + inherited),
        Some(Kind::Broker) => Some(inherited),
        Some(Kind::Group) => broker.configs.groups.get(name).map(values_weight),
        Some(Kind::ClientMetrics) => broker.configs.client_metrics.get(name).map(values_weight),
        Some(Kind::Logger) | None => None,
    };
    // As a value and as a synonym.
    PLAIN + 2 * own.unwrap_or_default()
}
fn find(broker: &Broker, call: &Call, asked: &DescribeConfigsResource) -> Result<Vec<Row>, Refusal> {
    let name = asked.resource_name.as_str();
    match Kind::numbered(asked.resource_type) {
        Some(Kind::Topic) => {
            check_name(name)?;
            let topic = broker.topics.find(name).ok_or((ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, String::new()))?;
            Ok(OPTIONS.iter().map(|option| topic_row(broker, call.node, topic, option)).collect())
        }
        Some(Kind::Broker) if name.is_empty() => Ok(cluster_rows(broker)),
        Some(Kind::Broker) => {
            let node = node_of(call, name, " or empty string,")?;
            Ok(broker_rows(broker, node))
        }
        Some(Kind::Logger) => Ok(logger_rows(broker, node_of(call, name, "")?)),
        Some(Kind::ClientMetrics) if name.is_empty() => {
            Err((ErrorCode::INVALID_REQUEST, "Client metrics subscription name must not be empty".to_owned()))
        }
        Some(Kind::Group) if name.is_empty() => {
            Err((ErrorCode::INVALID_REQUEST, "Group name must not be empty".to_owned()))
        }
        Some(Kind::ClientMetrics) => Ok(client_metrics_rows(broker, name)),
        Some(Kind::Group) => Ok(options::GROUP.iter().map(|option| group_row(broker, name, option)).collect()),
        None => Err((ErrorCode::INVALID_REQUEST, ErrorCode::INVALID_REQUEST.message().to_owned())),
    }
}
fn node_of(call: &Call, name: &str, or: &str) -> Result<NodeId, Refusal> {
    let not_a_number = |_| (ErrorCode::INVALID_REQUEST, format!("Broker id must be an integer, but it is: {name}"));
    let id = NodeId::new(name.parse().map_err(not_a_number)?);
    if id == call.node {
        return Ok(id);
    }
    Err((ErrorCode::INVALID_REQUEST, format!("Unexpected broker id, expected {}{or} but received {name}", call.node)))
}

/// A topic's option has its value from the topic, from what is set for this broker, for all brokers, or in their file.
fn topic_row(broker: &Broker, node: NodeId, topic: &Topic, option: &TopicOption) -> Row {
    let key = option.broker_key;
    let from =
        |values: Option<&Values>, name: &str, source| Some((name.to_owned(), values?.get(name)?.clone(), source));
    let default = option.has_broker_default().then(|| (key.to_owned(), option.default.to_owned(), FROM_DEFAULT));
    let sources = [
        from(Some(&topic.configs), option.name, FROM_TOPIC),
        from(broker.configs.brokers.get(&node), key, FROM_BROKER),
        from(Some(&broker.configs.cluster), key, FROM_CLUSTER),
        from(Some(&broker.settings.given), key, FROM_FILE),
        default,
    ];
    Row {
        name: option.name.to_owned(),
        kind: option.kind,
        spelling: Spelling::Read,
        is_read_only: false,
        sources: sources.into_iter().flatten().collect(),
        otherwise: (Some(topic.config(option.name).to_owned()), topic.source_of(option.name)),
    }
}
/// A topic's option as it was given, with where it comes from.
pub(super) fn in_force(broker: &Broker, node: NodeId, topic: &Topic, option: &TopicOption) -> (String, i8) {
    let row = topic_row(broker, node, topic, option);
    let first = row.sources.into_iter().next().map(|(_, value, source)| (value, source));
    first.unwrap_or_else(|| (row.otherwise.0.unwrap_or_default(), row.otherwise.1))
}
fn cluster_rows(broker: &Broker) -> Vec<Row> {
    let row = |(name, value): (&String, &String)| {
        let source = (name.clone(), value.clone(), FROM_CLUSTER);
        Row { spelling: Spelling::Given, ..set_row(name, vec![source], (None, FROM_CLUSTER)) }
    };
    broker.configs.cluster.iter().map(row).collect()
}
/// What a broker was started with besides what was asked for: its id, its rack, and where it listens.
fn told_of(broker: &Broker, node: NodeId, name: &str) -> Option<String> {
    let listed = |each: &dyn Fn((&str, SecurityProtocol, &Endpoint)) -> String| {
        let endpoints = broker.nodes.find(node)?.endpoints.iter();
        let listeners = broker.settings.listeners.iter().zip(endpoints);
        let told = listeners.map(|((listener, protocol), endpoint)| each((listener, *protocol, endpoint)));
        Some(told.collect::<Vec<_>>().join(","))
    };
    match name {
        "node.id" | "broker.id" => Some(node.to_string()),
        "broker.rack" => broker.nodes.find(node)?.rack.as_ref().map(ToString::to_string),
        "listeners" | "advertised.listeners" => listed(&|(listener, _, endpoint)| format!("{listener}://{endpoint}")),
        "listener.security.protocol.map" => listed(&|(listener, protocol, _)| format!("{listener}:{protocol}")),
        _ => None,
    }
}
/// What an option of the brokers is while nobody sets it.
fn default_of(broker: &Broker, name: &str) -> Option<String> {
    broker.settings.own_default(name).or_else(|| options::broker_default(name).map(str::to_owned))
}
/// An option that a broker has because it is set.
fn set_row(name: &str, sources: Vec<(String, String, i8)>, otherwise: (Option<String>, i8)) -> Row {
    let option = options::broker(name);
    Row {
        name: name.to_owned(),
        kind: option.map_or(Type::Unknown, |option| option.kind),
        spelling: Spelling::Read,
        is_read_only: option.is_none(),
        sources,
        otherwise,
    }
}
fn broker_rows(broker: &Broker, node: NodeId) -> Vec<Row> {
    let own = broker.configs.brokers.get(&node);
    let set: BTreeSet<&String> = own.into_iter().chain([&broker.configs.cluster]).flat_map(|set| set.keys()).collect();
    let only_set = set.into_iter().filter(|name| options::find(&options::BROKER, name).is_none()).map(|name| {
        let from = |values: Option<&Values>, source| Some((name.clone(), values?.get(name)?.clone(), source));
        let sources = [from(own, FROM_BROKER), from(Some(&broker.configs.cluster), FROM_CLUSTER)];
        set_row(name, sources.into_iter().flatten().collect(), (None, FROM_BROKER))
    });
    options::BROKER.iter().map(|option| broker_row(broker, node, option)).chain(only_set).collect()
}
fn broker_row(broker: &Broker, node: NodeId, option: &ConfigOption) -> Row {
    let own = broker.configs.brokers.get(&node);
    let names = || std::iter::once(option.name).chain(option.fallbacks.iter().copied());
    let sources = names().flat_map(|name| {
        let from = |value: Option<&String>, source| value.map(|value| (name.to_owned(), value.clone(), source));
        let default = default_of(broker, name).map(|value| (name.to_owned(), value, FROM_DEFAULT));
        let set = [
            from(own.and_then(|own| own.get(name)), FROM_BROKER),
            from(broker.configs.cluster.get(name), FROM_CLUSTER),
            from(told_of(broker, node, name).or_else(|| broker.settings.given.get(name).cloned()).as_ref(), FROM_FILE),
        ];
        set.into_iter().chain([default]).flatten()
    });
    Row {
        name: option.name.to_owned(),
        kind: option.kind,
        spelling: Spelling::Read,
        is_read_only: !option.is_dynamic,
        sources: sources.collect(),
        otherwise: (None, FROM_DEFAULT),
    }
}
fn group_row(broker: &Broker, group: &str, option: &ConfigOption) -> Row {
    let own = broker.configs.groups.get(group).and_then(|own| own.get(option.name));
    let own = own.map(|value| (option.name.to_owned(), value.clone(), FROM_GROUP));
    let inherited = option.fallbacks.iter().flat_map(|name| {
        let given = broker.settings.given.get(*name).map(|value| ((*name).to_owned(), value.clone(), FROM_FILE));
        let default = default_of(broker, name).map(|value| ((*name).to_owned(), value, FROM_DEFAULT));
        given.into_iter().chain(default)
    });
    let default = option.default.map(|value| (option.name.to_owned(), value.to_owned(), FROM_DEFAULT));
    Row {
        name: option.name.to_owned(),
        kind: option.kind,
        spelling: Spelling::Read,
        is_read_only: false,
        sources: own.into_iter().chain(inherited).chain(default).collect(),
        otherwise: (None, FROM_DEFAULT),
    }
}
fn client_metrics_rows(broker: &Broker, subscription: &str) -> Vec<Row> {
    let own = broker.configs.client_metrics.get(subscription);
    let row = |(name, default): (&str, &str)| {
        let set = own.and_then(|own| own.get(name));
        let kind = if name == client_metrics::INTERVAL { Type::Int } else { Type::List };
        Row {
            name: name.to_owned(),
            kind,
            spelling: Spelling::Read,
            is_read_only: false,
            sources: set.map(|value| (name.to_owned(), value.clone(), FROM_CLIENT_METRICS)).into_iter().collect(),
            otherwise: (Some(default.to_owned()), FROM_DEFAULT),
        }
    };
    client_metrics::OPTIONS.into_iter().map(row).collect()
}
fn logger_rows(broker: &Broker, node: NodeId) -> Vec<Row> {
    let row = |(name, level): (&str, String)| Row {
        name: name.to_owned(),
        kind: Type::Text,
        spelling: Spelling::Read,
        is_read_only: false,
        sources: Vec::new(),
        otherwise: (Some(level), FROM_LOGGER),
    };
    loggers::levels(broker.configs.loggers.get(&node)).into_iter().map(row).collect()
}
