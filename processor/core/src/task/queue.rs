//! One input partition of a task: batches that wait, undecoded, and the first record, decoded.

use bytes::Bytes;
use millstream_protocol::record::{Batch, CrcCheck, DecodedBatch, RecordCursor, RecordError, RecordView};
use millstream_protocol::{Decompressor, Headers, Offset, Timestamp, TopicPartition};
use std::collections::VecDeque;

/// A record's bytes. Key and value are slices of its batch.
#[derive(Debug, Clone)]
pub(crate) struct RawRecord {
    pub(crate) offset: Offset,
    pub(crate) timestamp: Timestamp,
    pub(crate) key: Option<Bytes>,
    pub(crate) value: Option<Bytes>,
    pub(crate) headers: Headers,
}
impl RawRecord {
    fn new(view: &RecordView<'_>, payload: &Bytes) -> Self {
        let headers = if view.headers.is_empty() { Headers::new() } else { view.headers.to_headers(payload) };
        Self {
            offset: view.offset,
            timestamp: view.timestamp,
            key: view.key.map(|bytes| slice(payload, bytes)),
            value: view.value.map(|bytes| slice(payload, bytes)),
            headers,
        }
    }
}
/// A slice that shares the batch's bytes. Empty slices may lie anywhere.
fn slice(payload: &Bytes, bytes: &[u8]) -> Bytes {
    if bytes.is_empty() { Bytes::new() } else { payload.slice_ref(bytes) }
}

/// One input partition.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) partition: TopicPartition,
    /// The source that reads it, by its place among the task's sources.
    pub(super) source: usize,
    /// Which of the source's topics it is of.
    pub(super) input: usize,
    /// The first record, which its source has decoded too, and its time.
    pub(super) head: Option<(RawRecord, Timestamp)>,
    /// The highest time of the records taken.
    pub(super) partition_time: Option<Timestamp>,
    /// Whether the log's end, as last told, is reached when what waits here is processed. None: never told.
    pub(super) is_caught_up: Option<bool>,
    waiting: VecDeque<Batch>,
    open: Option<(DecodedBatch, RecordCursor)>,
    /// Where it started: records below it were processed before.
    position: Option<Offset>,
    /// The offset after all that was fed.
    fed_to: Option<Offset>,
    /// Whether an end that holds no record has yet to be told to the commit.
    is_end_new: bool,
    waiting_bytes: usize,
    open_bytes: usize,
}
impl Queue {
    pub(super) const fn new(partition: TopicPartition, source: usize, input: usize) -> Self {
        Self {
            partition,
            source,
            input,
            head: None,
            partition_time: None,
            is_caught_up: None,
            waiting: VecDeque::new(),
            open: None,
            position: None,
            fed_to: None,
            is_end_new: false,
            waiting_bytes: 0,
            open_bytes: 0,
        }
    }
    /// Starts at an offset: records before it are passed over.
    pub(super) fn start_at(&mut self, offset: Option<Offset>, partition_time: Option<Timestamp>) {
        (self.position, self.partition_time) = (offset, partition_time);
    }
    pub(super) fn feed(&mut self, batches: impl IntoIterator<Item = Batch>, next_offset: Offset) {
        for batch in batches {
            self.waiting_bytes += batch.size();
            self.waiting.push_back(batch);
        }
        self.fed_to = Some(next_offset);
        self.is_end_new = true;
    }
    /// The offset after all that was fed, once, when there is no record left before it: markers and gaps are passed.
    pub(super) fn take_end(&mut self) -> Option<Offset> {
        (std::mem::take(&mut self.is_end_new) && self.is_drained()).then_some(self.fed_to).flatten()
    }
    /// The next record's bytes, of the open batch or the next one.
    pub(super) fn next_raw(&mut self, decompressor: &mut Decompressor) -> Result<Option<RawRecord>, RecordError> {
        loop {
            if let Some((batch, cursor)) = &mut self.open {
                while let Some(view) = batch.next(cursor) {
                    if self.position.is_none_or(|position| view.offset >= position) {
                        return Ok(Some(RawRecord::new(&view, batch.payload())));
                    }
                }
                (self.open, self.open_bytes) = (None, 0);
            }
            if !self.open_next(decompressor)? {
                return Ok(None);
            }
        }
    }
    /// The offset to commit when the record at `offset` is done and the next one is not known: past gaps and control records.
    pub(super) fn after(&self, offset: Offset) -> Offset {
        let is_last = self.waiting.is_empty() && self.open.is_none() && self.head.is_none();
        match self.fed_to.filter(|fed_to| is_last && *fed_to > offset) {
            Some(fed_to) => fed_to,
            None => offset.next(),
        }
    }
    /// Whether there is nothing to process, as far as is known without decoding.
    pub(super) fn is_drained(&self) -> bool {
        self.head.is_none() && self.open.is_none() && self.waiting.is_empty()
    }
    pub(super) const fn bytes(&self) -> usize {
        self.waiting_bytes + self.open_bytes
    }

    fn open_next(&mut self, decompressor: &mut Decompressor) -> Result<bool, RecordError> {
        while self.waiting.front().is_some_and(|batch| batch.header().is_control()) {
            self.pop_waiting();
        }
        let Some(batch) = self.waiting.front() else { return Ok(false) };
        let decoded = batch.decode(decompressor, CrcCheck::Check)?;
        self.open_bytes = self.pop_waiting();
        let cursor = decoded.cursor();
        self.open = Some((decoded, cursor));
        Ok(true)
    }
    fn pop_waiting(&mut self) -> usize {
        let bytes = self.waiting.pop_front().map_or(0, |batch| batch.size());
        self.waiting_bytes -= bytes;
        bytes
    }
}
