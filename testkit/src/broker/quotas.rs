//! Quotas of users, clients and addresses (KIP-546): stored and told, never enforced.

use super::bounds::text_weight;
use super::java_hash::string_hash;
use super::java_order::in_sized_map_order;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Whom a quota is for: names by kind of entity, none for the default.
pub(crate) type Entity = BTreeMap<String, Option<String>>;
/// Values by name of quota.
pub(crate) type Values = BTreeMap<String, f64>;

/// About how many bytes a value takes with its name.
const VALUE: usize = 64;

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

/// The greatest number of 64 bits.
const MOST_WHOLE: f64 = 9_223_372_036_854_775_807.0;

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
    /// About how many bytes they take.
    pub(crate) fn weight(&self) -> usize {
        let of = |entity: &Entity| entity.values().flatten().map(|name| text_weight(name)).sum::<usize>();
        self.0.iter().map(|(entity, values)| size_of::<(Entity, Values)>() + of(entity) + values.len() * VALUE).sum()
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
    for (kind, name) in in_java_order(entity.iter().collect(), |(kind, _)| kind) {
        match name.as_deref() {
            _ if !is_kind(kind) => return Err(format!("Unhandled client quota entity type: {kind}")),
            Some("") => return Err(format!("Empty {kind} not supported")),
            _ => {}
        }
    }
    if entity.contains_key(ADDRESS) && entity.len() > 1 {
        return Err(
            "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId".to_owned()
        );
    }
    match entity.get(ADDRESS) {
        // Names of hosts are not looked up.
        Some(Some(address)) if address.parse::<IpAddr>().is_err() && address != "localhost" => {
            Err(format!("{address} is not a valid IP or resolvable host."))
        }
        _ => Ok(()),
    }
}
/// As Kafka's tables of a few strings are gone through.
pub(crate) fn in_java_order<T>(items: Vec<T>, key: impl Fn(&T) -> &str) -> Vec<T> {
    in_sized_map_order(items, |item| string_hash(key(item)))
}
/// Says what is wrong with a quota of an entity, in Kafka's words.
pub(crate) fn check_quota(entity: &Entity, name: &str, value: Option<f64>) -> Result<(), String> {
    let Some(value) = value else { return Ok(()) };
    let known: &[&str] = if entity.contains_key(ADDRESS) { &OF_ADDRESSES } else { &OF_CLIENTS };
    if !known.contains(&name) {
        return Err(format!("Invalid configuration key {name}"));
    }
    let is_whole = WHOLE.contains(&name);
    if value <= 0.0 {
        return Err(format!("Quota {name} must be greater than 0"));
    }
    if OF_ADDRESSES.contains(&name) && value > f64::from(i32::MAX) {
        return Err(format!("Proposed value for {name} is too large for an INT."));
    }
    if is_whole && value > MOST_WHOLE {
        return Err(format!("Proposed value for {name} is too large for a LONG."));
    }
    if is_whole && value.fract() != 0.0 {
        return Err(format!("{name} cannot be a fractional value."));
    }
    Ok(())
}
pub(crate) fn is_kind(kind: &str) -> bool {
    KINDS.contains(&kind)
}
/// Whether a filter asks for addresses and for users or clients at once, which no entity is.
pub(crate) fn mixes<'k>(mut kinds: impl Iterator<Item = &'k String> + Clone) -> bool {
    kinds.clone().any(|kind| kind == ADDRESS) && kinds.any(|kind| kind == USER || kind == CLIENT)
}
