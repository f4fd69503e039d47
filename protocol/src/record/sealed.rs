//! A full batch, compressed and checksummed, that waits for its producer's id and sequence.

use super::checksum::Checksummed;
use super::header::{APPEND_TIME, BatchHeader, CONTROL, SIZE, TRANSACTIONAL};
use crate::messages::RecordData;
use crate::{ProducerEpoch, ProducerId, Timestamp};
use bytes::Bytes;

/// What a batch gets when it leaves: its producer, its place, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stamp {
    /// The idempotent producer; −1 is none.
    pub producer_id: i64,
    /// Its epoch.
    pub producer_epoch: i16,
    /// The first record's sequence.
    pub base_sequence: i32,
    /// Whether it is part of a transaction.
    pub transactional: bool,
    /// Whether its records are control records.
    pub control: bool,
    /// The first record's offset; producers leave it at 0.
    pub base_offset: i64,
    /// The leader's term; producers leave it at −1.
    pub leader_epoch: i32,
    /// The broker's time in place of the records' own.
    pub append_time: Option<Timestamp>,
}

impl Stamp {
    /// Of a producer without idempotence.
    #[must_use]
    pub const fn plain() -> Self {
        Self {
            producer_id: -1,
            producer_epoch: -1,
            base_sequence: -1,
            transactional: false,
            control: false,
            base_offset: 0,
            leader_epoch: -1,
            append_time: None,
        }
    }
    /// Of an idempotent producer.
    #[must_use]
    pub const fn idempotent(id: ProducerId, epoch: ProducerEpoch, base_sequence: i32) -> Self {
        Self { producer_id: id.get(), producer_epoch: epoch.get(), base_sequence, ..Self::plain() }
    }
    /// Of a producer within a transaction.
    #[must_use]
    pub const fn transactional(id: ProducerId, epoch: ProducerEpoch, base_sequence: i32) -> Self {
        Self { transactional: true, ..Self::idempotent(id, epoch, base_sequence) }
    }
    /// The same at a place in a log.
    #[must_use]
    pub const fn at(self, base_offset: i64, leader_epoch: i32) -> Self {
        Self { base_offset, leader_epoch, ..self }
    }
}

/// A batch whose records will not change any more. Cloning shares them.
#[derive(Debug, Clone)]
pub struct SealedBatch {
    header: BatchHeader,
    /// Room for the header, then the records as they are sent.
    buffer: Bytes,
    payload: Checksummed,
}

#[expect(clippy::indexing_slicing, reason = "a builder keeps room for the header in front of the records")]
impl SealedBatch {
    pub(super) fn new(header: BatchHeader, buffer: Bytes) -> Self {
        let payload = Checksummed::of(&buffer[SIZE..]);
        Self { header, buffer, payload }
    }
    /// How many records there are.
    #[must_use]
    pub const fn count(&self) -> i32 {
        self.header.count
    }
    /// How many bytes are sent, header included.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.buffer.len()
    }
    /// The newest record's timestamp.
    #[must_use]
    pub const fn max_timestamp(&self) -> Timestamp {
        Timestamp::from_millis(self.header.max_timestamp)
    }
    /// The batch to send: a fresh header of 61 bytes, and the records, shared. Its cost does not grow with the batch; a batch may be stamped again.
    #[must_use]
    pub fn stamp(&self, stamp: &Stamp) -> RecordData {
        let head = Bytes::copy_from_slice(&self.header(stamp));
        RecordData::from(vec![head, self.buffer.slice(SIZE..)])
    }
    /// The batch in one piece, copied.
    #[must_use]
    pub fn to_bytes(&self, stamp: &Stamp) -> Bytes {
        let mut out = self.buffer.to_vec();
        out[..SIZE].copy_from_slice(&self.header(stamp));
        out.into()
    }
    /// The batch in one piece; not copied if nobody else shares it.
    #[must_use]
    pub fn into_bytes(self, stamp: &Stamp) -> Bytes {
        let head = self.header(stamp);
        match self.buffer.try_into_mut() {
            Ok(mut buffer) => {
                buffer[..SIZE].copy_from_slice(&head);
                buffer.freeze()
            }
            Err(buffer) => [&head, &buffer[SIZE..]].concat().into(),
        }
    }

    fn header(&self, stamp: &Stamp) -> [u8; SIZE] {
        let mut header = self.header;
        header.base_offset = stamp.base_offset;
        header.leader_epoch = stamp.leader_epoch;
        header.producer_id = stamp.producer_id;
        header.producer_epoch = stamp.producer_epoch;
        header.base_sequence = stamp.base_sequence;
        let flags = [
            (stamp.transactional, TRANSACTIONAL),
            (stamp.control, CONTROL),
            (stamp.append_time.is_some(), APPEND_TIME),
        ];
        header.attributes |= flags.into_iter().filter(|(set, _)| *set).fold(0, |all, (_, flag)| all | flag);
        if let Some(at) = stamp.append_time {
            header.set_append_time(at.as_millis());
        }
        header.write(self.payload)
    }
}
