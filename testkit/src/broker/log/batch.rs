//! A record batch as the log keeps it: its bytes, and what the broker asks of its header. Not a reader of records.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use millstream_protocol::ErrorCode;

/// Where the fields of a batch (magic 2) lie.
const LEADER_EPOCH_AT: usize = 12;
const CRC_AT: usize = 17;
const ATTRIBUTES_AT: usize = 21;
const MAX_TIMESTAMP_AT: usize = 35;
const HEADER_LENGTH: usize = 61;
/// What the length field does not count.
const LENGTH_OVERHEAD: usize = 12;

const TIMESTAMP_TYPE: i16 = 0x08;
const TRANSACTIONAL: i16 = 0x10;
const CONTROL: i16 = 0x20;
const CODEC: i16 = 0x07;
pub(crate) const ZSTD: i16 = 4;

/// One batch, offsets assigned or not yet.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    pub(crate) base_offset: i64,
    pub(crate) last_offset_delta: i32,
    pub(crate) attributes: i16,
    pub(crate) max_timestamp: i64,
    pub(crate) producer_id: i64,
    pub(crate) producer_epoch: i16,
    pub(crate) base_sequence: i32,
    pub(crate) bytes: Bytes,
}

impl Batch {
    /// Reads the header of the one batch that these bytes are to be, and checks its length, magic, checksum and counts.
    pub(crate) fn parse(bytes: &Bytes) -> Result<Self, ErrorCode> {
        let mut at = bytes.get(..HEADER_LENGTH).ok_or(ErrorCode::CORRUPT_MESSAGE)?;
        let base_offset = at.get_i64();
        let length = usize::try_from(at.get_i32()).map_err(|_| ErrorCode::CORRUPT_MESSAGE)?;
        let _leader_epoch = at.get_i32();
        let magic = at.get_i8();
        let crc = at.get_u32();
        let attributes = at.get_i16();
        let last_offset_delta = at.get_i32();
        let _base_timestamp = at.get_i64();
        let max_timestamp = at.get_i64();
        let producer_id = at.get_i64();
        let producer_epoch = at.get_i16();
        let base_sequence = at.get_i32();
        let count = at.get_i32();
        if magic != 2 {
            return Err(ErrorCode::INVALID_RECORD);
        }
        check_length(bytes.len(), length)?;
        if bytes.get(ATTRIBUTES_AT..).map(crc32c::crc32c) != Some(crc) {
            return Err(ErrorCode::CORRUPT_MESSAGE);
        }
        if count < 1 || last_offset_delta.checked_add(1) != Some(count) {
            return Err(ErrorCode::INVALID_RECORD);
        }
        Ok(Self {
            base_offset,
            last_offset_delta,
            attributes,
            max_timestamp,
            producer_id,
            producer_epoch,
            base_sequence,
            bytes: bytes.clone(),
        })
    }
    /// A copy of its own with the offsets that the log gives it.
    pub(crate) fn placed(self, base_offset: i64, leader_epoch: i32, append_time: Option<i64>) -> Self {
        let mut bytes = BytesMut::from(self.bytes.as_ref());
        put(&mut bytes, 0, &base_offset.to_be_bytes());
        put(&mut bytes, LEADER_EPOCH_AT, &leader_epoch.to_be_bytes());
        let mut placed = Self { base_offset, ..self };
        if let Some(time) = append_time {
            placed.attributes |= TIMESTAMP_TYPE;
            placed.max_timestamp = time;
            stamp(&mut bytes, placed.attributes, time);
        }
        Self { bytes: bytes.freeze(), ..placed }
    }
    pub(crate) fn last_offset(&self) -> i64 {
        self.base_offset + i64::from(self.last_offset_delta)
    }
    pub(crate) fn next_offset(&self) -> i64 {
        self.last_offset() + 1
    }
    /// How many offsets it has from one on.
    pub(crate) fn count_from(&self, offset: i64) -> u64 {
        u64::try_from(self.next_offset() - self.base_offset.max(offset)).unwrap_or(0)
    }
    /// The sequence of its last record; sequences wrap to zero.
    pub(crate) fn last_sequence(&self) -> i32 {
        let last = i64::from(self.base_sequence) + i64::from(self.last_offset_delta);
        i32::try_from(last % (i64::from(i32::MAX) + 1)).unwrap_or(0)
    }
    pub(crate) fn is_transactional(&self) -> bool {
        self.attributes & TRANSACTIONAL != 0
    }
    pub(crate) fn is_control(&self) -> bool {
        self.attributes & CONTROL != 0
    }
    pub(crate) fn has_producer(&self) -> bool {
        self.producer_id >= 0
    }
    pub(crate) fn codec(&self) -> i16 {
        self.attributes & CODEC
    }
}

fn check_length(len: usize, length: usize) -> Result<(), ErrorCode> {
    match length.checked_add(LENGTH_OVERHEAD) {
        Some(whole) if whole == len => Ok(()),
        // Kafka takes exactly one batch per partition.
        Some(whole) if whole < len && whole >= HEADER_LENGTH => Err(ErrorCode::INVALID_RECORD),
        _ => Err(ErrorCode::CORRUPT_MESSAGE),
    }
}
fn put(bytes: &mut BytesMut, at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}
// LogAppendTime changes what the checksum covers.
fn stamp(bytes: &mut BytesMut, attributes: i16, time: i64) {
    put(bytes, ATTRIBUTES_AT, &attributes.to_be_bytes());
    put(bytes, MAX_TIMESTAMP_AT, &time.to_be_bytes());
    seal(bytes);
}
fn seal(bytes: &mut BytesMut) {
    let crc = bytes.get(ATTRIBUTES_AT..).map_or(0, crc32c::crc32c);
    put(bytes, CRC_AT, &crc.to_be_bytes());
}

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    Commit,
    Abort,
}

/// Builds the control batch that ends a transaction in a partition.
pub(crate) fn marker(kind: Marker, producer_id: i64, producer_epoch: i16, coordinator_epoch: i32, now: i64) -> Batch {
    let record = marker_record(kind, coordinator_epoch);
    let mut bytes = BytesMut::with_capacity(HEADER_LENGTH + record.len());
    bytes.put_i64(0);
    bytes.put_i32(i32::try_from(HEADER_LENGTH - LENGTH_OVERHEAD + record.len()).unwrap_or(0));
    bytes.put_i32(-1);
    bytes.put_i8(2);
    bytes.put_u32(0);
    bytes.put_i16(TRANSACTIONAL | CONTROL);
    bytes.put_i32(0);
    bytes.put_i64(now);
    bytes.put_i64(now);
    bytes.put_i64(producer_id);
    bytes.put_i16(producer_epoch);
    bytes.put_i32(-1);
    bytes.put_i32(1);
    bytes.extend_from_slice(&record);
    seal(&mut bytes);
    Batch {
        base_offset: 0,
        last_offset_delta: 0,
        attributes: TRANSACTIONAL | CONTROL,
        max_timestamp: now,
        producer_id,
        producer_epoch,
        base_sequence: -1,
        bytes: bytes.freeze(),
    }
}

// Every length here is below 64, so that a zigzag varint is one byte: twice the number.
fn marker_record(kind: Marker, coordinator_epoch: i32) -> Vec<u8> {
    let mut body = vec![0, 0, 0];
    body.extend_from_slice(&[4 * 2, 0, 0, 0, u8::from(kind == Marker::Commit)]);
    body.extend_from_slice(&[6 * 2, 0, 0]);
    body.extend_from_slice(&coordinator_epoch.to_be_bytes());
    body.push(0);
    body.insert(0, u8::try_from(body.len() * 2).unwrap_or(0));
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_a_valid_batch() {
        let built = marker(Marker::Commit, 7, 3, 0, 1000);
        let read = Batch::parse(&built.bytes).unwrap();
        assert!(read.is_control() && read.is_transactional());
        assert_eq!((read.producer_id, read.producer_epoch, read.max_timestamp), (7, 3, 1000));
    }

    #[test]
    fn a_flipped_bit_is_corrupt() {
        let built = marker(Marker::Abort, 7, 3, 0, 1000);
        let mut bytes = built.bytes.to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        assert_eq!(Batch::parse(&Bytes::from(bytes)).unwrap_err(), ErrorCode::CORRUPT_MESSAGE);
    }

    #[test]
    fn append_time_is_stamped_and_sealed() {
        let placed = marker(Marker::Abort, 7, 3, 0, 1000).placed(42, 5, Some(2000));
        let read = Batch::parse(&placed.bytes).unwrap();
        assert_eq!(
            (read.base_offset, read.max_timestamp, read.attributes & TIMESTAMP_TYPE),
            (42, 2000, TIMESTAMP_TYPE)
        );
    }

    #[test]
    fn sequences_wrap_to_zero() {
        let mut batch = marker(Marker::Abort, 7, 3, 0, 1000);
        batch.base_sequence = i32::MAX;
        batch.last_offset_delta = 1;
        assert_eq!(batch.last_sequence(), 0);
    }
}
