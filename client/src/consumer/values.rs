//! Values of a consumer's options.

use crate::IsolationLevel;
use crate::config::{OptionValue, plain_options};
use millstream_client_core::fetch::OffsetReset;
use millstream_client_core::group::assignor::{CooperativeSticky, PartitionAssignor, Range};
use std::time::Duration;

/// Who assigns partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupProtocol {
    /// A member, by the first of these that all members know.
    Classic(Vec<Assignor>),
}

/// How the classic protocol's leader shares partitions out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Assignor {
    /// Per topic, consecutive partitions to members in order; co-partitioned topics fall alike.
    Range,
    /// Balanced, moving as little as can be, without stopping what stays (KIP-429).
    CooperativeSticky,
}

impl Assignor {
    pub(super) fn build(self) -> Box<dyn PartitionAssignor> {
        match self {
            Self::Range => Box::new(Range::new()),
            Self::CooperativeSticky => Box::new(CooperativeSticky::new()),
        }
    }
    fn parse(name: &str) -> Result<Self, String> {
        match name.trim().rsplit('.').next().unwrap_or_default() {
            "range" | "RangeAssignor" => Ok(Self::Range),
            "cooperative-sticky" | "CooperativeStickyAssignor" => Ok(Self::CooperativeSticky),
            other => Err(format!("`{other}` is not an assignor here; `range` and `cooperative-sticky` are")),
        }
    }
}

impl GroupProtocol {
    pub(super) fn assignors(&self) -> &[Assignor] {
        let Self::Classic(assignors) = self;
        assignors
    }
    pub(super) fn classic() -> Self {
        Self::Classic(vec![Assignor::Range, Assignor::CooperativeSticky])
    }
}
impl OptionValue for GroupProtocol {
    fn parse(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "classic" => Ok(Self::classic()),
            other => Err(format!("`{other}` is not supported yet; only `classic` is")),
        }
    }
}

/// `partition.assignment.strategy`, as a properties file has it. Kafka's key for what [`GroupProtocol::Classic`] lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Strategy(pub(super) Option<Vec<Assignor>>);

impl OptionValue for Strategy {
    fn parse(text: &str) -> Result<Self, String> {
        text.split(',').map(Assignor::parse).collect::<Result<_, _>>().map(Some).map(Self)
    }
}
impl crate::config::FromArgument<Vec<Assignor>> for Strategy {
    fn from_argument(assignors: Vec<Assignor>) -> Self {
        Self(Some(assignors))
    }
}

impl OptionValue for OffsetReset {
    fn parse(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "earliest" => Ok(Self::Earliest),
            "latest" => Ok(Self::Latest),
            "none" => Ok(Self::None),
            other => match other.strip_prefix("by_duration:").and_then(iso_duration) {
                Some(back) => Ok(Self::ByDuration(back)),
                None => Err(format!("`{text}` is none of `earliest`, `latest`, `none` and `by_duration:PT1H`")),
            },
        }
    }
}

/// An ISO 8601 duration of days, hours, minutes and seconds, in lower case: `p1dt2h30m`.
fn iso_duration(text: &str) -> Option<Duration> {
    let (days, time) = match text.strip_prefix('p')?.split_once('t') {
        Some((days, time)) => (days, time),
        None => (text.strip_prefix('p')?, ""),
    };
    if days.is_empty() && time.is_empty() {
        return None;
    }
    let days = if days.is_empty() { 0 } else { days.strip_suffix('d')?.parse::<u64>().ok()?.checked_mul(86_400)? };
    let mut seconds = Duration::from_secs(days);
    let mut rest = time;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| letter.is_ascii_alphabetic())?;
        let amount = rest[..end].parse::<f64>().ok().filter(|amount| *amount >= 0.0)?;
        let unit = match &rest[end..=end] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            _ => return None,
        };
        seconds = seconds.checked_add(Duration::try_from_secs_f64(amount * unit).ok()?)?;
        rest = &rest[end + 1..];
    }
    Some(seconds)
}

impl OptionValue for IsolationLevel {
    fn parse(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "read_uncommitted" => Ok(Self::ReadUncommitted),
            "read_committed" => Ok(Self::ReadCommitted),
            _ => Err(format!("`{text}` is neither `read_committed` nor `read_uncommitted`")),
        }
    }
}

plain_options!(GroupProtocol, OffsetReset, IsolationLevel);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_java_writes_them() {
        let cases = [("pt1h", 3600), ("p1d", 86_400), ("p1dt1h1m1s", 90_061), ("pt0.5s", 0)];
        for (text, seconds) in cases {
            assert_eq!(iso_duration(text).map(|duration| duration.as_secs()), Some(seconds), "{text}");
        }
        for text in ["", "p", "pt", "1h", "pth", "pt1x", "pt-1s", "p1h"] {
            assert_eq!(iso_duration(text), None, "{text}");
        }
    }

    #[test]
    fn assignors_are_read_by_protocol_and_by_class() {
        let java = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor, range";
        assert_eq!(Strategy::parse(java), Ok(Strategy(Some(vec![Assignor::CooperativeSticky, Assignor::Range]))));
        assert!(Strategy::parse("sticky").is_err());
    }
}
