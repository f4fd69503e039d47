//! Sorted keys in small parts, each copied only if it changes while a clone is alive.

use crate::Blob;
use std::ops::Bound;
use std::sync::Arc;

/// Keys in byte order. Cloning costs one reference count.
///
/// Invariant: no part is empty.
#[derive(Debug, Clone, Default)]
pub(super) struct SortedKeys(Arc<Vec<Arc<Vec<Blob>>>>);

impl SortedKeys {
    pub(super) fn of<'a>(keys: impl Iterator<Item = &'a Blob>) -> Self {
        let mut keys: Vec<Blob> = keys.cloned().collect();
        keys.sort_unstable();
        Self(Arc::new(keys.chunks(PART_LEN / 2).map(|part| Arc::new(part.to_vec())).collect()))
    }
    /// Adds a key; one that is there stays.
    pub(super) fn insert(&mut self, key: &Blob) {
        let parts = Arc::make_mut(&mut self.0);
        let Some(index) = part_of(parts, key) else {
            return parts.push(Arc::new(vec![key.clone()]));
        };
        let part = Arc::make_mut(&mut parts[index]);
        let Err(place) = part.binary_search(key) else { return };
        part.insert(place, key.clone());
        if part.len() > PART_LEN {
            let upper = part.split_off(PART_LEN / 2);
            parts.insert(index + 1, Arc::new(upper));
        }
    }
    /// Removes a key, if it is there.
    pub(super) fn remove(&mut self, key: &Blob) {
        let parts = Arc::make_mut(&mut self.0);
        let Some(index) = part_of(parts, key) else { return };
        let part = Arc::make_mut(&mut parts[index]);
        let Ok(place) = part.binary_search(key) else { return };
        part.remove(place);
        if part.is_empty() {
            parts.remove(index);
        }
    }
    /// The keys of a range, from both ends.
    pub(super) fn range(self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> KeyRange {
        let front = self.place(match from {
            Bound::Unbounded => Place::Start,
            Bound::Included(key) => Place::Before(key),
            Bound::Excluded(key) => Place::After(key),
        });
        let back = self.place(match to {
            Bound::Unbounded => Place::End,
            Bound::Included(key) => Place::After(key),
            Bound::Excluded(key) => Place::Before(key),
        });
        KeyRange { keys: self, front, back }
    }

    fn place(&self, place: Place<'_>) -> (usize, usize) {
        let (key, after) = match place {
            Place::Start => return (0, 0),
            Place::End => return (self.0.len(), 0),
            Place::Before(key) => (key, false),
            Place::After(key) => (key, true),
        };
        let below = |each: &Blob| if after { each.as_slice() <= key } else { each.as_slice() < key };
        let part = self.0.partition_point(|part| part.last().is_some_and(below));
        let within = self.0.get(part).map_or(0, |part| part.partition_point(below));
        (part, within)
    }
}

enum Place<'a> {
    Start,
    End,
    Before(&'a [u8]),
    After(&'a [u8]),
}

/// Keys of a range: what lies between two places.
#[derive(Debug)]
pub(super) struct KeyRange {
    keys: SortedKeys,
    front: (usize, usize),
    back: (usize, usize),
}
impl Iterator for KeyRange {
    type Item = Blob;
    fn next(&mut self) -> Option<Blob> {
        if self.front >= self.back {
            return None;
        }
        let (part, within) = self.front;
        let keys = self.keys.0.get(part)?;
        self.front = if within + 1 < keys.len() { (part, within + 1) } else { (part + 1, 0) };
        keys.get(within).cloned()
    }
}
impl DoubleEndedIterator for KeyRange {
    fn next_back(&mut self) -> Option<Blob> {
        if self.front >= self.back {
            return None;
        }
        let (part, within) = match self.back {
            (part, 0) => (part - 1, self.keys.0.get(part - 1)?.len() - 1),
            (part, within) => (part, within - 1),
        };
        self.back = (part, within);
        self.keys.0.get(part)?.get(within).cloned()
    }
}

/// The part that a key is in or belongs in: the first whose last key is not below it, else the last.
fn part_of(parts: &[Arc<Vec<Blob>>], key: &Blob) -> Option<usize> {
    let last = parts.len().checked_sub(1)?;
    Some(parts.partition_point(|part| part.last().is_some_and(|each| each < key)).min(last))
}

/// The most keys in a part: what an insertion moves, at most 8 kB.
const PART_LEN: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn blob(number: u16) -> Blob {
        Blob::from(&number.to_be_bytes()[..])
    }
    fn bound(key: &Bound<u16>) -> Bound<Blob> {
        key.map(blob)
    }
    fn bounds() -> impl Strategy<Value = Bound<u16>> {
        prop_oneof![
            Just(Bound::Unbounded),
            (0..700_u16).prop_map(Bound::Included),
            (0..700_u16).prop_map(Bound::Excluded)
        ]
    }

    proptest! {
        #[test]
        fn sorted_keys_are_a_set(changes in proptest::collection::vec((0..700_u16, any::<bool>()), 0..3000), from in bounds(), to in bounds(), ends in proptest::collection::vec(any::<bool>(), 0..900)) {
            let (mut keys, mut model) = (SortedKeys::default(), BTreeSet::new());
            for (number, insert) in changes {
                if insert {
                    keys.insert(&blob(number));
                    model.insert(blob(number));
                } else {
                    keys.remove(&blob(number));
                    model.remove(&blob(number));
                }
            }
            let (from, to) = (bound(&from), bound(&to));
            let within = |key: &Blob| {
                let above = match &from { Bound::Unbounded => true, Bound::Included(low) => key >= low, Bound::Excluded(low) => key > low };
                let below = match &to { Bound::Unbounded => true, Bound::Included(high) => key <= high, Bound::Excluded(high) => key < high };
                above && below
            };
            let mut expected = model.into_iter().filter(within).collect::<Vec<_>>().into_iter();
            let mut range = keys.range(from.as_ref().map(Blob::as_slice), to.as_ref().map(Blob::as_slice));
            for front in ends {
                if front { prop_assert_eq!(range.next(), expected.next()) } else { prop_assert_eq!(range.next_back(), expected.next_back()) }
            }
            prop_assert!(range.eq(expected));
        }
    }

    #[test]
    fn keys_of_many_are_sorted() {
        let all: Vec<Blob> = (0..5000).rev().map(blob).collect();
        let keys = SortedKeys::of(all.iter());
        assert!(keys.range(Bound::Unbounded, Bound::Unbounded).eq((0..5000).map(blob)));
    }
}
