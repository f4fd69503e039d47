//! Two sides that share no version of an API.

use super::{VersionRange, supported};
use crate::ApiKey;
use std::fmt;

/// This crate and the broker share no version of an API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnsupportedVersion {
    api: ApiKey,
    ours: Option<VersionRange>,
    broker: Option<VersionRange>,
}

impl UnsupportedVersion {
    pub(crate) const fn new(api: ApiKey, ours: Option<VersionRange>, broker: Option<VersionRange>) -> Self {
        Self { api, ours, broker }
    }
    /// The API in question.
    #[must_use]
    pub const fn api(&self) -> ApiKey {
        self.api
    }
    /// What the call could use of what this crate speaks; none when it does not know the API.
    #[must_use]
    pub const fn ours(&self) -> Option<VersionRange> {
        self.ours
    }
    /// What the broker offers; none when it does not name the API.
    #[must_use]
    pub const fn broker(&self) -> Option<VersionRange> {
        self.broker
    }
}
impl fmt::Display for UnsupportedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let api = self.api;
        match (self.ours, self.broker) {
            (None, _) if was_dropped(api) => {
                write!(f, "{api} {ZOOKEEPER}")
            }
            (None, _) => {
                write!(f, "API key {} is not known to this client; it needs a newer millstream", api.get())
            }
            (Some(ours), None) => write!(
                f,
                "the broker does not offer {api}, of which this call needs version {ours}; \
                 it needs a newer broker, or one on which the feature is enabled"
            ),
            (Some(ours), Some(broker)) => {
                write!(f, "the broker offers {api} {broker}, and this call needs version {ours}; ")?;
                match supported(api) {
                    Some(spoken) if broker.max() < spoken.min() => {
                        let Past { dropped_by, why, taken_since } = past(api);
                        write!(f, "Kafka {dropped_by} dropped older ones ({why}), and {HERE}; ")?;
                        write!(f, "upgrade the broker to Kafka {taken_since} or later")
                    }
                    _ if ours.min() > broker.max() => f.write_str("upgrade the broker"),
                    _ => f.write_str("upgrade millstream"),
                }
            }
        }
    }
}
impl std::error::Error for UnsupportedVersion {}

const HERE: &str = "this crate has what Kafka 4.4 has";
const ZOOKEEPER: &str = "went with ZooKeeper in Kafka 4.0, and no client needs it; this crate has what Kafka 4.4 has";

/// What became of the versions before the lowest that Kafka 4.4 has.
struct Past {
    /// The Kafka that took them out.
    dropped_by: &'static str,
    why: &'static str,
    /// The first Kafka that has the lowest version left.
    taken_since: &'static str,
}

const fn past(api: ApiKey) -> Past {
    match api {
        ApiKey::SHARE_GROUP_HEARTBEAT
        | ApiKey::SHARE_GROUP_DESCRIBE
        | ApiKey::SHARE_FETCH
        | ApiKey::SHARE_ACKNOWLEDGE => Past { dropped_by: "4.1", why: "early access of KIP-932", taken_since: "4.1" },
        ApiKey::ALTER_PARTITION => {
            Past { dropped_by: "4.0", why: "only brokers ask it of controllers", taken_since: "3.3" }
        }
        _ => Past { dropped_by: "4.0", why: "KIP-896", taken_since: "2.1" },
    }
}

/// LeaderAndIsr, StopReplica, UpdateMetadata and ControlledShutdown: between brokers, by ZooKeeper.
fn was_dropped(api: ApiKey) -> bool {
    (ApiKey::LEADER_AND_ISR..=ApiKey::CONTROLLED_SHUTDOWN).contains(&api)
}

/// Why a message of this API and version is neither written nor read here, and what to do; none if it is.
pub(crate) fn unspoken(api: ApiKey, version: i16) -> Option<String> {
    Some(match supported(api) {
        Some(range) if range.contains(version) => return None,
        Some(range) if version < 0 => format!("no version is below 0; this crate has versions {range}"),
        Some(range) if version < range.min() => {
            let (Past { dropped_by, why, taken_since }, min) = (past(api), range.min());
            format!(
                "Kafka {dropped_by} dropped it ({why}), and {HERE}, versions {range}; \
                 ask for version {min} at least, which Kafka {taken_since} and later take"
            )
        }
        Some(range) => format!("this crate has versions {range}; a newer one needs a newer millstream"),
        None if was_dropped(api) => format!("it {ZOOKEEPER}"),
        None => format!("API key {} is not known to this crate; it needs a newer millstream", api.get()),
    })
}
