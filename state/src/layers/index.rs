//! Where in a list of writes a key is: by hash, and by order for those who read ranges.

use crate::engine::Write;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;
use std::ops::Bound;

/// Where in a list of writes a key is. The list is its owner's, and is handed in.
#[derive(Debug, Default)]
pub(super) struct Index {
    places: HashTable<u32>,
    /// Places in the order of their keys, of the first `sorted_len` writes: brought up to date when a range is read.
    sorted: Vec<u32>,
}

impl Index {
    /// Empties it, and keeps its room unless most of it was not needed.
    pub(super) fn reuse(mut self) -> Self {
        let len = self.places.len();
        self.places.clear();
        self.sorted.clear();
        if self.places.capacity() / 4 > len {
            self.places.shrink_to(0, |_| 0);
        }
        self
    }
    pub(super) fn find(&self, writes: &[Write], hash: u64, key: &[u8]) -> Option<usize> {
        self.places.find(hash, |place| writes[*place as usize].key.as_slice() == key).map(|place| *place as usize)
    }
    /// Notes the write that was just added at the end.
    pub(super) fn add(&mut self, writes: &[Write], hash: u64, hasher: &DefaultHashBuilder) {
        let place = u32::try_from(writes.len() - 1).expect("an epoch is frozen long before it has 2^32 keys");
        let hash_of = |place: &u32| hasher.hash_one(writes[*place as usize].key.as_slice());
        self.places.insert_unique(hash, place, hash_of);
    }
    /// Forgets the last write, which is about to be removed.
    pub(super) fn remove_last(&mut self, writes: &[Write], hasher: &DefaultHashBuilder) {
        let Some(last) = writes.last() else { return };
        let place = writes.len() - 1;
        let hash = hasher.hash_one(last.key.as_slice());
        if let Ok(entry) = self.places.find_entry(hash, |each| *each as usize == place) {
            entry.remove();
        }
        if self.sorted.len() == writes.len() {
            self.sorted.retain(|each| *each as usize != place);
        }
    }
    /// The places of a range's keys, in order.
    pub(super) fn range(&mut self, writes: &[Write], from: Bound<&[u8]>, to: Bound<&[u8]>) -> &[u32] {
        self.sort(writes);
        slice(&self.sorted, writes, from, to)
    }
    /// All places in the order of their keys, of a list that will not change.
    pub(super) fn sorted(&self, writes: &[Write]) -> Vec<u32> {
        let mut index = Self { sorted: self.sorted.clone(), ..Self::default() };
        index.sort(writes);
        index.sorted
    }

    /// Adds the writes since the last range: a few one by one, many by sorting.
    fn sort(&mut self, writes: &[Write]) {
        let key = |place: u32| writes[place as usize].key.as_slice();
        let known = self.sorted.len();
        let new = u32::try_from(known).unwrap_or(u32::MAX)..u32::try_from(writes.len()).unwrap_or(u32::MAX);
        if new.len() <= FEW && known > FEW {
            for place in new {
                let at = self.sorted.partition_point(|each| key(*each) < key(place));
                self.sorted.insert(at, place);
            }
        } else if !new.is_empty() {
            self.sorted.extend(new);
            // Stable sorting finds the run that is sorted already.
            self.sorted.sort_by(|a, b| key(*a).cmp(key(*b)));
        }
    }
}

/// The part of sorted places whose keys lie in a range.
pub(super) fn slice<'a>(sorted: &'a [u32], writes: &[Write], from: Bound<&[u8]>, to: Bound<&[u8]>) -> &'a [u32] {
    let key = |place: &u32| writes[*place as usize].key.as_slice();
    let start = sorted.partition_point(|place| match from {
        Bound::Unbounded => false,
        Bound::Included(low) => key(place) < low,
        Bound::Excluded(low) => key(place) <= low,
    });
    let end = sorted.partition_point(|place| match to {
        Bound::Unbounded => true,
        Bound::Included(high) => key(place) <= high,
        Bound::Excluded(high) => key(place) < high,
    });
    sorted.get(start..end).unwrap_or_default()
}

/// How many new writes are put in their places one by one.
const FEW: usize = 32;
