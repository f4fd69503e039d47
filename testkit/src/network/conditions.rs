//! What is wrong with a link.

use crate::faults::millis;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One way of a link, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Way {
    /// From clients to the broker.
    ToBroker,
    /// From the broker to clients.
    ToClient,
    /// Both.
    Both,
}

/// What a link does to bytes on their way. The default does nothing.
///
/// ```
/// use millstream_testkit::LinkConditions;
/// let slow: LinkConditions = serde_json::from_str(r#"{"latency_ms": 20, "bytes_per_second": 100000, "split_bytes": 1}"#)?;
/// assert_eq!(slow.latency.as_millis(), 20);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "written as a literal in tests; read from JSON")]
pub struct LinkConditions {
    /// How long bytes are under way, each way.
    #[serde(rename = "latency_ms", with = "millis")]
    pub latency: Duration,
    /// Up to so much longer, by chance; they stay in order.
    #[serde(rename = "jitter_ms", with = "millis")]
    pub jitter: Duration,
    /// How many bytes pass in a second, each way.
    pub bytes_per_second: Option<u64>,
    /// They arrive in pieces of no more than so many bytes.
    pub split_bytes: Option<usize>,
    /// What clients send waits, as behind a partition, until this is over.
    pub stalls_to_broker: bool,
    /// What the broker sends waits, as behind a partition, until this is over.
    pub stalls_to_client: bool,
}
impl LinkConditions {
    pub(crate) fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
