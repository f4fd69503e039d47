//! The options of topics: names, defaults, kinds. What does not change how this broker behaves is stored and shown all the same.

mod checking;
mod spelling;

pub(crate) use checking::check_all;
pub(crate) use spelling::{canonical, spelled};

use crate::broker::configs::Values;
use crate::broker::versions::Release;

/// What values an option takes, with DescribeConfigs' numbers for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Boolean,
    Text,
    Int,
    Short,
    Long,
    Double,
    List,
    Class,
    Password,
    /// Of an option that Kafka does not know, and so takes for a secret.
    Unknown,
}
impl Kind {
    pub(crate) fn number(self) -> i8 {
        match self {
            Self::Boolean => 1,
            Self::Text => 2,
            Self::Int => 3,
            Self::Short => 4,
            Self::Long => 5,
            Self::Double => 6,
            Self::List => 7,
            Self::Class => 8,
            Self::Password => 9,
            Self::Unknown => 0,
        }
    }
    /// As the tables of options name it.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "boolean" => Self::Boolean,
            "string" => Self::Text,
            "int" => Self::Int,
            "short" => Self::Short,
            "long" => Self::Long,
            "double" => Self::Double,
            "list" => Self::List,
            "class" => Self::Class,
            "password" => Self::Password,
            _ => return None,
        })
    }
}

/// One option of a topic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TopicOption {
    pub(crate) name: &'static str,
    pub(crate) broker_key: &'static str,
    pub(crate) default: &'static str,
    pub(crate) kind: Kind,
    allowed: &'static [&'static str],
}
impl TopicOption {
    /// Whether the broker has a default under its own key that DescribeConfigs shows. Where the broker's key in milliseconds shadows one in
    /// hours or minutes, it has none.
    pub(crate) fn has_broker_default(&self) -> bool {
        !self.broker_key.is_empty()
            && !matches!(self.name, "flush.ms" | "retention.ms" | "segment.jitter.ms" | "segment.ms")
    }
    /// Says what is wrong with a value, in Kafka's words.
    pub(crate) fn check(&self, value: &str, release: Release) -> Result<(), String> {
        let name = self.name;
        if name.ends_with(".replication.throttled.replicas") && !is_list_of_replicas(value) {
            let form = "[partitionId]:[brokerId],[partitionId]:[brokerId],...";
            let wanted =
                format!("{name} must be the literal '*' or a list of replicas in the following format: {form}");
            return Err(format!("Invalid value [{value}] for configuration {name}: {wanted}"));
        }
        let wrong =
            |value: &str, reason: String| Err(format!("Invalid value {value} for configuration {name}: {reason}"));
        if let Some((part, reason)) = self.choice_error(value) {
            if self.kind == Kind::List && part.is_empty() {
                return Err(format!("Configuration '{name}' values must not be empty."));
            }
            return wrong(part, reason);
        }
        if let Some(reason) = number_error(self.kind, value) {
            return wrong(value, reason);
        }
        self.range_error(value.trim(), release).map_or(Ok(()), |reason| wrong(&canonical(self.kind, value), reason))
    }
    /// What is no choice, and what there is to choose from.
    fn choice_error<'v>(&self, value: &'v str) -> Option<(&'v str, String)> {
        let mut parts = match self.kind {
            Kind::List => value.split(',').collect(),
            _ => vec![value],
        };
        if self.kind == Kind::List && value.is_empty() {
            parts.clear();
        }
        let wrong = parts.into_iter().map(str::trim).find(|part| !self.allows(part))?;
        let mut allowed = self.allowed.to_vec();
        // Kafka tells these in another order than it lists them.
        if self.kind == Kind::List {
            allowed.sort_unstable();
        }
        Some((wrong, format!("String must be one of: {}", allowed.join(", "))))
    }
    fn range_error(&self, value: &str, release: Release) -> Option<String> {
        if self.name == "compression.gzip.level" {
            let level: i32 = value.parse().ok()?;
            let is_valid = (1..=9).contains(&level) || level == -1;
            return (!is_valid).then(|| "Value must be between 1 and 9 or equal to -1".to_owned());
        }
        range_error(range(self.name, release)?, value)
    }
    fn allows(&self, value: &str) -> bool {
        self.allowed.is_empty() || self.allowed.contains(&value)
    }
}

/// `*`, or pairs of a partition and a broker.
fn is_list_of_replicas(value: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_pair =
        |pair: &str| pair.trim().split_once(':').is_some_and(|(one, other)| is_number(one) && is_number(other));
    matches!(value.trim(), "" | "*") || value.split(',').all(is_pair)
}
/// Says what is wrong with a value that is no number, or no switch, where one is wanted.
pub(crate) fn number_error(kind: Kind, value: &str) -> Option<String> {
    let value = value.trim();
    let (is_valid, name) = match kind {
        Kind::Boolean if ["true", "false"].iter().any(|word| value.eq_ignore_ascii_case(word)) => return None,
        Kind::Boolean => return Some("Expected value to be either true or false".to_owned()),
        Kind::Int => (value.parse::<i32>().is_ok(), "INT"),
        Kind::Short => (value.parse::<i16>().is_ok(), "SHORT"),
        Kind::Long => (value.parse::<i64>().is_ok(), "LONG"),
        Kind::Double => (value.parse::<f64>().is_ok(), "DOUBLE"),
        Kind::Text | Kind::List | Kind::Class | Kind::Password | Kind::Unknown => return None,
    };
    (!is_valid).then(|| format!("Not a number of type {name}"))
}
/// Says what is wrong with a number that is less than the least or more than the greatest.
pub(crate) fn range_error((least, most): (f64, f64), value: &str) -> Option<String> {
    let number: f64 = value.trim().parse().ok()?;
    if number < least {
        return Some(format!("Value must be at least {least}"));
    }
    (number > most).then(|| format!("Value must be no more than {most}"))
}
/// The least and the greatest value of an option.
fn range(name: &str, release: Release) -> Option<(f64, f64)> {
    let least = match name {
        "min.cleanable.dirty.ratio" => return Some((0.0, 1.0)),
        "compression.lz4.level" => return Some((1.0, 17.0)),
        "compression.zstd.level" => return Some((-131_072.0, 22.0)),
        "max.decompressed.message.bytes" => return Some((1.0, 2_147_483_639.0)),
        "local.retention.ms" | "local.retention.bytes" => -2.0,
        "retention.ms" | "remote.copy.lag.ms" | "remote.copy.lag.bytes" => -1.0,
        "segment.jitter.ms"
        | "flush.ms"
        | "max.message.bytes"
        | "index.interval.bytes"
        | "delete.retention.ms"
        | "min.compaction.lag.ms"
        | "file.delete.delay.ms"
        | "message.timestamp.before.max.ms"
        | "message.timestamp.after.max.ms" => 0.0,
        "segment.ms" | "flush.messages" | "max.compaction.lag.ms" | "min.insync.replicas" => 1.0,
        "segment.index.bytes" => 4.0,
        // KIP-1030 raised it; topics were only checked with KAFKA-19080.
        "segment.bytes" => {
            if release.is_since("4.1") {
                1_048_576.0
            } else {
                14.0
            }
        }
        _ => return None,
    };
    Some((least, f64::INFINITY))
}

/// The value of an option that a topic does not set, where these are set for all topics.
pub(crate) fn inherited<'v>(defaults: &'v Values, name: &str) -> &'v str {
    let set = defaults.get(name).map(String::as_str);
    set.or_else(|| option(name).map(|option| option.default)).unwrap_or_default()
}
/// Finds an option by the topic's key.
pub(crate) fn option(name: &str) -> Option<&'static TopicOption> {
    OPTIONS.iter().find(|option| option.name == name)
}

const fn row(name: &'static str, broker_key: &'static str, default: &'static str, kind: Kind) -> TopicOption {
    TopicOption { name, broker_key, default, kind, allowed: &[] }
}
const fn choice(
    name: &'static str,
    broker_key: &'static str,
    default: &'static str,
    kind: Kind,
    allowed: &'static [&'static str],
) -> TopicOption {
    TopicOption { name, broker_key, default, kind, allowed }
}

/// All, in the order in which Kafka 4.4 describes them: its tools print them so.
pub(crate) const OPTIONS: &[TopicOption] = &[
    choice(
        "compression.type",
        "compression.type",
        "producer",
        Kind::Text,
        &["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"],
    ),
    row("errors.deadletterqueue.group.enable", "", "false", Kind::Boolean),
    row("remote.copy.lag.bytes", "log.remote.copy.lag.bytes", "-1", Kind::Long),
    row("remote.log.delete.on.disable", "", "false", Kind::Boolean),
    row("leader.replication.throttled.replicas", "", "", Kind::List),
    row("remote.storage.enable", "", "false", Kind::Boolean),
    row("min.insync.replicas", "min.insync.replicas", "1", Kind::Int),
    row("segment.jitter.ms", "log.roll.jitter.ms", "0", Kind::Long),
    row("remote.log.copy.disable", "", "false", Kind::Boolean),
    row("local.retention.ms", "log.local.retention.ms", "-2", Kind::Long),
    choice("cleanup.policy", "log.cleanup.policy", "delete", Kind::List, &["delete", "compact"]),
    row("flush.ms", "log.flush.interval.ms", "9223372036854775807", Kind::Long),
    row("follower.replication.throttled.replicas", "", "", Kind::List),
    row("compression.lz4.level", "compression.lz4.level", "9", Kind::Int),
    row("segment.bytes", "log.segment.bytes", "1073741824", Kind::Int),
    row("retention.ms", "log.retention.ms", "604800000", Kind::Long),
    row("compression.gzip.level", "compression.gzip.level", "-1", Kind::Int),
    row("remote.copy.lag.ms", "log.remote.copy.lag.ms", "0", Kind::Long),
    row("flush.messages", "log.flush.interval.messages", "9223372036854775807", Kind::Long),
    row("compression.zstd.level", "compression.zstd.level", "3", Kind::Int),
    row("max.compaction.lag.ms", "log.cleaner.max.compaction.lag.ms", "9223372036854775807", Kind::Long),
    row("file.delete.delay.ms", "log.segment.delete.delay.ms", "60000", Kind::Long),
    row("max.message.bytes", "message.max.bytes", "1048588", Kind::Int),
    row("min.compaction.lag.ms", "log.cleaner.min.compaction.lag.ms", "0", Kind::Long),
    choice(
        "message.timestamp.type",
        "log.message.timestamp.type",
        "CreateTime",
        Kind::Text,
        &["CreateTime", "LogAppendTime"],
    ),
    row("local.retention.bytes", "log.local.retention.bytes", "-2", Kind::Long),
    row("preallocate", "log.preallocate", "false", Kind::Boolean),
    row("index.interval.bytes", "log.index.interval.bytes", "4096", Kind::Int),
    row("min.cleanable.dirty.ratio", "log.cleaner.min.cleanable.ratio", "0.5", Kind::Double),
    row("unclean.leader.election.enable", "unclean.leader.election.enable", "false", Kind::Boolean),
    row("retention.bytes", "log.retention.bytes", "-1", Kind::Long),
    row("delete.retention.ms", "log.cleaner.delete.retention.ms", "86400000", Kind::Long),
    row("message.timestamp.after.max.ms", "log.message.timestamp.after.max.ms", "3600000", Kind::Long),
    row("max.decompressed.message.bytes", "max.decompressed.message.bytes", "2147483639", Kind::Int),
    row("message.timestamp.before.max.ms", "log.message.timestamp.before.max.ms", "9223372036854775807", Kind::Long),
    row("segment.ms", "log.roll.ms", "604800000", Kind::Long),
    row("segment.index.bytes", "log.index.size.max.bytes", "10485760", Kind::Int),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_of_its_option() {
        for option in OPTIONS {
            assert_eq!(option.check(option.default, Release::default()), Ok(()), "{}", option.name);
        }
    }

    #[test]
    fn a_policy_may_be_a_list() {
        let policy = option("cleanup.policy").unwrap();
        assert_eq!(policy.check("compact,delete", Release::default()), Ok(()));
        assert!(policy.check("shred", Release::default()).is_err());
    }

    #[test]
    fn segments_may_be_small_before_4_1() {
        let size = option("segment.bytes").unwrap();
        let old: Release = "4.0.2".parse().unwrap();
        assert_eq!(size.check("14", old), Ok(()));
        let reason = "Invalid value 14 for configuration segment.bytes: Value must be at least 1048576";
        assert_eq!(size.check("14", Release::default()), Err(reason.to_owned()));
    }
}
