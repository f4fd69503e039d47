//! Why bytes are not a record batch, or records do not become one.

use crate::compression::CompressionError;

/// What is wrong with a batch. The reader adds the partition; the batch's offset is here where it is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A batch says that it is shorter than its own header, or longer than any batch may be.
    #[error("a batch at byte {at} claims {length} bytes, which no batch has")]
    Length {
        /// Where the batch starts, in bytes from the buffer's start.
        at: usize,
        /// The length that it claims.
        length: i32,
    },
    /// The format's number is none of 0, 1 and 2.
    #[error("a batch at byte {at} is of format {magic}, which is unknown")]
    Magic {
        /// Where the batch starts, in bytes from the buffer's start.
        at: usize,
        /// The format's number.
        magic: i8,
    },
    /// Bytes were changed or lost on their way or on the broker's disk.
    #[error(
        "the batch at offset {base_offset} is corrupt: its checksum is {stored:#010x}, its bytes give {computed:#010x}"
    )]
    Crc {
        /// The batch's first offset.
        base_offset: i64,
        /// The checksum that it bears.
        stored: u32,
        /// The checksum of its bytes.
        computed: u32,
    },
    /// The codec's number is unknown.
    #[error("the batch at offset {base_offset} is compressed by codec {id}, which is unknown")]
    Codec {
        /// The batch's first offset.
        base_offset: i64,
        /// The codec's number.
        id: u8,
    },
    /// Offsets run backwards or past the end of all offsets.
    #[error(
        "the batch at offset {base_offset} says that its last offset is {last_offset_delta} further on, which cannot be"
    )]
    Offsets {
        /// The batch's first offset.
        base_offset: i64,
        /// How far on the last one is said to be.
        last_offset_delta: i32,
    },
    /// The header announces another number of records than there are.
    #[error("the batch at offset {base_offset} announces {announced} records and holds {found}")]
    Count {
        /// The batch's first offset.
        base_offset: i64,
        /// The number in the header.
        announced: i32,
        /// How many there are, as far as they were read.
        found: usize,
    },
    /// Bytes follow the last record.
    #[error("the batch at offset {base_offset} has {bytes} bytes after its last record")]
    Trailing {
        /// The batch's first offset.
        base_offset: i64,
        /// How many.
        bytes: usize,
    },
    /// A record's parts do not fit together.
    #[error("record {index} of the batch at offset {base_offset} is malformed: {what}")]
    Record {
        /// The batch's first offset.
        base_offset: i64,
        /// The record's place in its batch, from 0.
        index: usize,
        /// Which part, and how.
        what: &'static str,
    },
    /// The records could not be inflated.
    #[error("the batch at offset {base_offset} cannot be inflated")]
    Compression {
        /// The batch's first offset.
        base_offset: i64,
        /// Why.
        source: CompressionError,
    },
    /// The records have to be rewritten to be read (messages of magic 0 and 1, header names that are not UTF-8), and that takes more than is allowed.
    #[error(
        "the batch at offset {base_offset} takes more than {limit} bytes to read: raise the decompressor's limit if such batches are expected"
    )]
    TooLarge {
        /// The batch's first offset.
        base_offset: i64,
        /// The most that was allowed, in bytes.
        limit: usize,
    },
    /// The records could not be deflated.
    #[error("a batch of {count} records cannot be compressed")]
    Deflate {
        /// How many records there are.
        count: usize,
        /// Why.
        source: CompressionError,
    },
    /// A batch would pass 2 GiB, or 2³¹ records.
    #[error("a record of {bytes} bytes does not fit into a batch of {size}: send it in a batch of its own, or smaller")]
    Full {
        /// The record's size, in bytes.
        bytes: usize,
        /// The batch's size so far, in bytes.
        size: usize,
    },
}
