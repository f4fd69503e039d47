//! What became of a batch.

use millstream_protocol::{ErrorCode, Offset, Timestamp};
use std::fmt;
use std::sync::Arc;

/// Where a batch was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The offset of its first record; none if nobody told.
    pub base_offset: Option<Offset>,
    /// The broker's time, for topics that keep that one.
    pub log_append_time: Option<Timestamp>,
}

impl Written {
    /// A batch at an offset, if it is known.
    #[must_use]
    pub const fn at(base_offset: Option<Offset>) -> Self {
        Self { base_offset, log_append_time: None }
    }
}

/// Why a batch was not, or not surely, written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The broker refused it.
    Refused {
        /// The broker's code.
        code: ErrorCode,
        /// What it said besides.
        message: Option<String>,
        /// An earlier try may nevertheless have been written.
        in_doubt: bool,
    },
    /// The delivery timeout passed.
    Expired {
        /// It may nevertheless have been written.
        in_doubt: bool,
        /// What the last try met.
        last: Option<String>,
    },
    /// It cannot be made into a request for this broker.
    Unsendable(String),
    /// Its transaction was aborted, or had ended when it was to be appended.
    Aborted,
    /// A newer producer with the same transactional id took over.
    Fenced(ErrorCode),
    /// The producer was closed.
    Closed,
    /// It failed for a reason that says nothing of its tries, one of which may have been written.
    Doubtful(Arc<Self>),
}

impl Failure {
    /// Whether it may nevertheless have been written.
    #[must_use]
    pub const fn is_in_doubt(&self) -> bool {
        matches!(self, Self::Refused { in_doubt: true, .. } | Self::Expired { in_doubt: true, .. } | Self::Doubtful(_))
    }
    /// Why, whether in doubt or not.
    #[must_use]
    pub fn cause(&self) -> &Self {
        if let Self::Doubtful(cause) = self { cause.cause() } else { self }
    }
    /// The same for a batch that may have been written. What is aborted is not, for all that readers can tell.
    pub(super) fn doubtful(cause: Arc<Self>) -> Arc<Self> {
        if cause.is_in_doubt() || *cause == Self::Aborted { cause } else { Arc::new(Self::Doubtful(cause)) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { code, message: Some(message), .. } => write!(f, "{code} The broker says: {message}"),
            Self::Refused { code, message: None, .. } => write!(f, "{code}"),
            Self::Expired { last: Some(last), .. } => {
                write!(f, "not acknowledged within delivery.timeout.ms; the last try ended with: {last}")
            }
            Self::Expired { last: None, .. } => f.write_str("not sent within delivery.timeout.ms"),
            Self::Unsendable(why) => f.write_str(why),
            Self::Aborted => f.write_str("the transaction was aborted"),
            Self::Fenced(code) => {
                write!(f, "a newer producer with the same transactional id took over ({})", code.name())
            }
            Self::Closed => f.write_str("the producer was closed"),
            Self::Doubtful(cause) => write!(f, "{cause}"),
        }
    }
}
impl std::error::Error for Failure {}

/// What became of a batch, or of a part of it.
pub type Outcome = Result<Written, Arc<Failure>>;
