//! The writes of all finished records since the last freeze, and of the record in hand, which can be taken back.

use super::frozen::FrozenBatch;
use super::index::Index;
use crate::Blob;
use crate::engine::{Write, WriteBatch};
use hashbrown::DefaultHashBuilder;
use millstream_protocol::Timestamp;
use std::hash::BuildHasher;
use std::ops::Bound;

/// The writes since the last freeze, one per key, in the order in which keys were first written.
///
/// What the record in hand has written first lies behind `mark`; what it has overwritten is in `undo`.
#[derive(Debug, Default)]
pub(super) struct Epoch {
    batch: WriteBatch,
    index: Index,
    bytes: usize,
    record: Option<u64>,
    mark: usize,
    undo: Vec<Undo>,
}
#[derive(Debug)]
struct Undo {
    place: usize,
    value: Option<Blob>,
    timestamp: Timestamp,
}

impl Epoch {
    pub(super) fn put(
        &mut self,
        record: Option<u64>,
        hash: u64,
        key: &[u8],
        value: Option<Blob>,
        timestamp: Timestamp,
        hasher: &DefaultHashBuilder,
    ) {
        self.see(record);
        match self.index.find(self.batch.writes(), hash, key) {
            Some(place) => self.replace(place, value, timestamp),
            None => self.append(hash, Write { key: Blob::from(key), value, timestamp }, hasher),
        }
    }
    /// Takes back what `record` has written.
    pub(super) fn drop_record(&mut self, record: Option<u64>, hasher: &DefaultHashBuilder) {
        self.see(record);
        while self.batch.len() > self.mark {
            self.remove_last(hasher);
        }
        while let Some(undo) = self.undo.pop() {
            self.swap(undo);
        }
    }
    /// Gives what finished records have written, and keeps what `record` has, in the room of the empty `spare`.
    pub(super) fn freeze(
        &mut self,
        record: Option<u64>,
        spare: FrozenBatch,
        hasher: &DefaultHashBuilder,
    ) -> Option<FrozenBatch> {
        if self.is_clean(record) {
            return None;
        }
        self.see(record);
        let kept = self.take_record(hasher);
        let next = Self { batch: spare.batch, index: spare.index, record: self.record, ..Self::default() };
        let done = std::mem::replace(self, next);
        for write in kept {
            self.append(hasher.hash_one(write.key.as_slice()), write, hasher);
        }
        Some(FrozenBatch { batch: done.batch, index: done.index, bytes: done.bytes })
    }

    pub(super) fn get(&self, hash: u64, key: &[u8]) -> Option<&Write> {
        let place = self.index.find(self.batch.writes(), hash, key)?;
        self.batch.writes().get(place)
    }
    pub(super) fn writes(&self) -> &[Write] {
        self.batch.writes()
    }
    pub(super) fn range(&mut self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> impl Iterator<Item = &Write> {
        let Self { batch, index, .. } = self;
        index.range(batch.writes(), from, to).iter().map(|place| &batch.writes()[*place as usize])
    }
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }
    /// Whether no finished record has written anything.
    pub(super) fn is_clean(&self, record: Option<u64>) -> bool {
        let in_hand = record.is_some() && record == self.record;
        if in_hand { self.mark == 0 } else { self.batch.is_empty() }
    }

    /// Learns which record is in hand: if it is another than last time, that one is done.
    fn see(&mut self, record: Option<u64>) {
        if record.is_none() || record != self.record {
            self.record = record;
            self.mark = self.batch.len();
            self.undo.clear();
        }
    }
    fn replace(&mut self, place: usize, value: Option<Blob>, timestamp: Timestamp) {
        let undo = self.swap(Undo { place, value, timestamp });
        if self.record.is_some() && place < self.mark {
            self.undo.push(undo);
            if self.undo.len() > 2 * self.mark {
                self.shorten_undo();
            }
        }
    }
    fn append(&mut self, hash: u64, write: Write, hasher: &DefaultHashBuilder) {
        self.bytes += write.weight();
        self.batch.push(write);
        self.index.add(self.batch.writes(), hash, hasher);
        if self.record.is_none() {
            self.mark = self.batch.len();
        }
    }
    fn remove_last(&mut self, hasher: &DefaultHashBuilder) -> Option<Write> {
        self.index.remove_last(self.batch.writes(), hasher);
        let write = self.batch.writes_mut().pop()?;
        self.bytes -= write.weight();
        Some(write)
    }
    /// Puts one value in another's place, and gives that.
    fn swap(&mut self, new: Undo) -> Undo {
        let Undo { place, value, timestamp } = new;
        let write = &mut self.batch.writes_mut()[place];
        self.bytes -= write.weight();
        let old = Undo {
            place,
            value: std::mem::replace(&mut write.value, value),
            timestamp: std::mem::replace(&mut write.timestamp, timestamp),
        };
        self.bytes += write.weight();
        old
    }
    /// Takes out what the record in hand has written, so that the rest is as it was before that record.
    fn take_record(&mut self, hasher: &DefaultHashBuilder) -> Vec<Write> {
        let mut taken = Vec::new();
        while self.batch.len() > self.mark {
            taken.extend(self.remove_last(hasher));
        }
        self.shorten_undo();
        for undo in std::mem::take(&mut self.undo) {
            let place = undo.place;
            let Undo { value, timestamp, .. } = self.swap(undo);
            taken.push(Write { key: self.batch.writes()[place].key.clone(), value, timestamp });
        }
        taken.reverse();
        taken
    }
    /// Of a key that one record writes again and again, only what it had before that record is needed.
    fn shorten_undo(&mut self) {
        self.undo.sort_by_key(|undo| undo.place);
        self.undo.dedup_by_key(|undo| undo.place);
    }
}
