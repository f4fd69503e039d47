//! A place in a partition, named.

use crate::OffsetAndMetadata;
use millstream_protocol::{Offset, Timestamp};

/// A place in a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffsetSpec {
    /// The first record kept.
    Earliest,
    /// After the last record: the high watermark, or the last stable offset where only committed records are read.
    Latest,
    /// This offset.
    At(Offset),
    /// The first record not older than this.
    Since(Timestamp),
}

impl OffsetSpec {
    /// What ListOffsets carries for it; none for an offset, which needs no asking.
    pub(crate) const fn timestamp(self) -> Option<i64> {
        match self {
            Self::Earliest => Some(-2),
            Self::Latest => Some(-1),
            Self::Since(time) => Some(time.as_millis()),
            Self::At(_) => None,
        }
    }
}
impl From<Offset> for OffsetSpec {
    fn from(offset: Offset) -> Self {
        Self::At(offset)
    }
}
impl From<Timestamp> for OffsetSpec {
    fn from(time: Timestamp) -> Self {
        Self::Since(time)
    }
}
impl From<&OffsetAndMetadata> for OffsetSpec {
    fn from(committed: &OffsetAndMetadata) -> Self {
        Self::At(committed.offset)
    }
}
