//! The one error of this crate's edge.

use millstream_client as client;
use millstream_processor_core::{TaskId, TopologyError};
use millstream_state::StoreError;
use std::fmt;

/// A runtime that could not start or go on. `Display` says what was being done and to what; `source` says why.
#[derive(Debug)]
pub struct StreamsError {
    operation: String,
    kind: StreamsErrorKind,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Whose fault, and of what sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamsErrorKind {
    /// The graph, or a topic that it needs, is not as it must be.
    Topology,
    /// An option cannot be.
    Config,
    /// The cluster.
    Client,
    /// A store, or its folder.
    State,
    /// User logic, in a task whose handler said fail.
    Task(TaskId),
    /// A query that this process cannot answer now: it is rebalancing, or the key is elsewhere.
    NotHere,
    /// The runtime has stopped.
    Stopped,
}

impl StreamsError {
    pub(crate) fn new(operation: impl Into<String>, kind: StreamsErrorKind) -> Self {
        Self { operation: operation.into(), kind, source: None }
    }

    pub(crate) fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    pub(crate) fn client(operation: impl Into<String>, error: client::Error) -> Self {
        Self::new(operation, StreamsErrorKind::Client).because(error)
    }

    pub(crate) fn state(
        operation: impl Into<String>,
        error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::new(operation, StreamsErrorKind::State).because(error)
    }

    /// Whether a store could not be opened since something still has it.
    pub(crate) fn is_of_locked_store(&self) -> bool {
        let cause = self.source.as_deref().and_then(|source| source.downcast_ref::<StoreError>());
        matches!(cause, Some(StoreError::Locked { .. }))
    }

    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> StreamsErrorKind {
        self.kind
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retriable(&self) -> bool {
        let cause = self.source.as_deref().and_then(|source| source.downcast_ref::<client::Error>());
        self.kind == StreamsErrorKind::NotHere || cause.is_some_and(client::Error::is_retriable)
    }

    /// Whether the runtime has stopped for good.
    #[must_use]
    pub const fn is_fatal(&self) -> bool {
        !matches!(self.kind, StreamsErrorKind::NotHere)
    }
}

impl fmt::Display for StreamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.operation)
    }
}

impl std::error::Error for StreamsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// An error with its causes in one line, for the log.
pub(crate) struct WithCauses<'a>(pub(crate) &'a StreamsError);

impl fmt::Display for WithCauses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = std::error::Error::source(self.0);
        while let Some(why) = cause {
            write!(f, ": {why}")?;
            cause = why.source();
        }
        Ok(())
    }
}

impl From<TopologyError> for StreamsError {
    fn from(error: TopologyError) -> Self {
        Self::new("check the topology", StreamsErrorKind::Topology).because(error)
    }
}
