//! What can be made to go wrong with requests, as values: written in a test, or sent as JSON to a broker's control port.

mod malformation;
mod names;
mod plan;

pub use malformation::Malformation;
#[cfg(feature = "server")]
pub(crate) use names::no_api;
pub use names::{api_named, code_named};
pub use plan::{FaultPlan, FaultPlanError, FaultState, FaultStep, PartitionScope};

pub(crate) use names::{api, millis};

use millstream_protocol::ErrorCode;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// What becomes of a request.
///
/// As JSON: a name, or a name with what belongs to it.
///
/// ```
/// use millstream_testkit::faults::{Effect, Then};
/// use millstream_protocol::ErrorCode;
///
/// let read = |text: &str| serde_json::from_str::<Effect>(text).unwrap();
/// assert_eq!(read(r#""disconnect""#), Effect::Disconnect);
/// assert_eq!(read(r#"{"error": "NOT_LEADER_OR_FOLLOWER"}"#), Effect::Error(ErrorCode::NOT_LEADER_OR_FOLLOWER));
/// assert_eq!(read(r#"{"apply_then": "silence"}"#), Effect::ApplyThen(Then::Silence));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// It is served as if there were no fault: for a step that only delays the answer, or that counts.
    Pass,
    /// It is refused with a code, at the level where its API has codes; nothing is done.
    Error(#[serde(with = "names::code")] ErrorCode),
    /// The connection ends; nothing is done.
    Disconnect,
    /// There is never an answer, and the connection stays open; nothing is done.
    Silence,
    /// It waits for so long before it is served. As JSON in milliseconds: `{"delay_ms": 200}`.
    #[serde(rename = "delay_ms")]
    Delay(#[serde(with = "names::millis")] Duration),
    /// It is served, but its answer does not come as it should.
    ApplyThen(Then),
    /// It is served, and the records in its answer have a flipped bit: Fetch alone.
    CorruptRecords,
    /// It is served, and its answer is made into what no Kafka would send.
    Malform(Malformation),
}

/// What is longer than that never comes: beyond it timestamps say nothing.
const LONGEST_DELAY: Duration = Duration::from_secs(100 * 365 * 86_400);

impl Effect {
    /// How much later it lets something happen.
    fn delay(&self) -> Duration {
        match self {
            Self::Delay(by) | Self::ApplyThen(Then::Delay(by)) => *by,
            _ => Duration::ZERO,
        }
    }
}
impl fmt::Display for Effect {
    /// What becomes of a request, as in "refused with NOT_LEADER_OR_FOLLOWER".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("served"),
            Self::Error(code) => write!(f, "refused with {}", code.name()),
            Self::Disconnect => f.write_str("hung up on"),
            Self::Silence => f.write_str("never answered"),
            Self::Delay(by) => write!(f, "served {} ms later", by.as_millis()),
            Self::ApplyThen(then) => write!(f, "served, but {then}"),
            Self::CorruptRecords => f.write_str("served, with a flipped bit in the records of the answer"),
            Self::Malform(how) => write!(f, "served, with an answer that {how}"),
        }
    }
}

/// What becomes of an answer whose request was served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Then {
    /// The connection ends instead.
    Disconnect,
    /// It never comes, and the connection stays open.
    Silence,
    /// It comes so much later. As JSON in milliseconds: `{"delay_ms": 200}`.
    #[serde(rename = "delay_ms")]
    Delay(#[serde(with = "names::millis")] Duration),
}
impl fmt::Display for Then {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disconnect => f.write_str("hung up on instead of answered"),
            Self::Silence => f.write_str("never answered"),
            Self::Delay(by) => write!(f, "answered {} ms later", by.as_millis()),
        }
    }
}
