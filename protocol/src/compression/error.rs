//! Why bytes could not be inflated or deflated.

use super::Compression;

/// What went wrong in a codec.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompressionError {
    /// The codec was left out when this program was built.
    #[error("{codec} is not part of this build: enable the feature `{codec}` of millstream-protocol")]
    NotCompiledIn {
        /// The codec.
        codec: Compression,
    },
    /// The bytes are not what the codec writes.
    #[error("corrupt {codec} data: {reason}")]
    Corrupt {
        /// The codec.
        codec: Compression,
        /// What is wrong with it.
        reason: String,
    },
    /// It inflates to more than is allowed.
    #[error("{codec} data inflates to more than {limit} bytes: raise the limit if such batches are expected")]
    TooLarge {
        /// The codec.
        codec: Compression,
        /// The most that was allowed, in bytes.
        limit: usize,
    },
    /// A Zstandard frame needs a larger window than Kafka's own reader takes.
    #[error(
        "zstd data needs a window of {window} bytes, and {most} is the most that Kafka reads: have its writer use a smaller one (a window log of 27 at most)"
    )]
    Window {
        /// The window, in bytes.
        window: u64,
        /// The largest that is read, in bytes.
        most: u64,
    },
    /// The level is none of this codec's.
    #[error("level {level} is not one of {codec}'s: use {least} to {most}")]
    Level {
        /// The codec.
        codec: Compression,
        /// What was asked for.
        level: i32,
        /// The lowest one.
        least: i32,
        /// The highest one.
        most: i32,
    },
}

impl CompressionError {
    #[cfg_attr(
        not(any(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd")),
        expect(dead_code, reason = "only codecs find corruption")
    )]
    pub(crate) fn corrupt(codec: Compression, reason: impl std::fmt::Display) -> Self {
        Self::Corrupt { codec, reason: reason.to_string() }
    }
}
