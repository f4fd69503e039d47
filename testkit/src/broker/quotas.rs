//! Quotas of users, clients and addresses (KIP-546): stored and told, never enforced.

use std::collections::BTreeMap;

/// Whom a quota is for: names by kind of entity, none for the default.
pub(crate) type Entity = BTreeMap<String, Option<String>>;
/// Values by name of quota.
pub(crate) type Values = BTreeMap<String, f64>;

const USER: &str = "user";
const CLIENT: &str = "client-id";
const ADDRESS: &str = "ip";
const KINDS: [&str; 3] = [USER, CLIENT, ADDRESS];

/// The quotas of users and clients, and those of addresses.
const OF_CLIENTS: [&str; 4] =
    ["producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"];
const OF_ADDRESSES: [&str; 1] = ["connection_creation_rate"];
/// Those that are whole numbers.
const WHOLE: [&str; 3] = ["producer_byte_rate", "consumer_byte_rate", "connection_creation_rate"];

/// How one part of an entity is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Match {
    Named(String),
    Default,
    Any,
}

/// All quotas.
#[derive(Debug, Default)]
pub(crate) struct Quotas(BTreeMap<Entity, Values>);

impl Quotas {
    /// Sets and removes quotas of an entity that was checked.
    pub(crate) fn alter(&mut self, entity: &Entity, changes: &[(String, Option<f64>)]) {
        let mut values = self.0.remove(entity).unwrap_or_default();
        for (name, value) in changes {
            match value {
                Some(value) => values.insert(name.clone(), *value),
                None => values.remove(name),
            };
        }
        if !values.is_empty() {
            self.0.insert(entity.clone(), values);
        }
    }
    /// The entities that have all of these parts, and no others if it is `strict`.
    pub(crate) fn find<'q>(
        &'q self,
        parts: &'q BTreeMap<String, Match>,
        strict: bool,
    ) -> impl Iterator<Item = (&'q Entity, &'q Values)> {
        self.0.iter().filter(move |(entity, _)| {
            let has = |(kind, wanted): (&String, &Match)| match (entity.get(kind), wanted) {
                (None, _) => false,
                (Some(_), Match::Any) => true,
                (Some(name), Match::Default) => name.is_none(),
                (Some(name), Match::Named(wanted)) => name.as_ref() == Some(wanted),
            };
            parts.iter().all(has) && (!strict || entity.len() == parts.len())
        })
    }
}

/// Says what is wrong with an entity, in Kafka's words.
pub(crate) fn check_entity(entity: &Entity) -> Result<(), String> {
    if entity.is_empty() {
        return Err("Invalid empty client quota entity".to_owned());
    }
    if let Some(unknown) = entity.keys().find(|kind| !is_kind(kind)) {
        return Err(format!("Unhandled client quota entity type: {unknown}"));
    }
    if entity.values().flatten().any(String::is_empty) {
        let kind = entity.iter().find(|(_, name)| name.as_deref() == Some("")).map(|(kind, _)| kind.as_str());
        return Err(format!("Empty {} not supported", kind.unwrap_or_default()));
    }
    if entity.contains_key(ADDRESS) && entity.len() > 1 {
        return Err(
            "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId".to_owned()
        );
    }
    Ok(())
}
/// Says what is wrong with a quota of an entity, in Kafka's words.
pub(crate) fn check_quota(entity: &Entity, name: &str, value: Option<f64>) -> Result<(), String> {
    let known: &[&str] = if entity.contains_key(ADDRESS) { &OF_ADDRESSES } else { &OF_CLIENTS };
    if !known.contains(&name) {
        return Err(format!("Invalid configuration key {name}"));
    }
    match value {
        Some(value) if value <= 0.0 => Err(format!("Quota {name} must be greater than 0")),
        Some(value) if WHOLE.contains(&name) && value.fract() != 0.0 => {
            Err(format!("{name} cannot be a fractional value."))
        }
        _ => Ok(()),
    }
}
pub(crate) fn is_kind(kind: &str) -> bool {
    KINDS.contains(&kind)
}
/// Whether a filter asks for addresses and for users or clients at once, which no entity is.
pub(crate) fn mixes<'k>(mut kinds: impl Iterator<Item = &'k String> + Clone) -> bool {
    kinds.clone().any(|kind| kind == ADDRESS) && kinds.any(|kind| kind == USER || kind == CLIENT)
}
