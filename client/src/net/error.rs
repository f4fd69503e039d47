//! What can go wrong between a request and its answer.

use millstream_client_core::connection::{Broken, ClosedDuring, SendError};
use millstream_protocol::NodeId;
use millstream_protocol::api::UnsupportedVersion;
use std::fmt;

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConnectError {
    /// The metadata has no such broker.
    #[error("the cluster's metadata has no node {0}")]
    UnknownNode(NodeId),
    /// The name has no address.
    #[error("{0}: the name cannot be resolved: {1}")]
    Resolve(String, String),
    /// No address of the host took the connection.
    #[error("{0}")]
    Refused(String),
    /// It took too long.
    #[error("{0}: no connection within the setup timeout")]
    TimedOut(String),
    /// It opened and broke before the versions were agreed on.
    #[error("{0}: {1}")]
    Setup(String, Broken),
}

/// Why a request has no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum RequestError {
    /// There is no connection; nothing was sent.
    #[error("{0}")]
    Connect(ConnectError),
    /// The connection broke.
    #[error("{broken}")]
    Broken { broken: Broken, written: bool },
    /// The broker offers no version of it that will do; nothing was sent.
    #[error("{0}")]
    Unsupported(UnsupportedVersion),
    /// The request cannot be written.
    #[error("{0}")]
    Encode(String),
    /// The answer cannot be read; the request may have had its effect.
    #[error("{0}")]
    Malformed(String),
    /// More requests wait for this connection than it takes; nothing was sent.
    #[error("too many requests wait for the connection")]
    Overloaded,
    /// It would have gone before one that failed; nothing was sent.
    #[error("one that goes before it failed before the request was sent")]
    Overtaking,
    /// The client was closed.
    #[error("the client was closed")]
    Closed,
}

impl RequestError {
    /// Whether the broker may have got the request.
    pub(crate) const fn may_be_sent(&self) -> bool {
        matches!(self, Self::Broken { written: true, .. } | Self::Malformed(_))
    }
    /// Whether another try may do better.
    pub(crate) const fn is_retriable(&self) -> bool {
        matches!(self, Self::Connect(_) | Self::Broken { .. } | Self::Overloaded | Self::Overtaking)
    }
    /// Whether the broker took too long to answer.
    pub(crate) const fn is_timeout(&self) -> bool {
        matches!(self, Self::Broken { broken: Broken::TimedOut { .. }, .. })
    }
    /// Whether an idle connection was closed just as the request was sent, which is worth no waiting (W-16).
    pub(crate) const fn is_idle_close(&self) -> bool {
        matches!(self, Self::Broken { broken: Broken::Closed(ClosedDuring::Idle), .. })
    }
    /// The kind for the edge.
    pub(crate) const fn kind(&self) -> crate::ErrorKind {
        use crate::ErrorKind;
        match self {
            Self::Broken { broken: Broken::TimedOut { .. }, .. } => ErrorKind::TimedOut,
            Self::Connect(_) | Self::Broken { .. } | Self::Overloaded | Self::Overtaking => ErrorKind::Unreachable,
            Self::Unsupported(_) => ErrorKind::Unsupported,
            Self::Encode(_) => ErrorKind::Misuse,
            Self::Malformed(_) => ErrorKind::Malformed,
            Self::Closed => ErrorKind::Closed,
        }
    }
    /// As an error of the edge.
    pub(crate) fn into_error(self, operation: impl Into<String>) -> crate::Error {
        let error = crate::Error::new(self.kind(), operation).reason(&self);
        if self.may_be_sent() { error.doubtful() } else { error }.because(self)
    }
}

impl From<SendError> for RequestError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Unsupported(error) => Self::Unsupported(error),
            other => Self::Encode(Whole(&other).to_string()),
        }
    }
}

/// An error with its sources, in one line.
pub(crate) struct Whole<'e>(pub(crate) &'e dyn std::error::Error);
impl fmt::Display for Whole<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.0, f)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}
