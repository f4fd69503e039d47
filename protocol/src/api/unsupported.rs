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
                        write!(f, "{DROPPED}; upgrade the broker to Kafka 2.1 or later")
                    }
                    _ if ours.min() > broker.max() => f.write_str("upgrade the broker"),
                    _ => f.write_str("upgrade millstream"),
                }
            }
        }
    }
}
impl std::error::Error for UnsupportedVersion {}

/// Why brokers before 2.1 are not spoken to in some calls.
const DROPPED: &str = "Kafka 4.0 dropped older ones (KIP-896), and this crate has what Kafka 4.4 has";
const ZOOKEEPER: &str = "went with ZooKeeper in Kafka 4.0, and no client needs it; this crate has what Kafka 4.4 has";

/// LeaderAndIsr, StopReplica, UpdateMetadata and ControlledShutdown: between brokers, by ZooKeeper.
fn was_dropped(api: ApiKey) -> bool {
    (ApiKey::LEADER_AND_ISR..=ApiKey::CONTROLLED_SHUTDOWN).contains(&api)
}

/// Why a message of this API and version is neither written nor read here, and what to do; none if it is.
pub(crate) fn unspoken(api: ApiKey, version: i16) -> Option<String> {
    Some(match supported(api) {
        Some(range) if range.contains(version) => return None,
        Some(range) if version < range.min() => format!(
            "Kafka 4.0 dropped it (KIP-896), and this crate has what Kafka 4.4 has, versions {range}; \
             ask for version {} at least, which Kafka 2.1 and later take",
            range.min()
        ),
        Some(range) => format!("this crate has versions {range}; a newer one needs a newer millstream"),
        None if was_dropped(api) => format!("it {ZOOKEEPER}"),
        None => format!("API key {} is not known to this crate; it needs a newer millstream", api.get()),
    })
}
