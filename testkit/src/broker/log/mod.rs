//! A partition's log: whole batches in memory, their producers, the index of aborted transactions, the leaders' epochs. How far its
//! followers are, and so where its high watermark lies, it is told.

pub(crate) mod batch;
mod batches;
pub(crate) mod cleaning;
mod compaction;
mod deleted;
mod epochs;
pub(crate) mod producers;
pub(crate) mod retention;
pub(crate) mod segments;
mod slice;

pub(crate) use slice::Slice;

use batch::{Batch, Marker};
use batches::Batches;
use deleted::Deleted;
use epochs::Epochs;
use millstream_protocol::ErrorCode;
use producers::{Aborted, Checked, Producers};

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

/// The log.
#[derive(Debug, Default)]
pub(crate) struct Log {
    batches: Batches,
    deleted: Option<Deleted>,
    start: i64,
    end: i64,
    high_watermark: i64,
    /// What lies below has been compacted.
    clean_end: i64,
    epochs: Epochs,
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
            // Kafka tells a duplicate's time as the log's, whoever gave it.
            return Ok(Appended {
                base_offset,
                append_time: self.producers.timestamp_at(batch.producer_id, base_offset),
            });
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
        self.put(placed.clone());
        placed
    }
    fn put(&mut self, batch: Batch) {
        self.epochs.begin(batch.leader_epoch, self.end);
        self.end = batch.next_offset();
        self.batches.push_back(batch);
    }
    /// A leader's epoch begins at the log's end.
    pub(crate) fn begin_epoch(&mut self, epoch: i32) {
        self.epochs.begin(epoch, self.end);
    }
    /// Cuts the log off at an offset, and gives what it lost: a new leader never had it.
    pub(crate) fn truncate(&mut self, end: i64) -> Vec<Batch> {
        if end >= self.end {
            return Vec::new();
        }
        let kept = self.batches.partition_point(|batch| batch.last_offset() < end);
        let lost = self.batches.split_off(kept).into();
        self.end = end.max(self.start);
        self.high_watermark = self.high_watermark.min(self.end);
        self.clean_end = self.clean_end.min(self.end);
        self.epochs.truncate(end);
        self.producers.rebuild(self.batches.iter(), end);
        lost
    }
    /// Appends batches as another log had them.
    pub(crate) fn adopt(&mut self, batches: impl IntoIterator<Item = Batch>) {
        for batch in batches {
            self.producers.replay(&batch);
            self.put(batch);
        }
    }
    /// The batches that lie between two offsets.
    pub(crate) fn between(&self, from: i64, to: i64) -> Vec<Batch> {
        let first = self.batches.partition_point(|batch| batch.last_offset() < from);
        self.batches.range(first..).take_while(|batch| batch.base_offset < to).cloned().collect()
    }
    /// Spoils the batch that holds an offset; says whether there is one.
    pub(crate) fn spoil(&mut self, offset: i64) -> bool {
        let index = self.batches.partition_point(|batch| batch.last_offset() < offset);
        self.batches.replace(index, Batch::spoilt)
    }
    pub(crate) fn start(&self) -> i64 {
        self.start
    }
    /// The offset of the next record: past what followers have.
    pub(crate) fn end(&self) -> i64 {
        self.end
    }
    /// How far all in-sync replicas have the log.
    pub(crate) fn high_watermark(&self) -> i64 {
        self.high_watermark
    }
    /// Moves the high watermark on; it never goes back.
    pub(crate) fn replicated_to(&mut self, offset: i64) {
        if self.high_watermark < offset {
            self.high_watermark = offset;
            self.producers.replicated_to(offset);
        }
    }
    pub(crate) fn last_stable_offset(&self) -> i64 {
        self.producers.first_unstable().map_or(self.high_watermark, |first| first.min(self.high_watermark))
    }
    /// The offset that readers of an isolation level may not reach.
    pub(crate) fn bound(&self, isolation: Isolation) -> i64 {
        match isolation {
            Isolation::ReadUncommitted => self.high_watermark,
            Isolation::ReadCommitted => self.last_stable_offset(),
        }
    }
    /// Whole batches from the one that holds `from` to an offset, up to a size; the first one however large it is, if `even_if_larger`.
    pub(crate) fn read(&self, from: i64, to: i64, max_bytes: usize, even_if_larger: bool) -> Slice {
        let mut slice = Slice::starting_at(from);
        for batch in self.readable(from, to) {
            let is_first_of_all = slice.is_empty() && even_if_larger;
            if slice.len + batch.size() > max_bytes && !is_first_of_all {
                break;
            }
            slice.push(batch, from);
        }
        slice
    }
    /// How many bytes there are to read, counted no further than `enough`.
    pub(crate) fn readable_bytes(&self, from: i64, to: i64, enough: usize) -> usize {
        let mut len = 0;
        for batch in self.readable(from, to) {
            len += batch.size();
            if len >= enough {
                break;
            }
        }
        len
    }
    fn readable(&self, from: i64, bound: i64) -> impl Iterator<Item = &Batch> {
        let first = self.batches.partition_point(|batch| batch.last_offset() < from);
        self.batches.range(first..).take_while(move |batch| batch.base_offset < bound)
    }
    /// All batches, for whoever looks at the log from outside.
    pub(crate) fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.batches.iter()
    }
    /// The batches below an isolation level's bound.
    pub(crate) fn batches_below(&self, isolation: Isolation) -> impl Iterator<Item = &Batch> {
        self.readable(self.start, self.bound(isolation))
    }
    pub(crate) fn aborted_between(&self, from: i64, to: i64) -> Vec<Aborted> {
        self.producers.aborted_between(from, to)
    }
    /// Deletes whole batches below an offset; the log then starts there.
    pub(crate) fn delete_before(&mut self, offset: i64) {
        self.start = self.start.max(offset);
        self.high_watermark = self.high_watermark.max(self.start);
        self.epochs.forget_before(self.start);
        self.producers.forget_before(self.start);
        while let Some(batch) = self.batches.pop_front_if(|batch| batch.last_offset() < self.start) {
            self.bury(batch);
        }
    }
    /// The largest epoch not above the one asked for, and where it ends (KIP-320); none when the log has not heard of one so new.
    pub(crate) fn end_of_epoch(&self, asked: i32) -> Option<(i32, i64)> {
        self.epochs.end_of(asked, self.end)
    }
    /// The epoch in which an offset was written.
    pub(crate) fn epoch_at(&self, offset: i64) -> Option<i32> {
        self.epochs.at(offset)
    }
    /// The newest epoch.
    pub(crate) fn latest_epoch(&self) -> Option<i32> {
        self.epochs.latest()
    }
    /// About how many bytes of memory it takes.
    pub(crate) fn weight(&self) -> usize {
        self.batches.weight() + self.deleted_weight() + self.producers.weight()
    }
    /// Of all segments, what was deleted of them included.
    pub(crate) fn size_bytes(&self) -> usize {
        self.batches.iter().map(Batch::size).sum::<usize>() + self.deleted_bytes()
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
        log.replicated_to(3);
        assert_eq!((log.last_stable_offset(), log.end()), (0, 3));
        end(&mut log, Marker::Abort, 1);
        assert_eq!(log.last_stable_offset(), 0, "the marker is not replicated yet");
        log.replicated_to(4);
        assert_eq!(log.last_stable_offset(), 4);
        assert_eq!(log.aborted_between(0, 4), vec![Aborted { producer_id: 1, first_offset: 0, marker_offset: 3 }]);
        assert_eq!(log.aborted_between(4, 9), vec![]);
    }

    #[test]
    fn what_was_aborted_is_forgotten_with_its_records() {
        let mut log = Log::default();
        for producer in [1, 2] {
            log.append(data(producer, 0, true), 0, None).unwrap();
            end(&mut log, Marker::Abort, producer);
        }
        log.replicated_to(4);
        log.delete_before(2);
        assert_eq!(log.aborted_between(0, 9), vec![Aborted { producer_id: 2, first_offset: 2, marker_offset: 3 }]);
    }

    #[test]
    fn the_first_batch_is_read_however_large_it_is() {
        let mut log = Log::default();
        log.append(data(-1, -1, false), 0, None).unwrap();
        log.append(data(-1, -1, false), 0, None).unwrap();
        assert_eq!(log.read(0, log.bound(Isolation::ReadUncommitted), 1, true).records, 0, "nothing is replicated");
        log.replicated_to(2);
        assert_eq!(log.read(0, 2, 1, true).records, 1);
        assert_eq!(log.read(0, 2, 1, false).records, 0);
        assert_eq!(log.read(1, 2, 1000, false).end, 2);
    }

    #[test]
    fn a_log_that_is_cut_off_forgets_the_sequences_it_lost() {
        let mut log = Log::default();
        for sequence in 0..4 {
            log.append(data(1, sequence, true), sequence / 2, None).unwrap();
        }
        assert_eq!(log.truncate(1).len(), 3);
        assert_eq!((log.end(), log.latest_epoch(), log.last_stable_offset()), (1, Some(0), 0));
        assert_eq!(log.append(data(1, 3, true), 5, None), Err(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER));
        assert_eq!(log.append(data(1, 1, true), 5, None).unwrap().base_offset, 1);
    }

    #[test]
    fn what_was_cut_off_can_be_adopted_again() {
        let mut log = Log::default();
        log.append(data(1, 0, true), 0, None).unwrap();
        log.append(data(1, 1, true), 0, None).unwrap();
        end(&mut log, Marker::Abort, 1);
        let lost = log.truncate(1);
        assert_eq!(log.aborted_between(0, 9), vec![]);
        log.adopt(lost);
        assert_eq!(log.end(), 3);
        assert_eq!(log.aborted_between(0, 9), vec![Aborted { producer_id: 1, first_offset: 0, marker_offset: 2 }]);
    }
}
