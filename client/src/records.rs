//! What a poll brings: batches as they lay in the log, read by reference.
//!
//! `poll` has checked checksums and walked the records' lengths, so reading them cannot fail.

use crate::{OffsetAndMetadata, Offsets};
use bytes::Bytes;
use millstream_client_core::fetch::{Generation, Position};
use millstream_protocol::record::{DecodedBatch, RecordCursor, RecordView};
use millstream_protocol::{Header, Headers, LeaderEpoch, Offset, PartitionId, Timestamp, TopicName, TopicPartition};

/// Records of one poll; never empty. Holding it holds the response's buffer.
#[derive(Debug)]
#[must_use]
pub struct Records {
    parts: Vec<Part>,
    count: usize,
}

/// One partition's share of a poll.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) partition: TopicPartition,
    pub(crate) generation: Generation,
    pub(crate) runs: Vec<Run>,
    /// The place before the first of these records.
    pub(crate) before: Position,
    /// The place after the last.
    pub(crate) next: Position,
    pub(crate) lag: u64,
}

/// Some consecutive records of one batch.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) batch: DecodedBatch,
    pub(crate) from: RecordCursor,
    pub(crate) count: usize,
}

impl Records {
    pub(crate) fn new(parts: Vec<Part>) -> Self {
        let count = parts.iter().flat_map(|part| &part.runs).map(|run| run.count).sum();
        Self { parts, count }
    }
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// How many.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub const fn len(&self) -> usize {
        self.count
    }
    /// All, partition after partition.
    pub fn iter(&self) -> RecordsIter<'_> {
        RecordsIter::over(&self.parts)
    }
    /// By partition.
    pub fn partitions(&self) -> impl Iterator<Item = PartitionRecords<'_>> {
        self.parts.iter().map(PartitionRecords)
    }
    /// What to commit once all of these are finished.
    #[must_use]
    pub fn next_offsets(&self) -> Offsets {
        self.parts.iter().map(|part| (part.partition.clone(), to_commit(part.next))).collect()
    }
}
impl<'r> IntoIterator for &'r Records {
    type Item = RecordRef<'r>;
    type IntoIter = RecordsIter<'r>;
    fn into_iter(self) -> RecordsIter<'r> {
        self.iter()
    }
}

/// A place as it is committed.
pub(crate) fn to_commit(place: Position) -> OffsetAndMetadata {
    OffsetAndMetadata { offset: Offset::new(place.offset), leader_epoch: place.epoch, metadata: None }
}

/// An iterator over [`Records`].
#[derive(Debug, Clone)]
#[must_use]
pub struct RecordsIter<'r> {
    parts: std::slice::Iter<'r, Part>,
    runs: std::slice::Iter<'r, Run>,
    current: Option<(&'r Part, &'r DecodedBatch)>,
    cursor: RecordCursor,
    left: usize,
}
impl<'r> RecordsIter<'r> {
    fn over(parts: &'r [Part]) -> Self {
        let cursor = RecordCursor::default();
        Self { parts: parts.iter(), runs: [].iter(), current: None, cursor, left: 0 }
    }
    #[cold]
    fn next_run(&mut self) -> Option<()> {
        loop {
            if let (Some(run), Some((part, _))) = (self.runs.next(), self.current) {
                (self.current, self.cursor, self.left) = (Some((part, &run.batch)), run.from, run.count);
                return Some(());
            }
            let part = self.parts.next()?;
            self.runs = part.runs.iter();
            self.current = part.runs.first().map(|run| (part, &run.batch));
        }
    }
}
impl<'r> Iterator for RecordsIter<'r> {
    type Item = RecordRef<'r>;
    #[inline]
    fn next(&mut self) -> Option<RecordRef<'r>> {
        while self.left == 0 {
            self.next_run()?;
        }
        self.left -= 1;
        let (part, batch) = self.current?;
        Some(RecordRef { part, batch, view: batch.next(&mut self.cursor)? })
    }
}

/// One partition's records, in offset order.
#[derive(Debug, Clone, Copy)]
pub struct PartitionRecords<'r>(&'r Part);
impl<'r> PartitionRecords<'r> {
    /// The partition.
    #[must_use]
    pub const fn topic_partition(&self) -> &'r TopicPartition {
        &self.0.partition
    }
    /// Its records.
    pub fn iter(&self) -> RecordsIter<'r> {
        RecordsIter::over(std::slice::from_ref(self.0))
    }
    /// What to commit once these are finished; past gaps and control records, so not always the last offset plus one.
    #[must_use]
    pub const fn next_offset(&self) -> Offset {
        Offset::new(self.0.next.offset)
    }
    /// How many offsets there are between these and the end that may be read to, as the last answer told.
    #[must_use]
    pub const fn lag(&self) -> u64 {
        self.0.lag
    }
}
impl<'r> IntoIterator for PartitionRecords<'r> {
    type Item = RecordRef<'r>;
    type IntoIter = RecordsIter<'r>;
    fn into_iter(self) -> RecordsIter<'r> {
        self.iter()
    }
}

/// A record in its batch. Copying it copies a few pointers.
#[derive(Debug, Clone, Copy)]
pub struct RecordRef<'r> {
    part: &'r Part,
    batch: &'r DecodedBatch,
    view: RecordView<'r>,
}
impl<'r> RecordRef<'r> {
    /// The topic.
    #[must_use]
    pub const fn topic(&self) -> &'r TopicName {
        &self.part.partition.topic
    }
    /// The partition.
    #[must_use]
    pub const fn partition(&self) -> PartitionId {
        self.part.partition.partition
    }
    /// The position.
    #[must_use]
    pub const fn offset(&self) -> Offset {
        self.view.offset
    }
    /// The time.
    #[must_use]
    pub const fn timestamp(&self) -> Timestamp {
        self.view.timestamp
    }
    /// The leader's term when it was written.
    #[must_use]
    pub fn leader_epoch(&self) -> Option<LeaderEpoch> {
        Some(self.batch.header().leader_epoch).filter(|epoch| *epoch >= 0).map(LeaderEpoch::new)
    }
    /// The key.
    #[must_use]
    pub const fn key(&self) -> Option<&'r [u8]> {
        self.view.key
    }
    /// The value; none is a tombstone.
    #[must_use]
    pub const fn value(&self) -> Option<&'r [u8]> {
        self.view.value
    }
    /// The headers, in order.
    pub fn headers(&self) -> impl Iterator<Item = Header<'r>> + use<'r> {
        self.view.headers.iter()
    }
    /// A record of its own that shares the batch's buffer: no bytes are copied, the buffer stays while it lives.
    #[must_use]
    pub fn to_owned(&self) -> ConsumerRecord {
        let payload = self.batch.payload();
        ConsumerRecord {
            topic_partition: self.part.partition.clone(),
            offset: self.view.offset,
            timestamp: self.view.timestamp,
            key: self.view.key.map(|key| payload.slice_ref(key)),
            value: self.view.value.map(|value| payload.slice_ref(value)),
            headers: self.view.headers.to_headers(payload),
            generation: self.part.generation,
        }
    }
}

/// A record of its own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConsumerRecord {
    /// Where it lay.
    pub topic_partition: TopicPartition,
    /// Its position.
    pub offset: Offset,
    /// Its time.
    pub timestamp: Timestamp,
    /// Its key.
    pub key: Option<Bytes>,
    /// Its value.
    pub value: Option<Bytes>,
    /// Its headers.
    pub headers: Headers,
    /// Which assignment and seek it was read under.
    pub(crate) generation: Generation,
}
impl ConsumerRecord {
    /// Copies the bytes, to let the batch's buffer go: for records that are kept for long.
    #[must_use]
    pub fn compact(mut self) -> Self {
        let copy = |bytes: Bytes| Bytes::copy_from_slice(&bytes);
        self.key = self.key.map(copy);
        self.value = self.value.map(copy);
        let mut headers = Headers::new();
        for header in self.headers.iter() {
            headers.push(header.name, header.value.map(Bytes::copy_from_slice));
        }
        self.headers = headers;
        self
    }
}
