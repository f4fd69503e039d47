//! Brokers' options: of one, or of all.

use super::{Alteration, Change, Mode, Operation, changed, check_grown, invalid_config, invalid_request};
use crate::broker::Broker;
use crate::broker::call::{Call, Refusal};
use crate::broker::configs::options::{self, ConfigOption};
use crate::broker::configs::{MIN_ISR, Values};
use crate::broker::java_hash::string_hash;
use crate::broker::java_order::{in_map_order, in_set_order};
use crate::broker::topics::config::{self, Kind as Type};
use millstream_protocol::{ErrorCode, NodeId};

pub(super) fn alter(broker: &mut Broker, call: &Call, asked: &Alteration) -> Result<(), Refusal> {
    let node = broker_of(call, &asked.resource_name, "Unexpected broker id, expected {}, but received {}")?;
    check_broker_lists(asked)?;
    let before = match node {
        Some(node) => broker.configs.brokers.get(&node).cloned().unwrap_or_default(),
        None => broker.configs.cluster.clone(),
    };
    let inherited = |name: &str| options::broker_default(name).unwrap_or_default().to_owned();
    let values = changed(asked, &before, inherited);
    check_grown(asked, &values)?;
    check_broker_options(asked, &values, node.is_none())?;
    if broker.features.has_eligible_replicas() {
        check_least_in_sync(asked, node.is_none())?;
    }
    if !asked.validate_only {
        let in_force = broker.dynamic_configs();
        match node {
            Some(node) => broker.configs.brokers.insert(node, values),
            None => Some(std::mem::replace(&mut broker.configs.cluster, values)),
        };
        broker.apply_dynamic_configs(&in_force);
        if asked.changes.iter().any(|change| *change.name == *MIN_ISR) {
            broker.follow_min_isr(None);
        }
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
fn check_broker_options(asked: &Alteration, values: &Values, is_cluster: bool) -> Result<(), Refusal> {
    // Whatever is set may be taken back.
    let given = || asked.changes.iter().filter(|change| change.operation != Operation::Delete);
    let known = || given().filter_map(|change| Some((change, options::broker(&change.name)?)));
    let named = |wrong: &dyn Fn(&ConfigOption) -> bool| {
        let named = known().filter(|(_, option)| wrong(option)).map(|(_, option)| option.name);
        listed(in_map_order(named.collect(), hash))
    };
    // Those that are left of a set of all.
    let mut fixed = in_set_order(known().map(|(_, option)| option).collect(), |option| hash(&option.name));
    fixed.retain(|option| !option.is_dynamic);
    if !fixed.is_empty() {
        let fixed = listed(fixed.into_iter().map(|option| option.name).collect());
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
    let mut set = known().filter_map(|(_, option)| Some((option, values.get(option.name)?)));
    set.try_for_each(|(option, value)| option.check(value)).or_else(invalid_request)
}
fn hash(name: &&str) -> i32 {
    string_hash(name)
}
fn listed(names: Vec<&str>) -> String {
    names.join(", ")
}
/// With eligible leader replicas (KIP-966) all brokers have the same least number of replicas in sync, and always one.
fn check_least_in_sync(asked: &Alteration, is_cluster: bool) -> Result<(), Refusal> {
    let mut changes = asked.changes.iter().filter(|change| *change.name == *MIN_ISR);
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
pub(super) fn broker_of(call: &Call, name: &str, unexpected: &str) -> Result<Option<NodeId>, Refusal> {
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

impl Broker {
    /// What is in force that was set while the cluster runs. What is set for one broker alone is so where there is no other; of several each
    /// would be set otherwise, which is stored and shown.
    pub(crate) fn dynamic_configs(&self) -> Values {
        let mut values = self.configs.cluster.clone();
        if let [only] = self.nodes.all() {
            values.extend(self.configs.brokers.get(&only.id).cloned().unwrap_or_default());
        }
        values
    }
    /// Lets the cluster follow what is set, as far as it knows the options. What was set until now and is no more has its default again.
    pub(crate) fn apply_dynamic_configs(&mut self, before: &Values) {
        let set = self.dynamic_configs();
        let gone = before.keys().filter(|name| !set.contains_key(*name));
        let defaults: Values = gone.filter_map(|name| Some((name.clone(), self.started_with(name)?))).collect();
        for (name, value) in defaults.iter().chain(&set) {
            // An option that is only stored is none of the settings'.
            let kind = options::broker(name).map_or(Type::Unknown, |option| option.kind);
            let _unknown = self.settings.follow(name, &config::canonical(kind, value));
        }
        let is_set = |key: &str| self.settings.given.contains_key(key) || set.contains_key(key);
        let key_of = |name: &str| config::option(name).map_or("", |option| option.broker_key);
        self.settings.topic_defaults.retain(|name, _| is_set(key_of(name)));
        let defaults = &self.settings.topic_defaults;
        self.topics.all_mut().for_each(|topic| topic.defaults.clone_from(defaults));
    }
    fn started_with(&self, name: &str) -> Option<String> {
        self.settings.given.get(name).cloned().or_else(|| options::broker_default(name).map(str::to_owned))
    }
}
