//! A record batch as the log keeps it: checked, placed, and told by its header. Its records are not looked at.

use bytes::Bytes;
use millstream_protocol::record::{
    self, BatchHeader, ControlKind, CrcCheck, DecodedBatch, RecordError, Stamp, batches, end_transaction_marker,
    rewrite,
};
use millstream_protocol::{Decompressor, ErrorCode, ProducerEpoch, ProducerId, Timestamp};
use std::ops::Deref;

/// The codec's number that came last.
pub(crate) const ZSTD: u8 = 4;

/// One batch, its offsets assigned or not yet.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    header: BatchHeader,
    stored: record::Batch,
}

impl Batch {
    /// Reads the one batch that these bytes are to be. Its checksum and records are not looked at.
    pub(crate) fn parse(bytes: &Bytes) -> Result<Self, ErrorCode> {
        let mut cut = batches(bytes.clone());
        let stored = cut.next().ok_or(ErrorCode::CORRUPT_MESSAGE)?.map_err(code_of)?;
        // Kafka takes one batch per partition, and only the newest format.
        if cut.left_over() > 0 || stored.header().magic != 2 {
            return Err(ErrorCode::INVALID_RECORD);
        }
        Ok(Self { header: *stored.header(), stored })
    }
    pub(crate) fn check_crc(&self) -> Result<(), ErrorCode> {
        self.stored.check_crc().map_err(code_of)
    }
    /// Its records, whose checksum is not looked at.
    pub(crate) fn decode(&self, decompressor: &mut Decompressor) -> Result<DecodedBatch, RecordError> {
        self.stored.decode(decompressor, CrcCheck::Skip)
    }
    /// A copy of its own at the place that the log gives it.
    pub(crate) fn placed(self, base_offset: i64, leader_epoch: i32, append_time: Option<i64>) -> Self {
        let bytes = rewrite::for_log(&self.stored, base_offset, leader_epoch, append_time.map(Timestamp::from_millis));
        let mut header = self.header;
        header.base_offset = base_offset;
        header.leader_epoch = leader_epoch;
        // It was read before as one of magic 2, and its length has not changed.
        let Some(Ok(stored)) = bytes.and_then(|bytes| batches(bytes).next()) else { return Self { header, ..self } };
        if append_time.is_some() {
            header.attributes = stored.header().attributes;
            header.max_timestamp = stored.header().max_timestamp;
        }
        Self { header, stored }
    }
    /// The same with the last bit of its records flipped: what a disk that fails gives.
    pub(crate) fn spoilt(&self) -> Self {
        let mut bytes = self.bytes().to_vec();
        bytes.last_mut().into_iter().for_each(|last| *last ^= 1);
        // Its header is whole, so it is cut as before.
        let stored = batches(bytes.into()).find_map(Result::ok);
        Self { header: self.header, stored: stored.unwrap_or_else(|| self.stored.clone()) }
    }
    /// The whole batch.
    pub(crate) fn bytes(&self) -> &Bytes {
        self.stored.bytes()
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

fn code_of(error: RecordError) -> ErrorCode {
    match error {
        RecordError::Magic { .. } => ErrorCode::INVALID_RECORD,
        _ => ErrorCode::CORRUPT_MESSAGE,
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

    /// A batch with the header that a test wants; its bytes are a marker's.
    pub(crate) fn with_header(producer_id: i64, epoch: i16, change: impl FnOnce(&mut BatchHeader)) -> Batch {
        let mut batch = marker(Marker::Commit, producer_id, epoch, 0, 0);
        change(&mut batch.header);
        batch
    }

    #[test]
    fn a_marker_is_a_valid_batch() {
        let read = Batch::parse(marker(Marker::Commit, 7, 3, 0, 1000).bytes()).unwrap();
        assert!(read.is_control() && read.is_transactional());
        assert_eq!((read.producer_id, read.producer_epoch, read.max_timestamp), (7, 3, 1000));
    }

    #[test]
    fn a_flipped_bit_is_corrupt() {
        let mut bytes = marker(Marker::Abort, 7, 3, 0, 1000).bytes().to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        let read = Batch::parse(&Bytes::from(bytes)).unwrap();
        assert_eq!(read.check_crc(), Err(ErrorCode::CORRUPT_MESSAGE));
    }

    #[test]
    fn append_time_is_stamped_and_sealed() {
        let placed = marker(Marker::Abort, 7, 3, 0, 1000).placed(42, 5, Some(2000));
        let read = Batch::parse(placed.bytes()).unwrap();
        assert_eq!(read.check_crc(), Ok(()));
        assert_eq!((read.base_offset, read.leader_epoch, read.max_timestamp), (42, 5, 2000));
        assert_eq!((placed.base_offset, placed.max_timestamp), (42, 2000));
    }
}
