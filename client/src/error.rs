//! The one error of this crate's edge.

use crate::ConfigError;
use millstream_protocol::{ErrorCode, NodeId, TopicPartition};
use std::fmt;
use std::sync::Arc;

/// A failed operation. `Display` says what was asked, of whom, and what went wrong; `source` says why, deeper down; the
/// predicates say what to do. Cheap to clone, since one failure may concern many records.
///
/// ```
/// use millstream_client::{ErrorKind, Properties};
/// let error = millstream_client::Error::from(Properties::parse("linger.ms").unwrap_err());
/// assert_eq!(error.kind(), ErrorKind::Config);
/// assert!(!error.is_retriable());
/// ```
#[derive(Debug, Clone)]
pub struct Error(Arc<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    operation: String,
    kind: ErrorKind,
    reason: Option<String>,
    retriable: Option<bool>,
    in_doubt: bool,
    abortable: bool,
    node: Option<NodeId>,
    partition: Option<TopicPartition>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// Whose fault, and of what sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The caller asked for what this client or its configuration does not allow.
    Misuse,
    /// An option cannot be.
    Config,
    /// It would have to wait: the buffer is full, or the topic's partitions are not known yet.
    WouldBlock,
    /// No usable connection.
    Unreachable,
    /// The broker is too old, or too new, for what was asked.
    Unsupported,
    /// The credentials or the rights do not suffice.
    Denied,
    /// The deadline passed; whether it happened is told by [`Error::is_in_doubt`].
    TimedOut,
    /// A broker refused.
    Broker(ErrorCode),
    /// The record or batch is larger than the broker or the configuration takes.
    TooLarge,
    /// A newer instance took over this producer or member.
    Fenced,
    /// The partition has no record at the position, and no reset policy says where to go.
    OutOfRange,
    /// The group moved on; the partitions are someone else's.
    Rebalanced,
    /// The transaction was aborted, or can only be.
    Aborted,
    /// Bytes that are not the protocol, or do not match their checksum.
    Malformed,
    /// The handle was closed.
    Closed,
}

impl Error {
    /// A failure of `operation`: "commit transaction of `x`".
    pub(crate) fn new(kind: ErrorKind, operation: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            operation: operation.into(),
            kind,
            reason: None,
            retriable: None,
            in_doubt: false,
            abortable: false,
            node: None,
            partition: None,
            source: None,
        }))
    }
    /// A broker's refusal, with the kind that it deserves.
    pub(crate) fn broker(code: ErrorCode, operation: impl Into<String>) -> Self {
        Self::new(kind_of(code), operation).code_is(code)
    }
    /// A broker's refusal of a topic. Kafka's own words for one that does not exist help nobody.
    pub(crate) fn topic(code: ErrorCode, operation: impl Into<String>) -> Self {
        let error = Self::broker(code, operation);
        match code {
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION => {
                error.reason("the cluster has no such topic; create it, or check its name")
            }
            code => error.reason(code),
        }
    }
    /// What went wrong, and what to do, in words.
    pub(crate) fn reason(mut self, reason: impl fmt::Display) -> Self {
        self.change().reason = Some(reason.to_string());
        self
    }
    /// Why, deeper down.
    pub(crate) fn because(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.change().source = Some(Arc::new(source));
        self
    }
    /// The broker that was asked.
    pub(crate) fn at(mut self, node: NodeId) -> Self {
        self.change().node = Some(node);
        self
    }
    /// The partition that it was about.
    pub(crate) fn about(mut self, partition: TopicPartition) -> Self {
        self.change().partition = Some(partition);
        self
    }
    /// It may nevertheless have happened.
    pub(crate) fn doubtful(mut self) -> Self {
        self.change().in_doubt = true;
        self
    }
    /// The open transaction can only be aborted.
    pub(crate) fn aborting(mut self) -> Self {
        self.change().abortable = true;
        self
    }
    /// Says whether the same call may succeed later, where the kind does not tell.
    pub(crate) fn retriable(mut self, retriable: bool) -> Self {
        self.change().retriable = Some(retriable);
        self
    }

    fn code_is(mut self, code: ErrorCode) -> Self {
        let inner = self.change();
        inner.abortable = code == ErrorCode::TRANSACTION_ABORTABLE;
        inner.source = Some(Arc::new(code));
        self
    }
    fn change(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.0)
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }
    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retriable(&self) -> bool {
        self.0.retriable.unwrap_or(match self.0.kind {
            ErrorKind::WouldBlock | ErrorKind::Unreachable | ErrorKind::TimedOut => true,
            ErrorKind::Broker(code) => code.is_retriable(),
            _ => false,
        })
    }
    /// Whether the handle is of no more use.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Fenced | ErrorKind::Closed)
    }
    /// Whether the open transaction can only be aborted.
    #[must_use]
    pub fn is_abortable(&self) -> bool {
        self.0.abortable || self.0.kind == ErrorKind::Aborted
    }
    /// Whether what was asked may nevertheless have happened.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.0.in_doubt
    }
    /// The broker's code, if a broker answered.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        if let ErrorKind::Broker(code) = self.0.kind {
            return Some(code);
        }
        self.0.source.as_deref()?.downcast_ref().copied()
    }
    /// The broker that was asked.
    #[must_use]
    pub fn node(&self) -> Option<NodeId> {
        self.0.node
    }
    /// The partition that it was about.
    #[must_use]
    pub fn topic_partition(&self) -> Option<&TopicPartition> {
        self.0.partition.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.operation)?;
        if let Some(partition) = &self.0.partition {
            write!(f, ", partition {partition}")?;
        }
        if let Some(node) = self.0.node {
            write!(f, ", node {node}")?;
        }
        match (&self.0.reason, &self.0.kind) {
            (Some(reason), _) => write!(f, ": {reason}")?,
            (None, ErrorKind::Broker(_)) => {}
            (None, kind) => write!(f, ": {}", kind.sentence())?,
        }
        if self.0.in_doubt { f.write_str(" (it may have happened nevertheless)") } else { Ok(()) }
    }
}

impl std::error::Error for Error {
    // A cause whose text is the reason has been said: whoever prints the chain gets what lies below it.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.0.source.as_deref()?;
        let is_said = self.0.reason.as_ref().is_some_and(|reason| *reason == source.to_string());
        if is_said { source.source() } else { Some(source) }
    }
}

impl ErrorKind {
    const fn sentence(self) -> &'static str {
        match self {
            Self::Misuse => "this client or its configuration does not allow it",
            Self::Config => "an option cannot be",
            Self::WouldBlock => "it would have to wait",
            Self::Unreachable => "no usable connection",
            Self::Unsupported => "the broker does not offer a version of it that this client speaks",
            Self::Denied => "the credentials or the rights do not suffice",
            Self::TimedOut => "it took too long",
            Self::Broker(_) => "a broker refused",
            Self::TooLarge => "too large",
            Self::Fenced => "a newer instance took over",
            Self::OutOfRange => "there is no record at this position, and no reset policy says where to go",
            Self::Rebalanced => "the group moved on; the partitions are someone else's",
            Self::Aborted => "the transaction was aborted",
            Self::Malformed => "the bytes are not Kafka's protocol",
            Self::Closed => "it was closed",
        }
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::new(ErrorKind::Config, "configure").reason(&error).because(error)
    }
}

/// The kind that a broker's code deserves.
const fn kind_of(code: ErrorCode) -> ErrorKind {
    match code {
        code if code.is_fenced() => ErrorKind::Fenced,
        ErrorCode::MESSAGE_TOO_LARGE | ErrorCode::RECORD_LIST_TOO_LARGE => ErrorKind::TooLarge,
        ErrorCode::OFFSET_OUT_OF_RANGE => ErrorKind::OutOfRange,
        ErrorCode::UNSUPPORTED_VERSION => ErrorKind::Unsupported,
        ErrorCode::TOPIC_AUTHORIZATION_FAILED
        | ErrorCode::GROUP_AUTHORIZATION_FAILED
        | ErrorCode::CLUSTER_AUTHORIZATION_FAILED
        | ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        | ErrorCode::SASL_AUTHENTICATION_FAILED => ErrorKind::Denied,
        ErrorCode::ILLEGAL_GENERATION
        | ErrorCode::UNKNOWN_MEMBER_ID
        | ErrorCode::REBALANCE_IN_PROGRESS
        | ErrorCode::STALE_MEMBER_EPOCH => ErrorKind::Rebalanced,
        code => ErrorKind::Broker(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_to_whom_and_why() {
        let error = Error::broker(ErrorCode::NOT_LEADER_OR_FOLLOWER, "write 3 records")
            .about(("orders", 2).into())
            .at(NodeId::new(1));
        assert_eq!(error.to_string(), "write 3 records, partition orders-2, node 1");
        let source = std::error::Error::source(&error).map(ToString::to_string);
        assert!(source.is_some_and(|source| source.starts_with("NOT_LEADER_OR_FOLLOWER (6)")));
        assert!(error.is_retriable());
        assert_eq!(error.code(), Some(ErrorCode::NOT_LEADER_OR_FOLLOWER));
    }

    #[test]
    fn kinds_keep_the_brokers_code() {
        let error = Error::broker(ErrorCode::PRODUCER_FENCED, "commit");
        assert_eq!((error.kind(), error.code()), (ErrorKind::Fenced, Some(ErrorCode::PRODUCER_FENCED)));
        assert!(error.is_fatal());
        let error = Error::broker(ErrorCode::TRANSACTION_ABORTABLE, "commit");
        assert!(error.is_abortable());
    }
}
