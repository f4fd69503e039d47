//! What the broker's options say about groups of the consumer protocol (KIP-848), and what a group's own options change.

use super::consumer::assignor::Assignor;
use std::collections::BTreeMap;
use std::time::Duration;

/// In which directions a group may change its protocol while it has members (`group.consumer.migration.policy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Migration {
    Disabled,
    Upgrade,
    Downgrade,
    Bidirectional,
}
impl Migration {
    pub(crate) fn allows_upgrade(self) -> bool {
        matches!(self, Self::Upgrade | Self::Bidirectional)
    }
    pub(crate) fn allows_downgrade(self) -> bool {
        matches!(self, Self::Downgrade | Self::Bidirectional)
    }
}

/// The options `group.consumer.*`.
#[derive(Debug, Clone)]
pub(crate) struct ConsumerSettings {
    pub(crate) session_timeout_ms: u64,
    pub(crate) session_timeout_range: (u64, u64),
    pub(crate) heartbeat_interval_ms: u64,
    pub(crate) heartbeat_interval_range: (u64, u64),
    pub(crate) assignment_interval_ms: u64,
    pub(crate) assignment_interval_range: (u64, u64),
    /// How long what an expression matches is taken for true, if no topic is created.
    pub(crate) regex_refresh_interval_ms: u64,
    pub(crate) max_size: usize,
    /// The first is the one that is taken when no member asks for another.
    pub(crate) assignors: Vec<Assignor>,
    pub(crate) migration: Migration,
}
impl Default for ConsumerSettings {
    /// Kafka's, but for short waits.
    fn default() -> Self {
        Self {
            session_timeout_ms: 45_000,
            session_timeout_range: (1, 60_000),
            heartbeat_interval_ms: 500,
            heartbeat_interval_range: (1, 15_000),
            assignment_interval_ms: 0,
            assignment_interval_range: (0, 15_000),
            regex_refresh_interval_ms: 600_000,
            max_size: usize::MAX,
            assignors: vec![Assignor::Uniform, Assignor::Range],
            migration: Migration::Bidirectional,
        }
    }
}
impl ConsumerSettings {
    /// Sets an option; says whether there is such an option, and what is wrong with the value.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Option<Result<(), String>> {
        let number = match key {
            "group.consumer.session.timeout.ms" => &mut self.session_timeout_ms,
            "group.consumer.min.session.timeout.ms" => &mut self.session_timeout_range.0,
            "group.consumer.max.session.timeout.ms" => &mut self.session_timeout_range.1,
            "group.consumer.heartbeat.interval.ms" => &mut self.heartbeat_interval_ms,
            "group.consumer.min.heartbeat.interval.ms" => &mut self.heartbeat_interval_range.0,
            "group.consumer.max.heartbeat.interval.ms" => &mut self.heartbeat_interval_range.1,
            "group.consumer.assignment.interval.ms" => &mut self.assignment_interval_ms,
            "group.consumer.min.assignment.interval.ms" => &mut self.assignment_interval_range.0,
            "group.consumer.max.assignment.interval.ms" => &mut self.assignment_interval_range.1,
            "group.consumer.regex.refresh.interval.ms" => &mut self.regex_refresh_interval_ms,
            "group.consumer.max.size" => return Some(self.set_max_size(value)),
            "group.consumer.assignors" => return Some(self.set_assignors(value)),
            "group.consumer.migration.policy" => return Some(self.set_migration(value)),
            _ => return None,
        };
        Some(value.parse().map(|parsed| *number = parsed).map_err(|_| cannot_be(key, value)))
    }
    /// An option whose default is shorter here than Kafka's.
    pub(crate) fn short_wait(&self, key: &str) -> Option<u64> {
        match key {
            "group.consumer.min.session.timeout.ms" => Some(self.session_timeout_range.0),
            "group.consumer.heartbeat.interval.ms" => Some(self.heartbeat_interval_ms),
            "group.consumer.min.heartbeat.interval.ms" => Some(self.heartbeat_interval_range.0),
            "group.consumer.assignment.interval.ms" => Some(self.assignment_interval_ms),
            _ => None,
        }
    }
    /// Says which options cannot go together.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (what, value, (least, most)) in [
            ("session.timeout", self.session_timeout_ms, self.session_timeout_range),
            ("heartbeat.interval", self.heartbeat_interval_ms, self.heartbeat_interval_range),
            ("assignment.interval", self.assignment_interval_ms, self.assignment_interval_range),
        ] {
            if !(least..=most).contains(&value) {
                return Err(format!(
                    "`group.consumer.{what}.ms` cannot be {value}: `group.consumer.min.{what}.ms` is {least} and \
                     `group.consumer.max.{what}.ms` is {most}"
                ));
            }
        }
        if self.regex_refresh_interval_ms < LEAST_REGEX_REFRESH_INTERVAL_MS {
            let least = LEAST_REGEX_REFRESH_INTERVAL_MS;
            return Err(format!(
                "`group.consumer.regex.refresh.interval.ms` cannot be {}: Kafka takes {least} at least",
                self.regex_refresh_interval_ms
            ));
        }
        Ok(())
    }
    fn set_max_size(&mut self, value: &str) -> Result<(), String> {
        self.max_size = value.parse().map_err(|_| cannot_be("group.consumer.max.size", value))?;
        Ok(())
    }
    fn set_assignors(&mut self, value: &str) -> Result<(), String> {
        let parsed: Option<Vec<Assignor>> = value.split(',').map(|name| Assignor::named(name.trim())).collect();
        self.assignors = parsed.ok_or_else(|| cannot_be("group.consumer.assignors", value))?;
        Ok(())
    }
    fn set_migration(&mut self, value: &str) -> Result<(), String> {
        self.migration = match value.to_ascii_lowercase().as_str() {
            "disabled" => Migration::Disabled,
            "upgrade" => Migration::Upgrade,
            "downgrade" => Migration::Downgrade,
            "bidirectional" => Migration::Bidirectional,
            _ => return Err(cannot_be("group.consumer.migration.policy", value)),
        };
        Ok(())
    }
    /// The timing of one group: its own options go before the broker's.
    pub(crate) fn timing(&self, own: Option<&BTreeMap<String, String>>) -> Timing {
        let pick = |key: &str, default: u64| {
            let set = own.and_then(|own| own.get(key)).and_then(|value| value.parse().ok());
            Duration::from_millis(set.unwrap_or(default))
        };
        Timing {
            session_timeout: pick("consumer.session.timeout.ms", self.session_timeout_ms),
            heartbeat_interval: pick("consumer.heartbeat.interval.ms", self.heartbeat_interval_ms),
            assignment_interval: pick("consumer.assignment.interval.ms", self.assignment_interval_ms),
        }
    }
    /// The one that is taken when no member asks for another.
    pub(crate) fn first_assignor(&self) -> Assignor {
        self.assignors.first().copied().unwrap_or(Assignor::Uniform)
    }
    /// The assignors' names, as an error tells them.
    pub(crate) fn assignor_names(&self) -> String {
        self.assignors.iter().map(|assignor| assignor.name()).collect::<Vec<_>>().join(", ")
    }
}

/// How long things take in one group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) session_timeout: Duration,
    pub(crate) heartbeat_interval: Duration,
    /// The least time between two target assignments (KIP-1263).
    pub(crate) assignment_interval: Duration,
}

fn cannot_be(key: &str, value: &str) -> String {
    format!("the broker option `{key}` cannot be `{value}`")
}

/// What Kafka asks of `group.consumer.regex.refresh.interval.ms`.
const LEAST_REGEX_REFRESH_INTERVAL_MS: u64 = 10_000;
