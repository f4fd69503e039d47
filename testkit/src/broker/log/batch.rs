//! A record batch as the log keeps it: checked, placed, and told by its header. Its records are not looked at.
//!
//! The log copies small batches, so that they keep no buffer of their connection, and shares large ones with it.

use bytes::Bytes;
use millstream_protocol::record::{
    self, BatchHeader, ControlKind, CrcCheck, DecodedBatch, RecordError, Stamp, TimestampType, batches,
    end_transaction_marker, rewrite,
};
use millstream_protocol::{Decompressor, ErrorCode, ProducerEpoch, ProducerId, Timestamp};
use std::borrow::Cow;
use std::ops::Deref;

/// The codec's number that came last.
pub(crate) const ZSTD: u8 = 4;

/// From this size on a batch is shared, and a header of its own is put before its records.
const SHARED_FROM: usize = 16 << 10;

/// The shortest message that there ever was, without offset and length.
const LEAST_LENGTH: i32 = 14;

/// A batch may lie in a buffer this many times as large, which it keeps.
const MOST_SLACK: usize = 8;

/// One batch, its offsets assigned or not yet.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    header: BatchHeader,
    /// As it came, or as it stands in the log.
    stored: record::Batch,
    /// The header and the records as they stand in the log, where `stored` is as it came.
    placed: Option<[Bytes; 2]>,
}

impl Batch {
    /// Reads the one batch that these bytes are to be. Its checksum and records are not looked at. One that is cut short is none, and is
    /// passed over where it follows a whole one.
    pub(crate) fn parse(bytes: &Bytes) -> Result<Self, ErrorCode> {
        Self::parse_if(bytes, |_| Ok(()))
    }
    /// The same, of which more is asked; Kafka looks at that before it looks for a second batch.
    pub(crate) fn parse_if(
        bytes: &Bytes,
        check: impl FnOnce(&Self) -> Result<(), ErrorCode>,
    ) -> Result<Self, ErrorCode> {
        let mut cut = batches(bytes.clone());
        let stored = cut.next().ok_or(ErrorCode::INVALID_RECORD)?.map_err(|error| code_of(&error))?;
        let batch = Self { header: *stored.header(), stored, placed: None };
        // Kafka takes one batch per partition, and only the newest format.
        if batch.magic != 2 {
            return Err(ErrorCode::INVALID_RECORD);
        }
        check(&batch)?;
        let second = cut.next().transpose().map_err(|error| code_of(&error))?;
        second.map_or(Ok(batch), |_| Err(ErrorCode::INVALID_RECORD))
    }
    /// The same under `CreateTime`, with this as the largest time of its records: neither is taken from the producer.
    pub(crate) fn under_create_time(self, max_timestamp: i64) -> Self {
        if self.timestamp_type() == TimestampType::CreateTime && self.max_timestamp == max_timestamp {
            return self;
        }
        let bytes = rewrite::with_create_time(&self.stored, Timestamp::from_millis(max_timestamp));
        // It was read before as one of magic 2, and its length has not changed.
        let stored = bytes.and_then(|bytes| batches(bytes).find_map(Result::ok)).unwrap_or(self.stored);
        Self { header: *stored.header(), stored, placed: None }
    }
    pub(crate) fn check_crc(&self) -> Result<(), ErrorCode> {
        self.stored.check_crc().map_err(|error| code_of(&error))
    }
    /// Its records, whose checksum is not looked at.
    pub(crate) fn decode(&self, decompressor: &mut Decompressor) -> Result<DecodedBatch, RecordError> {
        self.whole().decode(decompressor, CrcCheck::Skip)
    }
    /// The same in memory of its own, if it is but a small part of the `around` bytes that it lies in and would keep.
    pub(crate) fn apart_from(self, around: impl FnOnce() -> usize) -> Self {
        if self.size() < SHARED_FROM || self.size() >= around() / MOST_SLACK {
            return self;
        }
        let copy = batches(Bytes::copy_from_slice(self.stored.bytes())).find_map(Result::ok);
        Self { stored: copy.unwrap_or(self.stored), ..self }
    }
    /// At the place that the log gives it.
    pub(crate) fn placed(self, base_offset: i64, leader_epoch: i32, append_time: Option<i64>) -> Self {
        let mut header = self.header;
        (header.base_offset, header.leader_epoch) = (base_offset, leader_epoch);
        if self.size() >= SHARED_FROM && append_time.is_none() {
            let placed = rewrite::split_for_log(&self.stored, base_offset, leader_epoch);
            return Self { header, placed, ..self };
        }
        let bytes = rewrite::for_log(&self.stored, base_offset, leader_epoch, append_time.map(Timestamp::from_millis));
        // It was read before as one of magic 2, and its length has not changed.
        let Some(Ok(stored)) = bytes.and_then(|bytes| batches(bytes).next()) else { return Self { header, ..self } };
        if append_time.is_some() {
            header.attributes = stored.header().attributes;
            header.max_timestamp = stored.header().max_timestamp;
        }
        Self { header, stored, placed: None }
    }
    /// The same with the last bit of its records flipped: what a disk that fails gives.
    pub(crate) fn spoilt(&self) -> Self {
        let mut bytes = self.to_bytes().to_vec();
        bytes.last_mut().into_iter().for_each(|last| *last ^= 1);
        // Its header is whole, so it is cut as before.
        let stored = batches(bytes.into()).find_map(Result::ok);
        Self { header: self.header, stored: stored.unwrap_or_else(|| self.stored.clone()), placed: None }
    }
    /// About how many bytes of memory it takes.
    pub(crate) fn weight(&self) -> usize {
        self.size() + size_of::<Self>()
    }
    /// How many bytes it has.
    pub(crate) fn size(&self) -> usize {
        self.stored.size()
    }
    /// The whole batch, as pieces that are shared.
    pub(crate) fn pieces(&self) -> &[Bytes] {
        self.placed.as_ref().map_or_else(|| std::slice::from_ref(self.stored.bytes()), |placed| placed.as_slice())
    }
    /// The whole batch in one piece; copies where there are two.
    pub(crate) fn to_bytes(&self) -> Bytes {
        self.placed.as_ref().map_or_else(|| self.stored.bytes().clone(), |placed| placed.concat().into())
    }
    fn whole(&self) -> Cow<'_, record::Batch> {
        let placed = self.placed.as_ref().and_then(|placed| batches(placed.concat().into()).find_map(Result::ok));
        placed.map_or(Cow::Borrowed(&self.stored), Cow::Owned)
    }
    pub(crate) fn next_offset(&self) -> i64 {
        self.last_offset() + 1
    }
    /// How many offsets it has from one on.
    pub(crate) fn count_from(&self, offset: i64) -> u64 {
        u64::try_from(self.next_offset() - self.base_offset.max(offset)).unwrap_or(0)
    }
    /// Its producer and whether it is transactional.
    pub(crate) fn stamp(&self) -> Stamp {
        let (id, epoch) = (self.producer_id.into(), self.producer_epoch.into());
        if self.is_transactional() {
            Stamp::transactional(id, epoch, self.base_sequence)
        } else {
            Stamp::idempotent(id, epoch, self.base_sequence)
        }
    }
    pub(crate) fn has_producer(&self) -> bool {
        self.producer_id >= 0
    }
    /// How a transaction ends here, and the coordinator's epoch, if this is a marker.
    pub(crate) fn marker(&self) -> Option<(Marker, i32)> {
        if !self.is_control() {
            return None;
        }
        let control = self.decode(&mut Decompressor::new()).ok()?.control()?;
        let kind = match control.kind {
            ControlKind::Commit => Marker::Commit,
            ControlKind::Abort => Marker::Abort,
            _ => return None,
        };
        Some((kind, control.coordinator_epoch?))
    }
}
impl Deref for Batch {
    type Target = BatchHeader;
    fn deref(&self) -> &BatchHeader {
        &self.header
    }
}

fn code_of(error: &RecordError) -> ErrorCode {
    match error {
        // Kafka finds out when it looks at the records.
        RecordError::Offsets { .. } => ErrorCode::INVALID_RECORD,
        _ => ErrorCode::CORRUPT_MESSAGE,
    }
}

/// The header of the first batch, if all of it is there; Kafka's sentence, if it cannot be cut off.
pub(crate) fn front(bytes: &Bytes) -> Result<Option<BatchHeader>, String> {
    match batches(bytes.clone()).next() {
        None => Ok(None),
        Some(Ok(batch)) => Ok(Some(*batch.header())),
        Some(Err(RecordError::Magic { magic, .. })) => Err(format!("Invalid magic found in record: {magic}")),
        Some(Err(RecordError::Length { length, .. })) if length < LEAST_LENGTH => {
            Err(format!("Record size {length} is less than the minimum record overhead ({LEAST_LENGTH})"))
        }
        Some(Err(_)) => Ok(None),
    }
}

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    Commit,
    Abort,
}

/// Builds the control batch that ends a transaction in a partition.
pub(crate) fn marker(kind: Marker, producer_id: i64, producer_epoch: i16, coordinator_epoch: i32, now: i64) -> Batch {
    let kind = match kind {
        Marker::Commit => ControlKind::Commit,
        Marker::Abort => ControlKind::Abort,
    };
    let stamp = Stamp::transactional(ProducerId::new(producer_id), ProducerEpoch::new(producer_epoch), -1);
    let bytes = end_transaction_marker(kind, coordinator_epoch, Timestamp::from_millis(now), &stamp);
    let batch = bytes.ok().and_then(|bytes| Batch::parse(&bytes).ok());
    batch.expect("a marker is one small record in a batch of the newest format")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use millstream_protocol::record::BatchBuilder;
    use millstream_protocol::{Compressor, Headers};

    /// A batch with the header that a test wants; its bytes are a marker's.
    pub(crate) fn with_header(producer_id: i64, epoch: i16, change: impl FnOnce(&mut BatchHeader)) -> Batch {
        let mut batch = marker(Marker::Commit, producer_id, epoch, 0, 0);
        change(&mut batch.header);
        batch
    }

    #[test]
    fn a_marker_is_a_valid_batch() {
        let read = Batch::parse(&marker(Marker::Commit, 7, 3, 0, 1000).to_bytes()).unwrap();
        assert!(read.is_control() && read.is_transactional());
        assert_eq!((read.producer_id, read.producer_epoch, read.max_timestamp), (7, 3, 1000));
    }

    #[test]
    fn a_flipped_bit_is_corrupt() {
        let mut bytes = marker(Marker::Abort, 7, 3, 0, 1000).to_bytes().to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        let read = Batch::parse(&Bytes::from(bytes)).unwrap();
        assert_eq!(read.check_crc(), Err(ErrorCode::CORRUPT_MESSAGE));
    }

    fn large(bytes: usize) -> Batch {
        let mut builder = BatchBuilder::new();
        let value = vec![7; bytes];
        builder.append(Timestamp::from_millis(5), None, Some(&value), &Headers::new()).unwrap();
        Batch::parse(&builder.seal(&mut Compressor::none()).unwrap().to_bytes(&Stamp::plain())).unwrap()
    }

    #[test]
    fn a_large_batch_is_shared_and_reads_as_if_it_were_copied() {
        let sent = large(SHARED_FROM);
        let placed = sent.clone().placed(42, 5, None);
        let last = |pieces: &[Bytes]| pieces.last().unwrap().as_ptr_range().end;
        assert_eq!(last(placed.pieces()), last(sent.pieces()), "the records are where they came");
        assert_eq!(placed.pieces().concat(), placed.to_bytes());
        let read = Batch::parse(&placed.to_bytes()).unwrap();
        assert_eq!((read.check_crc(), read.base_offset, read.leader_epoch), (Ok(()), 42, 5));
        let decoded = placed.decode(&mut Decompressor::new()).unwrap();
        assert_eq!(decoded.iter().next().unwrap().offset.get(), 42);
        assert_ne!(placed.spoilt().to_bytes(), placed.to_bytes());
    }

    #[test]
    fn a_batch_does_not_keep_a_buffer_many_times_its_size() {
        let sent = large(SHARED_FROM);
        let place = |batch: &Batch| batch.pieces()[0].as_ptr();
        assert_eq!(place(&sent.clone().apart_from(|| sent.size() * MOST_SLACK)), place(&sent));
        let apart = sent.clone().apart_from(|| sent.size() * (MOST_SLACK + 1));
        assert_ne!(place(&apart), place(&sent));
        assert_eq!(apart.to_bytes(), sent.to_bytes());
    }

    #[test]
    fn append_time_is_stamped_and_sealed() {
        let placed = marker(Marker::Abort, 7, 3, 0, 1000).placed(42, 5, Some(2000));
        let read = Batch::parse(&placed.to_bytes()).unwrap();
        assert_eq!(read.check_crc(), Ok(()));
        assert_eq!((read.base_offset, read.leader_epoch, read.max_timestamp), (42, 5, 2000));
        assert_eq!((placed.base_offset, placed.max_timestamp), (42, 2000));
    }
}
