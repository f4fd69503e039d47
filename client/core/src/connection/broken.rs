//! Why a connection is of no more use, in words that say what to check.

use millstream_protocol::{ApiKey, ErrorCode};
use std::fmt;

/// Why a connection is of no more use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Broken {
    /// The other side closed it.
    Closed(ClosedDuring),
    /// An answer took too long.
    TimedOut {
        /// To what.
        api: ApiKey,
    },
    /// The bytes are not Kafka's protocol.
    Malformed(String),
    /// The broker refused to name its versions.
    Refused(ErrorCode),
}

/// What was going on when the other side closed the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClosedDuring {
    /// The versions were not agreed on yet.
    Setup,
    /// Not one request had been answered.
    FirstRequest,
    /// So many requests waited for answers.
    Requests(usize),
    /// Nothing: an idle connection was closed, which is no failure (W-16).
    Idle,
}

impl Broken {
    pub(super) fn malformed(why: impl fmt::Display) -> Self {
        Self::Malformed(why.to_string())
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The usual sign of plain text to a TLS port, or of a missing login (W-18); also of a broker that restarts.
            Self::Closed(ClosedDuring::Setup | ClosedDuring::FirstRequest) => f.write_str(
                "the broker closed the connection at the first request; if that goes on, its listener wants TLS or a \
                 login (check security.protocol and the port), or it is not a Kafka broker",
            ),
            Self::Closed(ClosedDuring::Requests(count)) => {
                write!(f, "the broker closed the connection with {count} requests unanswered")
            }
            Self::Closed(ClosedDuring::Idle) => f.write_str("the broker closed the idle connection"),
            Self::TimedOut { api: ApiKey::API_VERSIONS } => {
                f.write_str("it took the connection and then said nothing: it is no Kafka broker, or one that is stuck")
            }
            Self::TimedOut { api } => write!(f, "the broker did not answer {api} in time"),
            Self::Malformed(why) => write!(f, "the broker's answer is not Kafka's protocol: {why}"),
            Self::Refused(code) => write!(f, "the broker refused to name its versions: {code}"),
        }
    }
}
impl std::error::Error for Broken {}
