//! What may have been meant by an option that there is not.

use super::options;
use crate::broker::topics::config;

/// The end of a sentence that said that there is no such broker option: which one may be meant, or where all are told.
pub(crate) fn hint(key: &str) -> String {
    match of_topics(key).or_else(|| closest(key, options::BROKER.iter().map(|option| option.name))) {
        Some(meant) => format!("; is `{meant}` meant?"),
        None => "; a broker tells all that it has by DescribeConfigs (`kafka-configs --all --describe`)".to_owned(),
    }
}
/// The same of a topic's options.
pub(crate) fn topic_hint(key: &str) -> String {
    match of_brokers(key).or_else(|| closest(key, config::OPTIONS.iter().map(|option| option.name))) {
        Some(meant) => format!("; is `{meant}` meant?"),
        None => "; a topic tells all that it has by DescribeConfigs (`kafka-configs --all --describe`)".to_owned(),
    }
}
/// What topics call what brokers call so.
fn of_brokers(key: &str) -> Option<&'static str> {
    config::OPTIONS.iter().find(|option| option.broker_key == key).map(|option| option.name)
}
/// The broker's key of what topics call so.
fn of_topics(key: &str) -> Option<&'static str> {
    config::OPTIONS.iter().find(|option| option.name == key).map(|option| option.broker_key)
}
/// An option whose name is a slip or two away.
fn closest(key: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let (slips, name) = names.map(|name| (distance(key, name), name)).min()?;
    (slips <= 1 + key.len() / 8).then_some(name)
}
/// How many letters are added, left out or changed between two texts (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, byte) in one.bytes().enumerate() {
        let mut left = row + 1;
        let mut corner = std::mem::replace(&mut above[0], left);
        for (cell, against) in above[1..].iter_mut().zip(other.bytes()) {
            left = (corner + usize::from(byte != against)).min(left + 1).min(*cell + 1);
            corner = std::mem::replace(cell, left);
        }
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_from_another_name() {
        assert_eq!(hint("num.partition"), "; is `num.partitions` meant?");
        assert_eq!(hint("retention.ms"), "; is `log.retention.ms` meant?");
        assert!(hint("no.such.key").starts_with("; a broker tells all"));
        assert_eq!((distance("abc", "abc"), distance("abc", "axcd"), distance("", "ab")), (0, 2, 2));
    }
}
