//! Altering options: what AlterConfigs and IncrementalAlterConfigs have in common. The former gives all options of a resource, the latter
//! single changes.

use super::create_topics::Refusal;
use crate::broker::Broker;
use crate::broker::call::Call;
use crate::broker::configs::client_metrics::{self, Invalid};
use crate::broker::configs::options::{self, ConfigOption};
use crate::broker::configs::{Configs, Kind, Values, loggers};
use crate::broker::topics::check_name;
use crate::broker::topics::config::{self, Kind as Type};
use crate::broker::topics::topic::Topic;
use millstream_protocol::messages::StrBytes;
use millstream_protocol::{ErrorCode, NodeId};

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Set,
    Delete,
    Append,
    Subtract,
    /// One that Kafka does not know.
    Unknown(i8),
}
impl Operation {
    pub(super) fn numbered(number: i8) -> Self {
        match number {
            0 => Self::Set,
            1 => Self::Delete,
            2 => Self::Append,
            3 => Self::Subtract,
            _ => Self::Unknown(number),
        }
    }
    fn unknown(self) -> Option<i8> {
        match self {
            Self::Unknown(number) => Some(number),
            _ => None,
        }
    }
    fn name(self) -> &'static str {
        match self {
            Self::Set => "SET",
            Self::Delete => "DELETE",
            Self::Append => "APPEND",
            Self::Subtract => "SUBTRACT",
            Self::Unknown(_) => "UNKNOWN",
        }
    }
}

/// A change of one option.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) name: StrBytes,
    pub(super) operation: Operation,
    pub(super) value: Option<StrBytes>,
}
impl Change {
    fn is_partial(&self) -> bool {
        matches!(self.operation, Operation::Append | Operation::Subtract)
    }
    fn given(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }
}

/// How the changes are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// They are all that the resource is to have.
    Whole,
    /// The rest stays.
    Single,
}

/// What is to be altered.
#[derive(Debug)]
pub(super) struct Alteration {
    pub(super) resource_type: i8,
    pub(super) resource_name: StrBytes,
    pub(super) mode: Mode,
    pub(super) changes: Vec<Change>,
    pub(super) validate_only: bool,
}

/// Alters the options of a resource, or says why not.
pub(super) fn alter(broker: &mut Broker, call: &Call, asked: &Alteration) -> Result<(), Refusal> {
    check_changes(&asked.changes)?;
    match Kind::numbered(asked.resource_type) {
        Some(Kind::Topic) => alter_topic(broker, asked),
        Some(Kind::Broker) => alter_broker(broker, call, asked),
        Some(Kind::Logger) if asked.mode == Mode::Single => alter_loggers(broker, call, asked),
        Some(Kind::ClientMetrics) => alter_client_metrics(broker, asked),
        Some(Kind::Group) => alter_group(broker, asked),
        Some(Kind::Logger) | None => invalid_request(format!("Unknown resource type {}", asked.resource_type)),
    }
}
fn invalid_request<T>(reason: String) -> Result<T, Refusal> {
    Err((ErrorCode::INVALID_REQUEST, reason))
}
fn invalid_config(reason: String) -> Refusal {
    (ErrorCode::INVALID_CONFIG, reason)
}
fn check_changes(changes: &[Change]) -> Result<(), Refusal> {
    let is_twice = |change: &Change| changes.iter().filter(|other| other.name == change.name).count() > 1;
    if changes.iter().any(is_twice) {
        return invalid_request("Error due to duplicate config keys".to_owned());
    }
    let nulls = changes.iter().filter(|change| change.operation != Operation::Delete && change.value.is_none());
    let nulls: Vec<&str> = nulls.map(|change| change.name.as_str()).collect();
    if nulls.is_empty() {
        Ok(())
    } else {
        invalid_request(format!("Null value not supported for : {}", nulls.join(",")))
    }
}

/// Applies changes to what is there. `inherited` is what a list begins with that is not set itself.
fn changed(asked: &Alteration, before: &Values, inherited: impl Fn(&str) -> String) -> Values {
    let mut values = if asked.mode == Mode::Whole { Values::new() } else { before.clone() };
    for change in &asked.changes {
        let name = change.name.to_string();
        let now = values.get(&name).cloned().unwrap_or_else(|| inherited(&name));
        match change.operation {
            Operation::Delete => values.remove(&name),
            Operation::Set => values.insert(name, change.given().to_owned()),
            Operation::Append => values.insert(name, appended(&now, change.given())),
            Operation::Subtract => values.insert(name, subtracted(&now, change.given())),
            Operation::Unknown(_) => None,
        };
    }
    values
}
/// Kafka does not expect an operation that it does not know, and says nothing about it.
fn check_operations(asked: &Alteration) -> Result<(), Refusal> {
    let mut operations = asked.changes.iter().map(|change| change.operation);
    if operations.any(|operation| matches!(operation, Operation::Unknown(_))) {
        return Err((ErrorCode::UNKNOWN_SERVER_ERROR, String::new()));
    }
    Ok(())
}
/// Only what is a list can grow and shrink.
fn check_lists(asked: &Alteration, kind_of: impl Fn(&str) -> Type) -> Result<(), Refusal> {
    check_operations(asked)?;
    let mut changes = asked.changes.iter();
    let wrong = changes.find(|change| change.is_partial() && kind_of(&change.name) != Type::List);
    wrong.map_or(Ok(()), |Change { operation, name, .. }| {
        Err(invalid_config(format!("Can't {} to key {name} because its type is not LIST.", operation.name())))
    })
}
fn parts(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').filter(|part| !part.is_empty())
}
fn appended(list: &str, more: &str) -> String {
    let fresh = parts(more).filter(|part| !parts(list).any(|known| known == *part));
    parts(list).chain(fresh).collect::<Vec<_>>().join(",")
}
fn subtracted(list: &str, less: &str) -> String {
    parts(list).filter(|part| !parts(less).any(|gone| gone == *part)).collect::<Vec<_>>().join(",")
}

fn alter_topic(broker: &mut Broker, asked: &Alteration) -> Result<(), Refusal> {
    let name = &asked.resource_name;
    let kind_of = |name: &str| config::option(name).map_or(Type::Text, |option| option.kind);
    check_lists(asked, kind_of)?;
    if name.is_empty() {
        return invalid_request("Default topic resources are not allowed.".to_owned());
    }
    check_name(name)?;
    let unknown = || (ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, format!("The topic '{name}' does not exist."));
    let topic = broker.topics.find_mut(name).ok_or_else(unknown)?;
    let values = changed(asked, &topic.configs, |name| topic.config(name).to_owned());
    if let Some(unknown) = values.keys().find(|name| config::option(name).is_none()) {
        return Err(invalid_config(format!("Unknown topic config name: {unknown}")));
    }
    let mut known = values.iter().filter_map(|(name, value)| Some((config::option(name)?, value)));
    known.try_for_each(|(option, value)| option.check(value, broker.settings.release)).map_err(invalid_config)?;
    let spelled = |(name, value): (String, String)| {
        let kind = kind_of(&name);
        (name, config::canonical(kind, &value))
    };
    let values: Values = values.into_iter().map(spelled).collect();
    check_together(topic, &values)?;
    if !asked.validate_only {
        topic.configs = values;
    }
    Ok(())
}

/// Says which options of a topic contradict each other, or what the brokers are set to.
fn check_together(topic: &Topic, values: &Values) -> Result<(), Refusal> {
    if values.get("remote.storage.enable").is_some_and(|value| value == "true") {
        let reason = "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.";
        return Err(invalid_config(reason.to_owned()));
    }
    let lag = |name: &str| {
        let value = values.get(name).map_or_else(|| topic.inherited(name), String::as_str);
        value.parse::<i64>().unwrap_or(i64::MAX)
    };
    let (least, most) = (lag("min.compaction.lag.ms"), lag("max.compaction.lag.ms"));
    if least <= most {
        return Ok(());
    }
    let name = "conflict topic config setting min.compaction.lag.ms";
    Err(invalid_config(format!("{name} ({least}) > max.compaction.lag.ms ({most})")))
}

fn alter_broker(broker: &mut Broker, call: &Call, asked: &Alteration) -> Result<(), Refusal> {
    let node = broker_of(call, &asked.resource_name, "Unexpected broker id, expected {}, but received {}")?;
    check_broker_lists(asked)?;
    check_broker_options(asked, node.is_none())?;
    if broker.features.level("eligible.leader.replicas.version") > 0 {
        check_least_in_sync(asked, node.is_none())?;
    }
    let before = match node {
        Some(node) => broker.configs.brokers.get(&node).cloned().unwrap_or_default(),
        None => broker.configs.cluster.clone(),
    };
    let inherited = |name: &str| options::broker_default(name).unwrap_or_default().to_owned();
    let values = changed(asked, &before, inherited);
    if !asked.validate_only {
        match node {
            Some(node) => broker.configs.brokers.insert(node, values),
            None => Some(std::mem::replace(&mut broker.configs.cluster, values)),
        };
        broker.apply_dynamic_configs(&before);
    }
    Ok(())
}
/// A broker says so in other words than the controller.
fn check_broker_lists(asked: &Alteration) -> Result<(), Refusal> {
    if let Some(number) = asked.changes.iter().find_map(|change| change.operation.unknown()) {
        return invalid_request(format!("Unknown operations type {number}"));
    }
    let mut changes = asked.changes.iter();
    let is_list = |name: &str| options::broker(name).is_some_and(|option| option.kind == Type::List);
    let wrong = changes.find(|change| change.is_partial() && !is_list(&change.name));
    wrong.map_or(Ok(()), |Change { operation, name, .. }| {
        let operation = operation.name().to_lowercase();
        Err(invalid_config(match options::find(&options::BROKER, name) {
            Some(_) => format!("Config value {operation} is not allowed for config key: {name}"),
            None => format!("Unknown config name: {name}"),
        }))
    })
}
fn check_broker_options(asked: &Alteration, is_cluster: bool) -> Result<(), Refusal> {
    let known = || asked.changes.iter().filter_map(|change| Some((change, options::broker(&change.name)?)));
    let named = |wrong: &dyn Fn(&ConfigOption) -> bool| {
        known().filter(|(_, option)| wrong(option)).map(|(_, option)| option.name).collect::<Vec<_>>().join(", ")
    };
    let fixed = named(&|option| !option.is_dynamic);
    if !fixed.is_empty() {
        return invalid_request(format!("Cannot update these configs dynamically: [{fixed}]"));
    }
    let secret = named(&|option| option.name.starts_with("ssl."));
    if !secret.is_empty() {
        return invalid_request(format!(
            "These security configs can be dynamically updated only per-listener using the listener prefix: [{secret}]"
        ));
    }
    let per_broker = named(&|option| is_cluster && option.is_per_broker());
    if !per_broker.is_empty() {
        return invalid_request(format!(
            "Cannot update these configs at default cluster level, broker id must be specified: [{per_broker}]"
        ));
    }
    let mut set = known().filter(|(change, _)| change.operation == Operation::Set);
    set.try_for_each(|(change, option)| option.check(change.given())).or_else(invalid_request)
}
/// With eligible leader replicas (KIP-966) all brokers have the same least number of replicas in sync, and always one.
fn check_least_in_sync(asked: &Alteration, is_cluster: bool) -> Result<(), Refusal> {
    let mut changes = asked.changes.iter().filter(|change| *change.name == *"min.insync.replicas");
    let change = changes.next();
    let operation = match change.map(|change| change.operation) {
        // What is not among all that there is to be is removed.
        None if is_cluster && asked.mode == Mode::Whole => Some(Operation::Delete),
        operation => operation,
    };
    let reason = match operation {
        Some(_) if !is_cluster => "Broker-level min.insync.replicas cannot be altered while ELR is enabled.",
        Some(Operation::Delete) => "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.",
        _ => return Ok(()),
    };
    Err(invalid_config(reason.to_owned()))
}
/// The broker that a name means: none is all.
fn broker_of(call: &Call, name: &str, unexpected: &str) -> Result<Option<NodeId>, Refusal> {
    if name.is_empty() {
        return Ok(None);
    }
    let not_a_number = |_| (ErrorCode::INVALID_REQUEST, format!("Node id must be an integer, but it is: {name}"));
    let id = NodeId::new(name.parse().map_err(not_a_number)?);
    if id == call.node {
        return Ok(Some(id));
    }
    invalid_request(unexpected.replacen("{}", &call.node.to_string(), 1).replacen("{}", name, 1))
}

fn alter_loggers(broker: &mut Broker, call: &Call, asked: &Alteration) -> Result<(), Refusal> {
    let node = broker_of(call, &asked.resource_name, "Unexpected node id. Expected {}, but received {}")?;
    let node = node.unwrap_or(call.node);
    for change in &asked.changes {
        if change.is_partial() {
            let operation = change.operation.name();
            return invalid_request(format!("{operation} operation is not allowed for the BROKER_LOGGER resource"));
        }
        check_operations(asked)?;
        if !loggers::exists(&change.name) {
            return Err(invalid_config(format!("Logger {} does not exist!", change.name)));
        }
        if change.operation == Operation::Set {
            loggers::check_level(&change.name, change.given()).map_err(invalid_config)?;
        }
    }
    let before = broker.configs.loggers.get(&node).cloned().unwrap_or_default();
    let values = changed(asked, &before, |_| String::new());
    if !asked.validate_only {
        broker.configs.loggers.insert(node, values);
    }
    Ok(())
}

fn alter_client_metrics(broker: &mut Broker, asked: &Alteration) -> Result<(), Refusal> {
    let name = &asked.resource_name;
    // Kafka's controller does not know that two of them are lists.
    check_lists(asked, |_| Type::Text)?;
    if name.is_empty() {
        return invalid_request("Subscription name can't be empty".to_owned());
    }
    let before = broker.configs.client_metrics.get(name.as_str()).cloned().unwrap_or_default();
    let values = changed(asked, &before, |_| String::new());
    let is_known = |name: &str| client_metrics::OPTIONS.iter().any(|(known, _)| *known == name);
    if let Some(unknown) = values.keys().find(|name| !is_known(name)) {
        return invalid_request(format!("Unknown client metrics configuration: {unknown}"));
    }
    for (option, value) in &values {
        client_metrics::check(option, value).map_err(|invalid| match invalid {
            Invalid::Request(reason) => (ErrorCode::INVALID_REQUEST, reason),
            Invalid::Config(reason) => invalid_config(reason),
        })?;
    }
    if !asked.validate_only {
        Configs::replace(&mut broker.configs.client_metrics, name, values);
        broker.telemetry.renew();
    }
    Ok(())
}

fn alter_group(broker: &mut Broker, asked: &Alteration) -> Result<(), Refusal> {
    let name = &asked.resource_name;
    check_lists(asked, |name| options::find(&options::GROUP, name).map_or(Type::Text, |option| option.kind))?;
    if name.is_empty() {
        return invalid_request("Default group resources are not allowed.".to_owned());
    }
    let before = broker.configs.groups.get(name.as_str()).cloned().unwrap_or_default();
    let values = changed(asked, &before, |_| String::new());
    if let Some(unknown) = values.keys().find(|option| options::find(&options::GROUP, option).is_none()) {
        return Err(invalid_config(format!("Unknown group config name: {unknown}")));
    }
    for (option, value) in &values {
        check_group_option(broker, option, value).map_err(invalid_config)?;
    }
    if !asked.validate_only {
        Configs::replace(&mut broker.configs.groups, name, values);
    }
    Ok(())
}
fn check_group_option(broker: &Broker, name: &str, value: &str) -> Result<(), String> {
    let unknown = || format!("Unknown group config name: {name}");
    options::find(&options::GROUP, name).ok_or_else(unknown)?.check(value)?;
    let settings = &broker.settings.consumer_groups;
    let (least, most) = match name {
        "consumer.session.timeout.ms" => settings.session_timeout_range,
        "consumer.heartbeat.interval.ms" => settings.heartbeat_interval_range,
        "consumer.assignment.interval.ms" => settings.assignment_interval_range,
        _ => return Ok(()),
    };
    if value.parse::<u64>().is_ok_and(|value| (least..=most).contains(&value)) {
        return Ok(());
    }
    Err(format!("{name} must be in the range {least} to {most} inclusive."))
}

impl Broker {
    /// Lets the cluster follow what was set for all brokers, as far as it knows the options. What was set until now and is no more has its
    /// default again.
    fn apply_dynamic_configs(&mut self, before: &Values) {
        let gone = before.keys().filter(|name| !self.configs.cluster.contains_key(*name));
        let defaults: Values = gone.filter_map(|name| Some((name.clone(), self.started_with(name)?))).collect();
        for (name, value) in defaults.iter().chain(&self.configs.cluster) {
            // An option that is only stored is none of the settings'.
            let _unknown = self.settings.follow(name, value);
        }
        let is_set = |key: &str| self.settings.given.contains_key(key) || self.configs.cluster.contains_key(key);
        let key_of = |name: &str| config::option(name).map_or("", |option| option.broker_key);
        self.settings.topic_defaults.retain(|name, _| is_set(key_of(name)));
        let defaults = &self.settings.topic_defaults;
        self.topics.all_mut().for_each(|topic| topic.defaults.clone_from(defaults));
    }
    fn started_with(&self, name: &str) -> Option<String> {
        self.settings.given.get(name).cloned().or_else(|| options::broker_default(name).map(str::to_owned))
    }
}
