//! Places in a partition, and questions about them.

use millstream_protocol::{LeaderEpoch, Offset, Timestamp};

/// The next offset to read, and the leader's term of the record before it (KIP-320).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Position {
    /// The next offset to read.
    pub offset: i64,
    /// The term in which the record before it was written, if known.
    pub epoch: Option<LeaderEpoch>,
}

impl Position {
    /// A position whose history is not known.
    #[must_use]
    pub const fn at(offset: Offset) -> Self {
        Self { offset: offset.get(), epoch: None }
    }
    /// A position after a record of this term.
    #[must_use]
    pub const fn after(offset: Offset, epoch: Option<LeaderEpoch>) -> Self {
        Self { offset: offset.get(), epoch }
    }
}

/// An offset that only the leader knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffsetTarget {
    /// The first record kept.
    Earliest,
    /// After the last record that the isolation level shows.
    Latest,
    /// The first record not older than this; after the last record if there is none.
    Since(Timestamp),
}

impl OffsetTarget {
    pub(super) const fn wire(self) -> i64 {
        match self {
            Self::Earliest => -2,
            Self::Latest => -1,
            Self::Since(time) => time.as_millis(),
        }
    }
}

/// Which life of a partition something belongs to: every assignment and seek begins a new one. A later one is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub(super) u64);
