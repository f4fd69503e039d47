//! What a partition knows of its producers: epochs, the last five batches, open transactions.

use super::batch::{Batch, Marker};
use millstream_protocol::ErrorCode;
use millstream_protocol::hash::HashMap;
use std::collections::{BTreeMap, VecDeque};

/// How many batches a broker remembers per producer to find duplicates (Kafka's `ProducerStateEntry`).
const REMEMBERED: usize = 5;

#[derive(Debug, Clone, Copy)]
struct Written {
    first_sequence: i32,
    last_sequence: i32,
    base_offset: i64,
    timestamp: i64,
}

/// One producer in one partition.
#[derive(Debug, Clone)]
pub(crate) struct Producer {
    pub(crate) epoch: i16,
    batches: VecDeque<Written>,
    pub(crate) last_timestamp: i64,
    pub(crate) coordinator_epoch: i32,
    pub(crate) open_at: Option<i64>,
}
impl Producer {
    fn new(epoch: i16) -> Self {
        Self { epoch, batches: VecDeque::new(), last_timestamp: -1, coordinator_epoch: -1, open_at: None }
    }
    /// −1 when it has written nothing in its epoch.
    pub(crate) fn last_sequence(&self) -> i32 {
        self.batches.back().map_or(-1, |written| written.last_sequence)
    }
    /// The batch among the last five that this one repeats.
    fn find_repeated(&self, batch: &Batch) -> Option<&Written> {
        let is_same = |written: &&Written| {
            written.first_sequence == batch.base_sequence && written.last_sequence == batch.last_sequence()
        };
        self.batches.iter().find(is_same).filter(|_| self.epoch == batch.producer_epoch)
    }
    /// Whether a batch follows what was written. A marker may have moved the epoch on: then the first batch bears sequence zero.
    fn expects(&self, batch: &Batch) -> bool {
        let last = self.batches.back().filter(|_| self.epoch == batch.producer_epoch);
        batch.base_sequence == last.map_or(0, |last| successor(last.last_sequence))
    }
    fn move_to(&mut self, epoch: i16) {
        if epoch != self.epoch {
            self.epoch = epoch;
            self.batches.clear();
        }
    }
}

/// A producer whose transaction the coordinator was asked about, and which has written nothing in it yet (Kafka's `VerificationStateEntry`).
#[derive(Debug, Clone, Copy)]
struct Verification {
    epoch: i16,
    lowest_sequence: i32,
    /// Whether the request that began it would have added the partition (KIP-890's second part).
    adds: bool,
}

/// A transaction that was aborted, as the fetch response names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Aborted {
    pub(crate) producer_id: i64,
    pub(crate) first_offset: i64,
    pub(crate) marker_offset: i64,
}

/// What the check of a batch found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checked {
    New,
    /// Already in the log, at this offset.
    Duplicate(i64),
}

/// All producers of a partition.
#[derive(Debug, Clone, Default)]
pub(crate) struct Producers {
    by_id: HashMap<i64, Producer>,
    verifying: HashMap<i64, Verification>,
    open: BTreeMap<i64, i64>,
    /// Transactions whose marker followers may not have yet, from their first offset to the marker's.
    unreplicated: Vec<(i64, i64)>,
    /// In the order of their markers.
    aborted: Vec<Aborted>,
}
impl Producers {
    /// Kafka's `ProducerAppendInfo`: the epoch may not fall, sequences follow one another, the last five batches are told from new ones.
    pub(crate) fn check(&self, batch: &Batch) -> Result<Checked, ErrorCode> {
        let producer = self.by_id.get(&batch.producer_id);
        if let Some(written) = producer.and_then(|producer| producer.find_repeated(batch)) {
            return Ok(Checked::Duplicate(written.base_offset));
        }
        if self.is_past(batch.producer_id, batch.producer_epoch) {
            return Err(ErrorCode::INVALID_PRODUCER_EPOCH);
        }
        let is_first_in_order = self.may_begin_with(batch.producer_id, batch.base_sequence);
        if is_first_in_order && producer.is_none_or(|producer| producer.expects(batch)) {
            Ok(Checked::New)
        } else {
            Err(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER)
        }
    }
    /// Whether a sequence may be the first of a transaction: one that was tried before and refused is not passed over, and where writing
    /// adds the partition, who is not known there begins with zero.
    fn may_begin_with(&self, producer_id: i64, sequence: i32) -> bool {
        let Some(asked) = self.verifying.get(&producer_id) else { return true };
        let has_written = self.by_id.get(&producer_id).is_some_and(|producer| !producer.batches.is_empty());
        sequence <= asked.lowest_sequence && (sequence == 0 || has_written || !asked.adds)
    }
    /// Whether a producer is known here with a newer epoch.
    pub(crate) fn is_past(&self, producer_id: i64, epoch: i16) -> bool {
        self.by_id.get(&producer_id).is_some_and(|producer| epoch < producer.epoch)
    }
    /// Whether a producer has a transaction open here: then the coordinator is not asked again.
    pub(crate) fn is_open(&self, producer_id: i64, epoch: i16) -> bool {
        self.by_id.get(&producer_id).is_some_and(|producer| producer.open_at.is_some() && producer.epoch == epoch)
    }
    /// Notes that the coordinator is asked whether a batch may begin a transaction here. It stays until one does, whatever is answered.
    pub(crate) fn begin_verification(&mut self, batch: &Batch, adds: bool) {
        let (epoch, sequence) = (batch.producer_epoch, batch.base_sequence);
        let asked =
            self.verifying.entry(batch.producer_id).or_insert(Verification { epoch, lowest_sequence: sequence, adds });
        if epoch > asked.epoch {
            (asked.epoch, asked.lowest_sequence) = (epoch, sequence);
        } else if epoch == asked.epoch {
            asked.lowest_sequence = asked.lowest_sequence.min(sequence);
        }
    }
    /// Notes a batch that was appended.
    pub(crate) fn note(&mut self, batch: &Batch) {
        let producer = self.by_id.entry(batch.producer_id).or_insert_with(|| Producer::new(batch.producer_epoch));
        producer.move_to(batch.producer_epoch);
        if producer.batches.len() == REMEMBERED {
            producer.batches.pop_front();
        }
        producer.batches.push_back(Written {
            first_sequence: batch.base_sequence,
            last_sequence: batch.last_sequence(),
            base_offset: batch.base_offset,
            timestamp: batch.max_timestamp,
        });
        producer.last_timestamp = batch.max_timestamp;
        if batch.is_transactional() {
            self.verifying.remove(&batch.producer_id);
        }
        if batch.is_transactional() && producer.open_at.is_none() {
            producer.open_at = Some(batch.base_offset);
            self.open.insert(batch.base_offset, batch.producer_id);
        }
    }
    /// Notes a marker at an offset.
    pub(crate) fn end(&mut self, marker: &Batch, kind: Marker, coordinator_epoch: i32) {
        self.verifying.remove(&marker.producer_id);
        let producer = self.by_id.entry(marker.producer_id).or_insert_with(|| Producer::new(marker.producer_epoch));
        producer.move_to(marker.producer_epoch);
        producer.coordinator_epoch = coordinator_epoch;
        producer.last_timestamp = marker.max_timestamp;
        let Some(first_offset) = producer.open_at.take() else { return };
        self.open.remove(&first_offset);
        self.unreplicated.push((first_offset, marker.base_offset));
        if kind == Marker::Abort {
            self.aborted.push(Aborted {
                producer_id: marker.producer_id,
                first_offset,
                marker_offset: marker.base_offset,
            });
        }
    }
    /// Whether compaction must leave a batch, if empty: it is its producer's last one, or the marker that bears its epoch.
    pub(crate) fn needs(&self, batch: &Batch) -> bool {
        let Some(producer) = self.by_id.get(&batch.producer_id).filter(|_| batch.has_producer()) else { return false };
        match producer.batches.back() {
            Some(last) => !batch.is_control() && last.base_offset == batch.base_offset,
            None => batch.is_control() && producer.epoch == batch.producer_epoch,
        }
    }
    /// Where the first transaction begins that is open, or whose end followers may not have.
    pub(crate) fn first_unstable(&self) -> Option<i64> {
        let ended = self.unreplicated.iter().map(|(first, _)| *first);
        self.open.keys().copied().chain(ended).min()
    }
    /// Followers have the log up to here.
    pub(crate) fn replicated_to(&mut self, offset: i64) {
        self.unreplicated.retain(|(_, marker)| *marker >= offset);
    }
    /// Notes a batch that another log had: a producer's, or a marker.
    pub(crate) fn replay(&mut self, batch: &Batch) {
        match batch.marker() {
            Some((kind, coordinator_epoch)) => self.end(batch, kind, coordinator_epoch),
            None if batch.has_producer() => self.note(batch),
            None => {}
        }
    }
    /// Learns anew from the batches that are left below an offset. Who is in none of them is remembered, if all it wrote lies below.
    pub(crate) fn rebuild<'a>(&mut self, batches: impl Iterator<Item = &'a Batch>, end: i64) {
        let mut before = std::mem::take(self);
        batches.for_each(|batch| self.replay(batch));
        for (id, producer) in before.by_id.drain() {
            if !self.by_id.contains_key(&id) && producer.batches.back().is_some_and(|last| last.base_offset < end) {
                self.by_id.insert(id, producer);
            }
        }
    }
    /// Forgets those that have no transaction open and whose last batch bears this time or an older one.
    pub(crate) fn forget_until(&mut self, time: i64) {
        self.by_id.retain(|_, producer| producer.open_at.is_some() || producer.last_timestamp > time);
    }
    /// About how many bytes of memory they take.
    pub(crate) fn weight(&self) -> usize {
        let entry = size_of::<(i64, Producer)>() + REMEMBERED * size_of::<Written>();
        let pair = size_of::<(i64, i64)>();
        self.by_id.len() * entry + (self.open.len() + self.unreplicated.len() + 2 * self.aborted.len()) * pair
    }
    /// The epoch that a producer has here.
    pub(crate) fn find(&self, producer_id: i64) -> Option<&Producer> {
        self.by_id.get(&producer_id)
    }
    /// Aborted transactions with records between two offsets, in the order in which they ended, as Kafka's index of them has them.
    pub(crate) fn aborted_between(&self, from: i64, to: i64) -> Vec<Aborted> {
        let first = self.aborted.partition_point(|aborted| aborted.marker_offset < from);
        let ended = self.aborted.get(first..).unwrap_or_default();
        ended.iter().filter(|aborted| aborted.first_offset < to).copied().collect()
    }
    /// Forgets transactions that were aborted before an offset: the log begins there.
    pub(crate) fn forget_before(&mut self, offset: i64) {
        let gone = self.aborted.partition_point(|aborted| aborted.marker_offset < offset);
        self.aborted.drain(..gone);
    }
    /// All, by id.
    pub(crate) fn active(&self) -> Vec<(i64, &Producer)> {
        let mut all: Vec<_> = self.by_id.iter().map(|(id, producer)| (*id, producer)).collect();
        all.sort_by_key(|(id, _)| *id);
        all
    }
    /// When the batch that a duplicate repeats was written.
    pub(crate) fn timestamp_at(&self, producer_id: i64, base_offset: i64) -> i64 {
        let written = self
            .by_id
            .get(&producer_id)
            .and_then(|producer| producer.batches.iter().find(|written| written.base_offset == base_offset));
        written.map_or(-1, |written| written.timestamp)
    }
}

fn successor(sequence: i32) -> i32 {
    sequence.checked_add(1).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::with_header;
    use super::*;

    fn batch(epoch: i16, sequence: i32, count: i32, offset: i64) -> Batch {
        with_header(9, epoch, |header| {
            header.attributes = 0;
            header.base_sequence = sequence;
            header.last_offset_delta = count - 1;
            header.base_offset = offset;
        })
    }

    #[test]
    fn the_last_five_batches_are_duplicates_and_older_ones_are_out_of_order() {
        let mut producers = Producers::default();
        for index in 0..6 {
            producers.note(&batch(0, index, 1, i64::from(index)));
        }
        assert_eq!(producers.check(&batch(0, 0, 1, -1)), Err(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER));
        assert_eq!(producers.check(&batch(0, 1, 1, -1)), Ok(Checked::Duplicate(1)));
        assert_eq!(producers.check(&batch(0, 6, 1, -1)), Ok(Checked::New));
        assert_eq!(producers.check(&batch(0, 7, 1, -1)), Err(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER));
    }

    #[test]
    fn an_older_epoch_is_fenced_and_a_newer_one_starts_at_zero() {
        let mut producers = Producers::default();
        producers.note(&batch(1, 0, 1, 0));
        assert_eq!(producers.check(&batch(0, 1, 1, -1)), Err(ErrorCode::INVALID_PRODUCER_EPOCH));
        assert_eq!(producers.check(&batch(2, 1, 1, -1)), Err(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER));
        assert_eq!(producers.check(&batch(2, 0, 1, -1)), Ok(Checked::New));
    }

    /// Kafka remembers by the producer what it has asked the coordinator, until a batch is written or a marker comes: a sequence that was
    /// refused, since the partition was not part of the transaction, is not passed over by a later one.
    #[test]
    fn a_transaction_begins_with_the_lowest_sequence_that_was_tried() {
        let mut producers = Producers::default();
        let refused = producers.check(&batch(0, 2, 1, -1));
        assert_eq!(refused, Ok(Checked::New), "who is not known begins anywhere");
        producers.begin_verification(&batch(0, 1, 1, -1), false);
        assert_eq!(producers.check(&batch(0, 2, 1, -1)), Err(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER));
        assert_eq!(producers.check(&batch(0, 1, 1, -1)), Ok(Checked::New));
        producers.begin_verification(&batch(1, 5, 1, -1), true);
        assert_eq!(producers.check(&batch(1, 5, 1, -1)), Ok(Checked::New), "it was begun by one that adds nothing");
    }

    #[test]
    fn who_is_not_known_begins_with_zero_where_writing_adds_the_partition() {
        let mut producers = Producers::default();
        producers.begin_verification(&batch(0, 5, 1, -1), true);
        assert_eq!(producers.check(&batch(0, 5, 1, -1)), Err(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER));
        producers.begin_verification(&batch(0, 0, 1, -1), true);
        assert_eq!(producers.check(&batch(0, 0, 1, -1)), Ok(Checked::New));
    }

    #[test]
    fn the_sequence_after_the_last_one_is_zero() {
        let mut producers = Producers::default();
        producers.note(&batch(0, i32::MAX, 1, 0));
        assert_eq!(producers.check(&batch(0, 0, 1, -1)), Ok(Checked::New));
    }
}
