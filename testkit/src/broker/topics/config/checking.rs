//! All options of a topic, checked as Kafka does: in its order, so that of several errors the same one is told.

use super::{inherited, option};
use crate::broker::configs::Values;
use crate::broker::java_hash::string_hash;
use crate::broker::java_order::in_map_order;
use crate::broker::versions::Release;

/// Says what is wrong with the options of a topic, in Kafka's words: first which there is not, then which has a wrong value, then which
/// contradict each other or what is set for all topics.
pub(crate) fn check_all(values: &Values, defaults: &Values, release: Release) -> Result<(), String> {
    let names = in_map_order(values.keys().collect(), |name: &&String| string_hash(name));
    if let Some(unknown) = names.iter().find(|name| option(name).is_none()) {
        return Err(format!("Unknown topic config name: {unknown}"));
    }
    let mut given = CHECKED.iter().filter_map(|name| Some((option(name)?, values.get(*name)?)));
    given.try_for_each(|(option, value)| option.check(value, release))?;
    check_together(values, defaults)
}
fn check_together(values: &Values, defaults: &Values) -> Result<(), String> {
    let value = |name: &str| values.get(name).map_or_else(|| inherited(defaults, name), String::as_str).trim();
    let lag = |name: &str| value(name).parse::<i64>().unwrap_or(i64::MAX);
    let (least, most) = (lag("min.compaction.lag.ms"), lag("max.compaction.lag.ms"));
    if least > most {
        let name = "conflict topic config setting min.compaction.lag.ms";
        return Err(format!("{name} ({least}) > max.compaction.lag.ms ({most})"));
    }
    if value("remote.storage.enable").eq_ignore_ascii_case("true") {
        let reason = "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.";
        return Err(reason.to_owned());
    }
    Ok(())
}

/// All, in the order in which Kafka checks their values.
const CHECKED: &[&str] = &[
    "segment.bytes",
    "segment.ms",
    "segment.jitter.ms",
    "segment.index.bytes",
    "flush.messages",
    "flush.ms",
    "retention.bytes",
    "retention.ms",
    "max.message.bytes",
    "max.decompressed.message.bytes",
    "index.interval.bytes",
    "delete.retention.ms",
    "min.compaction.lag.ms",
    "max.compaction.lag.ms",
    "file.delete.delay.ms",
    "min.cleanable.dirty.ratio",
    "cleanup.policy",
    "unclean.leader.election.enable",
    "min.insync.replicas",
    "compression.type",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.zstd.level",
    "preallocate",
    "message.timestamp.type",
    "message.timestamp.before.max.ms",
    "message.timestamp.after.max.ms",
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
    "remote.storage.enable",
    "local.retention.ms",
    "local.retention.bytes",
    "remote.log.copy.disable",
    "remote.copy.lag.ms",
    "remote.copy.lag.bytes",
    "remote.log.delete.on.disable",
    "errors.deadletterqueue.group.enable",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::topics::config::OPTIONS;

    #[test]
    fn every_option_is_checked() {
        let mut checked = CHECKED.to_vec();
        let mut all: Vec<&str> = OPTIONS.iter().map(|option| option.name).collect();
        checked.sort_unstable();
        all.sort_unstable();
        assert_eq!(checked, all);
    }

    #[test]
    fn the_first_of_several_wrong_options_is_kafkas() {
        let values = |given: &[(&str, &str)]| {
            given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let told = |given: &[(&str, &str)]| check_all(&values(given), &Values::new(), Release::default()).unwrap_err();
        let policy = ("cleanup.policy", "shred");
        assert!(told(&[policy, ("retention.ms", "x")]).contains("retention.ms"));
        assert!(told(&[policy, ("preallocate", "x")]).contains("cleanup.policy"));
        assert_eq!(told(&[policy, ("nope", "1")]), "Unknown topic config name: nope");
        let (least, most) = (("min.compaction.lag.ms", "2"), ("max.compaction.lag.ms", "1"));
        let tiered = ("remote.storage.enable", "TRUE");
        assert!(told(&[tiered, least, most]).starts_with("conflict"));
        assert!(told(&[tiered]).starts_with("Tiered Storage"));
    }
}
