//! A batch's header. Magic 2, drawn in rows of eight bytes:
//!
//! ```text
//!  0  base offset
//!  8  length (of what follows) · leader epoch
//! 16  magic · crc · attributes · …
//! 23  last offset delta
//! 27  base timestamp
//! 35  max timestamp
//! 43  producer id
//! 51  producer epoch · base sequence · …
//! 57  record count
//! 61  records
//! ```
//!
//! The CRC-32C covers everything from the attributes on, so a broker sets offset and epoch without touching it.

use super::checksum::Checksummed;
use super::cursor::Slice;
use crate::{Compression, Timestamp};

/// Bytes of a magic 2 header.
pub(super) const SIZE: usize = 61;
/// Bytes before what `length` counts.
pub(super) const BEFORE_LENGTH: usize = 12;
pub(super) const CRC_AT: usize = 17;
pub(super) const ATTRIBUTES_AT: usize = 21;

const CODEC: i16 = 0x07;
pub(super) const APPEND_TIME: i16 = 0x08;
pub(super) const TRANSACTIONAL: i16 = 0x10;
pub(super) const CONTROL: i16 = 0x20;
pub(super) const DELETE_HORIZON: i16 = 0x40;

/// What the timestamps of a batch's records are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimestampType {
    /// None: magic 0.
    None,
    /// The producer's (`message.timestamp.type=CreateTime`).
    CreateTime,
    /// The broker's, one for all records of the batch (`LogAppendTime`).
    LogAppendTime,
}

/// A batch's header, in the wire's own numbers. Fields that magic 0 and 1 lack are −1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchHeader {
    /// The first record's offset. In magic 0 and 1 the wrapper's, which is the last one's.
    pub base_offset: i64,
    /// The format: 0, 1 or 2.
    pub magic: i8,
    /// The term of the leader that appended it; −1 is unknown.
    pub leader_epoch: i32,
    /// CRC-32C of everything from the attributes on; in magic 0 and 1 the CRC-32.
    pub crc: u32,
    /// Codec, timestamp type and flags.
    pub attributes: i16,
    /// How far the last offset is from the first, records that compaction took included.
    pub last_offset_delta: i32,
    /// What the records' timestamps count from; the delete horizon where that flag is set.
    pub base_timestamp: i64,
    /// The newest timestamp.
    pub max_timestamp: i64,
    /// The idempotent producer; −1 is none.
    pub producer_id: i64,
    /// Its epoch.
    pub producer_epoch: i16,
    /// The first record's sequence; −1 is none.
    pub base_sequence: i32,
    /// How many records follow; unknown (−1) in magic 0 and 1.
    pub count: i32,
}

impl BatchHeader {
    /// The header of a batch without records, producer and place.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            base_offset: 0,
            magic: 2,
            leader_epoch: -1,
            crc: 0,
            attributes: 0,
            last_offset_delta: -1,
            base_timestamp: -1,
            max_timestamp: -1,
            producer_id: -1,
            producer_epoch: -1,
            base_sequence: -1,
            count: 0,
        }
    }
    /// The codec's number, known or not.
    #[must_use]
    pub const fn codec_id(&self) -> u8 {
        (self.attributes & CODEC) as u8
    }
    /// The codec, if it is a known one.
    #[must_use]
    pub fn compression(&self) -> Option<Compression> {
        Compression::from_id(self.codec_id())
    }
    /// Whose time the timestamps are.
    #[must_use]
    pub const fn timestamp_type(&self) -> TimestampType {
        match (self.magic, self.attributes & APPEND_TIME) {
            (0, _) => TimestampType::None,
            (_, 0) => TimestampType::CreateTime,
            _ => TimestampType::LogAppendTime,
        }
    }
    /// Whether it is part of a transaction.
    #[must_use]
    pub const fn is_transactional(&self) -> bool {
        self.attributes & TRANSACTIONAL != 0
    }
    /// Whether its records are the broker's and not an application's.
    #[must_use]
    pub const fn is_control(&self) -> bool {
        self.attributes & CONTROL != 0
    }
    /// From when on compaction may drop this batch's tombstones or marker.
    #[must_use]
    pub fn delete_horizon(&self) -> Option<Timestamp> {
        (self.attributes & DELETE_HORIZON != 0).then(|| Timestamp::from_millis(self.base_timestamp))
    }
    /// The last offset of the batch, whether or not that record is still there. What is read next is the one after it.
    #[must_use]
    pub fn last_offset(&self) -> i64 {
        self.base_offset.saturating_add(i64::from(self.last_offset_delta))
    }
    /// The sequence of the record that is `offset_delta` further on than the first; −1 when there is no producer.
    #[must_use]
    pub const fn sequence_at(&self, offset_delta: i32) -> i32 {
        if self.base_sequence < 0 { -1 } else { sequence_after(self.base_sequence, offset_delta) }
    }
    /// The sequence of the batch's last record; −1 when there is no producer.
    #[must_use]
    pub const fn last_sequence(&self) -> i32 {
        self.sequence_at(self.last_offset_delta)
    }

    pub(super) const fn set_compression(&mut self, compression: Compression) {
        self.attributes = (self.attributes & !CODEC) | compression.id() as i16;
    }
    pub(super) const fn clear_delete_horizon(&mut self) {
        self.attributes &= !DELETE_HORIZON;
    }
    pub(super) const fn set_append_time(&mut self, at: i64) {
        self.attributes |= APPEND_TIME;
        self.max_timestamp = at;
    }

    pub(super) const fn set_create_time(&mut self, latest: i64) {
        self.attributes &= !APPEND_TIME;
        self.max_timestamp = latest;
    }

    /// Reads a magic 2 header; the length was looked at before.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Slice::new(bytes);
        let base_offset = i64::from_be_bytes(bytes.array()?);
        bytes.array::<4>()?;
        Some(Self {
            base_offset,
            leader_epoch: i32::from_be_bytes(bytes.array()?),
            magic: i8::from_be_bytes(bytes.array()?),
            crc: u32::from_be_bytes(bytes.array()?),
            attributes: i16::from_be_bytes(bytes.array()?),
            last_offset_delta: i32::from_be_bytes(bytes.array()?),
            base_timestamp: i64::from_be_bytes(bytes.array()?),
            max_timestamp: i64::from_be_bytes(bytes.array()?),
            producer_id: i64::from_be_bytes(bytes.array()?),
            producer_epoch: i16::from_be_bytes(bytes.array()?),
            base_sequence: i32::from_be_bytes(bytes.array()?),
            count: i32::from_be_bytes(bytes.array()?),
        })
    }
    /// Writes a magic 2 header before a payload; only the header's own bytes are checksummed.
    pub(super) fn write(&self, payload: Checksummed) -> [u8; SIZE] {
        let mut out = [0; SIZE];
        #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "a builder never passes 2 GiB")]
        let length = (SIZE - BEFORE_LENGTH + payload.length()) as i32;
        put(&mut out, 0, self.base_offset.to_be_bytes());
        put(&mut out, 8, length.to_be_bytes());
        put(&mut out, 12, self.leader_epoch.to_be_bytes());
        put(&mut out, 16, self.magic.to_be_bytes());
        put(&mut out, ATTRIBUTES_AT, self.attributes.to_be_bytes());
        put(&mut out, 23, self.last_offset_delta.to_be_bytes());
        put(&mut out, 27, self.base_timestamp.to_be_bytes());
        put(&mut out, 35, self.max_timestamp.to_be_bytes());
        put(&mut out, 43, self.producer_id.to_be_bytes());
        put(&mut out, 51, self.producer_epoch.to_be_bytes());
        put(&mut out, 53, self.base_sequence.to_be_bytes());
        put(&mut out, 57, self.count.to_be_bytes());
        let crc = payload.crc_after(crc32c::crc32c(&out[ATTRIBUTES_AT..]));
        put(&mut out, CRC_AT, crc.to_be_bytes());
        out
    }
}

#[expect(clippy::indexing_slicing, reason = "places are constants within the header")]
fn put<const N: usize>(out: &mut [u8; SIZE], at: usize, field: [u8; N]) {
    out[at..at + N].copy_from_slice(&field);
}

/// The sequence `by` records after `sequence`: after 2³¹−1 comes 0.
///
/// ```
/// use millstream_protocol::record::sequence_after;
/// assert_eq!(sequence_after(i32::MAX, 1), 0);
/// ```
#[must_use]
pub const fn sequence_after(sequence: i32, by: i32) -> i32 {
    sequence.wrapping_add(by) & i32::MAX
}
