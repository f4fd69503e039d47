//! A partition's log: whole batches in memory, their producers, the index of aborted transactions. What is appended is readable at once, so
//! that the end of the log is its high watermark.

pub(crate) mod batch;
pub(crate) mod producers;

use batch::{Batch, Marker};
use bytes::Bytes;
use millstream_protocol::ErrorCode;
use producers::{Aborted, Checked, Producers};
use std::collections::VecDeque;

/// How far a reader may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    ReadUncommitted,
    ReadCommitted,
}
impl From<i8> for Isolation {
    fn from(level: i8) -> Self {
        if level == 1 { Self::ReadCommitted } else { Self::ReadUncommitted }
    }
}

/// Where an append went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Appended {
    pub(crate) base_offset: i64,
    /// The log's time, or −1 when the producer's was kept.
    pub(crate) append_time: i64,
}

/// What a read found.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    pub(crate) chunks: Vec<Bytes>,
    pub(crate) len: usize,
    pub(crate) records: u64,
    /// The offset after the last batch.
    pub(crate) end: i64,
}

/// The log.
#[derive(Debug, Default)]
pub(crate) struct Log {
    batches: VecDeque<Batch>,
    start: i64,
    end: i64,
    epochs: Vec<(i32, i64)>,
    pub(crate) producers: Producers,
}
impl Log {
    /// Appends a producer's batch; a duplicate is answered as it was the first time.
    pub(crate) fn append(
        &mut self,
        batch: Batch,
        leader_epoch: i32,
        append_time: Option<i64>,
    ) -> Result<Appended, ErrorCode> {
        // A coordinator's own batches bear no sequence.
        if batch.has_producer()
            && batch.base_sequence >= 0
            && let Checked::Duplicate(base_offset) = self.producers.check(&batch)?
        {
            let timestamp = self.producers.timestamp_at(batch.producer_id, base_offset);
            return Ok(Appended { base_offset, append_time: append_time.map_or(-1, |_| timestamp) });
        }
        let placed = self.place(batch, leader_epoch, append_time);
        if placed.has_producer() {
            self.producers.note(&placed);
        }
        Ok(Appended { base_offset: placed.base_offset, append_time: append_time.unwrap_or(-1) })
    }
    /// Ends a producer's transaction here.
    pub(crate) fn append_marker(&mut self, kind: Marker, marker: Batch, leader_epoch: i32, coordinator_epoch: i32) {
        let placed = self.place(marker, leader_epoch, None);
        self.producers.end(&placed, kind, coordinator_epoch);
    }
    fn place(&mut self, batch: Batch, leader_epoch: i32, append_time: Option<i64>) -> Batch {
        let placed = batch.placed(self.end, leader_epoch, append_time);
        if self.epochs.last().is_none_or(|(epoch, _)| *epoch < leader_epoch) {
            self.epochs.push((leader_epoch, self.end));
        }
        self.end = placed.next_offset();
        self.batches.push_back(placed.clone());
        placed
    }
    /// Spoils the batch that holds an offset; says whether there is one.
    pub(crate) fn spoil(&mut self, offset: i64) -> bool {
        let index = self.batches.partition_point(|batch| batch.last_offset() < offset);
        let Some(batch) = self.batches.get_mut(index) else { return false };
        *batch = batch.spoilt();
        true
    }
    pub(crate) fn start(&self) -> i64 {
        self.start
    }
    /// The high watermark.
    pub(crate) fn end(&self) -> i64 {
        self.end
    }
    pub(crate) fn last_stable_offset(&self) -> i64 {
        self.producers.first_open().unwrap_or(self.end)
    }
    /// The offset that readers of an isolation level may not reach.
    pub(crate) fn bound(&self, isolation: Isolation) -> i64 {
        match isolation {
            Isolation::ReadUncommitted => self.end,
            Isolation::ReadCommitted => self.last_stable_offset(),
        }
    }
    /// Whole batches from the one that holds `from`, up to a size; the first one however large it is, if `even_if_larger`.
    pub(crate) fn read(&self, from: i64, isolation: Isolation, max_bytes: usize, even_if_larger: bool) -> Slice {
        let mut slice = Slice { end: from, ..Slice::default() };
        for batch in self.readable(from, isolation) {
            let is_first_of_all = slice.chunks.is_empty() && even_if_larger;
            if slice.len + batch.bytes().len() > max_bytes && !is_first_of_all {
                break;
            }
            slice.len += batch.bytes().len();
            slice.records += batch.count_from(from);
            slice.end = batch.next_offset();
            slice.chunks.push(batch.bytes().clone());
        }
        slice
    }
    /// How many bytes there are to read, counted no further than `enough`.
    pub(crate) fn readable_bytes(&self, from: i64, isolation: Isolation, enough: usize) -> usize {
        let mut len = 0;
        for batch in self.readable(from, isolation) {
            len += batch.bytes().len();
            if len >= enough {
                break;
            }
        }
        len
    }
    fn readable(&self, from: i64, isolation: Isolation) -> impl Iterator<Item = &Batch> {
        let bound = self.bound(isolation);
        let first = self.batches.partition_point(|batch| batch.last_offset() < from);
        self.batches.range(first..).take_while(move |batch| batch.base_offset < bound)
    }
    /// All batches, for whoever looks at the log from outside.
    pub(crate) fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.batches.iter()
    }
    /// The batches below an isolation level's bound.
    pub(crate) fn batches_below(&self, isolation: Isolation) -> impl Iterator<Item = &Batch> {
        self.readable(self.start, isolation)
    }
    pub(crate) fn aborted_between(&self, from: i64, to: i64) -> Vec<Aborted> {
        self.producers.aborted_between(from, to)
    }
    /// Deletes whole batches below an offset; the log then starts there.
    pub(crate) fn delete_before(&mut self, offset: i64) {
        self.start = self.start.max(offset);
        while self.batches.front().is_some_and(|batch| batch.last_offset() < self.start) {
            self.batches.pop_front();
        }
    }
    /// The largest epoch not above the one asked for, and where it ends (KIP-320); (−1, −1) when it is unknown.
    pub(crate) fn end_of_epoch(&self, asked: i32, current: i32) -> (i32, i64) {
        if asked == current {
            return (current, self.end);
        }
        let after = self.epochs.partition_point(|(epoch, _)| *epoch <= asked);
        let end = self.epochs.get(after).map_or(self.end, |(_, start)| *start);
        match after.checked_sub(1).and_then(|at| self.epochs.get(at)) {
            Some((epoch, _)) if asked < current => (*epoch, end),
            None if asked < current && !self.epochs.is_empty() => (asked, self.start),
            _ => (-1, -1),
        }
    }
    /// The epoch in which an offset was written.
    pub(crate) fn epoch_at(&self, offset: i64) -> i32 {
        let after = self.epochs.partition_point(|(_, start)| *start <= offset);
        after.checked_sub(1).and_then(|at| self.epochs.get(at)).map_or(-1, |(epoch, _)| *epoch)
    }
    pub(crate) fn size_bytes(&self) -> usize {
        self.batches.iter().map(|batch| batch.bytes().len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::batch::marker;
    use super::batch::tests::with_header;
    use super::*;

    fn data(producer_id: i64, sequence: i32, transactional: bool) -> Batch {
        with_header(producer_id, 0, |header| {
            header.attributes = if transactional { 0x10 } else { 0 };
            header.base_sequence = sequence;
        })
    }
    fn end(log: &mut Log, kind: Marker, producer_id: i64) {
        log.append_marker(kind, marker(kind, producer_id, 0, 0, 0), 0, 0);
    }

    #[test]
    fn the_last_stable_offset_waits_for_the_first_open_transaction() {
        let mut log = Log::default();
        log.append(data(1, 0, true), 0, None).unwrap();
        log.append(data(2, 0, true), 0, None).unwrap();
        end(&mut log, Marker::Commit, 2);
        assert_eq!((log.last_stable_offset(), log.end()), (0, 3));
        end(&mut log, Marker::Abort, 1);
        assert_eq!(log.last_stable_offset(), 4);
        assert_eq!(log.aborted_between(0, 4), vec![Aborted { producer_id: 1, first_offset: 0, marker_offset: 3 }]);
        assert_eq!(log.aborted_between(4, 9), vec![]);
    }

    #[test]
    fn the_first_batch_is_read_however_large_it_is() {
        let mut log = Log::default();
        log.append(data(-1, -1, false), 0, None).unwrap();
        log.append(data(-1, -1, false), 0, None).unwrap();
        assert_eq!(log.read(0, Isolation::ReadUncommitted, 1, true).records, 1);
        assert_eq!(log.read(0, Isolation::ReadUncommitted, 1, false).records, 0);
        assert_eq!(log.read(1, Isolation::ReadUncommitted, 1000, false).end, 2);
    }

    #[test]
    fn an_epoch_ends_where_the_next_one_starts() {
        let mut log = Log::default();
        log.append(data(-1, -1, false), 0, None).unwrap();
        log.append(data(-1, -1, false), 3, None).unwrap();
        assert_eq!(log.end_of_epoch(0, 5), (0, 1));
        assert_eq!(log.end_of_epoch(4, 5), (3, 2));
        assert_eq!(log.end_of_epoch(5, 5), (5, 2));
        assert_eq!(log.end_of_epoch(6, 5), (-1, -1));
        assert_eq!(log.epoch_at(1), 3);
    }
}
