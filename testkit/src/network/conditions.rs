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

/// The longest latency.
const LONGEST: Duration = Duration::from_secs(86_400);

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
    /// Checks that they can be.
    ///
    /// # Errors
    ///
    /// When pieces of no bytes are asked for, a bandwidth of none, or a time above a day: a sentence.
    pub(crate) fn check(&self) -> Result<(), String> {
        let longest = self.latency.max(self.jitter);
        if self.split_bytes == Some(0) {
            return Err("split_bytes is 0, and pieces of no bytes carry nothing: 1 splits at every byte, none (null) not at all".into());
        }
        if self.bytes_per_second == Some(0) {
            return Err(
                "bytes_per_second is 0, which lets nothing pass: stalls_to_broker and stalls_to_client say that".into(),
            );
        }
        if longest > LONGEST {
            let (given, most) = (longest.as_millis(), LONGEST.as_millis());
            return Err(format!("latency_ms and jitter_ms are {most} (a day) at most, not {given}"));
        }
        Ok(())
    }
    pub(crate) fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
