//! Values of a producer's options.

use crate::ProducerRecord;
use crate::config::{FromArgument, OptionValue, plain_options};
use millstream_protocol::PartitionId;

pub use millstream_protocol::compression::Compression;

/// How many replicas must have a record before it counts as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these three")]
pub enum Acks {
    /// None; nothing is known.
    None,
    /// The leader.
    Leader,
    /// All in sync.
    All,
}

impl Acks {
    pub(super) const fn code(self) -> i16 {
        match self {
            Self::None => 0,
            Self::Leader => 1,
            Self::All => -1,
        }
    }
}

/// Chooses partitions. Closures are partitioners.
pub trait Partitioner: Send + Sync + 'static {
    /// The partition for a record whose topic has `count`; none leaves it to the default.
    fn partition(&self, record: &ProducerRecord<'_>, count: usize) -> Option<PartitionId>;
}
impl<F> Partitioner for F
where
    F: Fn(&ProducerRecord<'_>, usize) -> Option<PartitionId> + Send + Sync + 'static,
{
    fn partition(&self, record: &ProducerRecord<'_>, count: usize) -> Option<PartitionId> {
        self(record, count)
    }
}

plain_options!(Acks, Compression);

impl OptionValue for Acks {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "0" => Ok(Self::None),
            "1" => Ok(Self::Leader),
            "all" | "-1" => Ok(Self::All),
            _ => Err(format!("`{text}` is none of 0, 1 and all")),
        }
    }
}
impl OptionValue for Compression {
    fn parse(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|codec| codec.name().eq_ignore_ascii_case(text));
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|codec| codec.name()).collect();
            format!("`{text}` is none of {}", names.join(", "))
        })
    }
}
impl FromArgument<bool> for Option<bool> {
    fn from_argument(argument: bool) -> Self {
        Some(argument)
    }
}
impl OptionValue for Option<bool> {
    fn parse(text: &str) -> Result<Self, String> {
        bool::parse(text).map(Some)
    }
}
impl FromArgument<i32> for Option<i32> {
    fn from_argument(argument: i32) -> Self {
        Some(argument)
    }
}
impl OptionValue for Option<i32> {
    fn parse(text: &str) -> Result<Self, String> {
        i32::parse(text).map(Some)
    }
}
