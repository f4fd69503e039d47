//! Subscriptions to clients' metrics (KIP-714): which metrics, how often, of which clients.

use super::Values;
use crate::broker::java_hash::string_hash;
use std::collections::BTreeMap;

pub(crate) const INTERVAL: &str = "interval.ms";
pub(crate) const MATCH: &str = "match";
pub(crate) const METRICS: &str = "metrics";
/// The options with their defaults.
pub(crate) const OPTIONS: [(&str, &str); 3] = [(INTERVAL, "300000"), (MATCH, ""), (METRICS, "")];
/// All metrics that a client has.
const ALL: &str = "*";
const DEFAULT_INTERVAL_MS: i32 = 300_000;

const PATTERNS: [&str; 6] = [
    "client_id",
    "client_instance_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
];

/// What is wrong with a subscription.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Invalid {
    Request(String),
    Config(String),
}

/// Checks one option, in Kafka's words.
pub(crate) fn check(name: &str, value: &str) -> Result<(), Invalid> {
    match name {
        INTERVAL if value.trim().parse::<i32>().is_err() => Err(Invalid::Config(format!(
            "Invalid value {value} for configuration {INTERVAL}: Not a number of type INT"
        ))),
        INTERVAL if !value.parse::<i32>().is_ok_and(|interval| (100..=3_600_000).contains(&interval)) => {
            let reason = "interval must be between 100 and 3600000 (1 hour)";
            Err(Invalid::Request(format!("Invalid value {value} for {INTERVAL}, {reason}")))
        }
        MATCH => value.split(',').filter(|part| !part.trim().is_empty()).try_for_each(check_pattern),
        INTERVAL | METRICS => Ok(()),
        _ => Err(Invalid::Request(format!("Unknown client metrics configuration: {name}"))),
    }
}
fn check_pattern(pattern: &str) -> Result<(), Invalid> {
    let known = pattern.split_once('=').filter(|(key, _)| PATTERNS.contains(&key.trim()));
    let is_valid = known.is_some_and(|(_, value)| regex::Regex::new(value.trim()).is_ok());
    if is_valid { Ok(()) } else { Err(Invalid::Config(format!("Illegal client matching pattern: {pattern}"))) }
}

/// A client that asks what it is to report, by the names of the patterns.
pub(crate) type Client<'a> = BTreeMap<&'static str, &'a str>;

/// What a client is to report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) id: i32,
    pub(crate) metrics: Vec<String>,
    pub(crate) interval_ms: i32,
}

/// What all subscriptions together want of a client. The id tells one answer from another.
pub(crate) fn wanted(subscriptions: &BTreeMap<String, Values>, client: &Client<'_>) -> Wanted {
    let matching = || subscriptions.values().filter(|values| matches(values.get(MATCH), client));
    let mut metrics: Vec<String> = matching()
        .filter_map(|values| values.get(METRICS))
        .flat_map(|metrics| metrics.split(',').map(str::trim))
        .filter(|metric| !metric.is_empty())
        .map(str::to_owned)
        .collect();
    if metrics.iter().any(|metric| metric == ALL) {
        metrics = vec![ALL.to_owned()];
    }
    metrics.sort();
    metrics.dedup();
    let intervals = matching().filter_map(|values| values.get(INTERVAL)?.parse().ok());
    let interval_ms = intervals.min().unwrap_or(DEFAULT_INTERVAL_MS);
    let id = string_hash(&format!("{}:{interval_ms}", metrics.join(",")));
    Wanted { id, metrics, interval_ms }
}
fn matches(patterns: Option<&String>, client: &Client<'_>) -> bool {
    let patterns = patterns.map(String::as_str).unwrap_or_default();
    let mut parts = patterns.split(',').filter_map(|part| part.split_once('='));
    parts.all(|(key, pattern)| {
        let whole = regex::Regex::new(&format!("^(?:{})$", pattern.trim()));
        client.get(key.trim()).is_some_and(|value| whole.is_ok_and(|whole| whole.is_match(value)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clients_that_match_are_asked() {
        let of = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let all = BTreeMap::from([
            ("a".to_owned(), of(&[(METRICS, "org.x,org.y"), (INTERVAL, "500"), (MATCH, "client_id=app-.*")])),
            ("b".to_owned(), of(&[(METRICS, "org.z")])),
        ]);
        let ours = wanted(&all, &Client::from([("client_id", "app-1")]));
        assert_eq!((ours.metrics, ours.interval_ms), (vec!["org.x".into(), "org.y".into(), "org.z".into()], 500));
        let other = wanted(&all, &Client::from([("client_id", "other")]));
        assert_eq!((other.metrics, other.interval_ms), (vec!["org.z".to_owned()], 300_000));
        assert_ne!(ours.id, other.id);
        let everything = BTreeMap::from([("c".to_owned(), of(&[(METRICS, "org.x,*")]))]);
        assert_eq!(wanted(&everything, &Client::new()).metrics, ["*"]);
    }

    #[test]
    fn what_is_wrong_is_told() {
        assert_eq!(check(MATCH, "client_id=a,client_source_port=1"), Ok(()));
        let foo = Invalid::Config("Illegal client matching pattern: foo=1".to_owned());
        assert_eq!(check(MATCH, "foo=1"), Err(foo));
        assert!(matches!(check(INTERVAL, "1"), Err(Invalid::Request(_))));
    }
}
