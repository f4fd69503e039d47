//! Altering options: what AlterConfigs and IncrementalAlterConfigs have in common. The former gives all options of a resource, the latter
//! single changes.

mod brokers;
mod client_metrics;
mod groups;
mod loggers;
pub(super) mod resource;
mod topics;

use crate::broker::Broker;
use crate::broker::call::{Call, Refusal};
use crate::broker::configs::{Kind, Values};
use crate::broker::topics::config::Kind as Type;
use millstream_protocol::ErrorCode;
use millstream_protocol::frame::TEXT_BYTES;
use millstream_protocol::messages::StrBytes;
use std::collections::BTreeSet;

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
impl Alteration {
    fn resource(&self) -> (i8, &str) {
        (self.resource_type, self.resource_name.as_str())
    }
}

/// Alters the options of resources; says of each why not. Nothing is done for one that comes more than once, since nobody could tell which is
/// meant.
fn alter_all(broker: &mut Broker, call: &Call, asked: &[Alteration]) -> Vec<Result<(), Refusal>> {
    let mut seen = BTreeSet::new();
    let again = asked.iter().map(Alteration::resource).filter(|resource| !seen.insert(*resource));
    let repeated: BTreeSet<_> = again.collect();
    let alter = |asked: &Alteration| {
        if repeated.contains(&asked.resource()) {
            return invalid_request("Each resource must appear at most once.".to_owned());
        }
        alter(broker, call, asked)
    };
    asked.iter().map(alter).collect()
}
fn alter(broker: &mut Broker, call: &Call, asked: &Alteration) -> Result<(), Refusal> {
    check_changes(&asked.changes)?;
    match Kind::numbered(asked.resource_type) {
        Some(Kind::Topic) => topics::alter(broker, asked),
        Some(Kind::Broker) => brokers::alter(broker, call, asked),
        Some(Kind::Logger) if asked.mode == Mode::Single => loggers::alter(broker, call, asked),
        Some(Kind::ClientMetrics) => client_metrics::alter(broker, asked),
        Some(Kind::Group) => groups::alter(broker, asked),
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
    let names: BTreeSet<&StrBytes> = changes.iter().map(|change| &change.name).collect();
    if names.len() < changes.len() {
        return invalid_request("Error due to duplicate config keys".to_owned());
    }
    let nulls = changes.iter().filter(|change| change.operation != Operation::Delete && change.value.is_none());
    let nulls: Vec<&str> = nulls.map(|change| change.name.as_str()).collect();
    if nulls.is_empty() {
        Ok(())
    } else {
        invalid_request(format!("Null value not supported for : {}", nulls.join(", ")))
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
/// A list that grows by what is added stays within what a text of Kafka's may have.
fn check_grown(asked: &Alteration, values: &Values) -> Result<(), Refusal> {
    let mut added = asked.changes.iter().filter(|change| change.operation == Operation::Append);
    if added.any(|change| values.get(change.name.as_str()).is_some_and(|value| value.len() > TEXT_BYTES)) {
        return Err(invalid_config(format!(
            "The configuration value cannot be added because it exceeds the maximum value size of {TEXT_BYTES} bytes."
        )));
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
    let mut known: BTreeSet<&str> = parts(list).collect();
    let fresh: Vec<&str> = java_split(more).filter(|part| known.insert(part)).collect();
    parts(list).chain(fresh).collect::<Vec<_>>().join(",")
}
/// As Java splits: without the empty parts at the end, unless there is nothing else at all. So the empty list is one empty part.
fn java_split(list: &str) -> impl Iterator<Item = &str> {
    let kept = if list.is_empty() { list } else { list.trim_end_matches(',') };
    let count = if kept.is_empty() && !list.is_empty() { 0 } else { usize::MAX };
    kept.split(',').take(count)
}
fn subtracted(list: &str, less: &str) -> String {
    let gone: BTreeSet<&str> = parts(less).collect();
    parts(list).filter(|part| !gone.contains(part)).collect::<Vec<_>>().join(",")
}
