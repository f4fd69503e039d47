//! Answers that no Kafka would send: what a client must survive with an error, and without reserving memory for what is not there.

use millstream_protocol::ApiKey;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How an answer is made hostile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Malformation {
    /// The frame says that it has fewer than no bytes.
    NegativeSize,
    /// The frame says that it has two billion bytes.
    HugeSize,
    /// It answers a question that nobody asked.
    WrongCorrelationId,
    /// The frame ends in the middle of the message.
    Truncated,
    /// The first length or count of the message is below −1.
    NegativeLength,
    /// The first length or count of the message is two billion.
    HugeCount,
    /// After the message comes what belongs to none.
    TrailingBytes,
    /// The last section of tagged fields announces a field that does not come. Only in versions that have tagged fields.
    TruncatedTags,
    /// Each partition is told of twice: Metadata, Produce and Fetch alone.
    DuplicatePartitions,
    /// The records are one gzip batch that inflates to 96 MiB of zeros: Fetch alone.
    Bomb,
    /// The records' checksum is wrong: Fetch alone.
    BadChecksum,
    /// Random bytes of the same length.
    Noise,
}

impl Malformation {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::NegativeSize,
        Self::HugeSize,
        Self::WrongCorrelationId,
        Self::Truncated,
        Self::NegativeLength,
        Self::HugeCount,
        Self::TrailingBytes,
        Self::TruncatedTags,
        Self::DuplicatePartitions,
        Self::Bomb,
        Self::BadChecksum,
        Self::Noise,
    ];
    /// The APIs whose answers can be made so; none where all can.
    pub(crate) fn apis(self) -> Option<&'static [ApiKey]> {
        match self {
            Self::DuplicatePartitions => Some(&[ApiKey::METADATA, ApiKey::PRODUCE, ApiKey::FETCH]),
            Self::Bomb | Self::BadChecksum => Some(&[ApiKey::FETCH]),
            _ => None,
        }
    }
}
impl fmt::Display for Malformation {
    /// What an answer does, as in "ends in the middle".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NegativeSize => "says that it has fewer than no bytes",
            Self::HugeSize => "says that it has two billion bytes",
            Self::WrongCorrelationId => "has another correlation id",
            Self::Truncated => "ends in the middle",
            Self::NegativeLength => "has a length below -1",
            Self::HugeCount => "has a count of two billion",
            Self::TrailingBytes => "has bytes after its end",
            Self::TruncatedTags => "announces a tagged field that does not come",
            Self::DuplicatePartitions => "tells of each partition twice",
            Self::Bomb => "inflates to 96 MiB",
            Self::BadChecksum => "has a wrong checksum",
            Self::Noise => "is random bytes",
        })
    }
}
