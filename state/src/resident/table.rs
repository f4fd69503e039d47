//! A hash table in small parts, each copied only if it changes while a clone of the table is alive.
//!
//! Linear hashing: it grows by splitting one part at a time, so no write ever waits for all to be moved.

use crate::Blob;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;
use std::sync::Arc;

/// Keys and values. Cloning costs two reference counts.
#[derive(Clone)]
pub(super) struct Table {
    parts: Arc<Vec<Arc<Part>>>,
    len: usize,
    hasher: DefaultHashBuilder,
}

type Part = HashTable<crate::Entry>;

impl Table {
    /// Sets or removes a key, and says whether the set of keys has changed.
    pub(super) fn set(&mut self, key: &Blob, value: Option<&Blob>) -> bool {
        let changed = match value {
            Some(value) => self.insert(key, value),
            None => self.remove(key),
        };
        if self.len > self.parts.len() * PART_LEN {
            self.split();
        }
        changed
    }
    pub(super) fn get(&self, key: &[u8]) -> Option<&Blob> {
        let hash = self.hasher.hash_one(key);
        let part = &self.parts[part_of(hash, self.parts.len())];
        part.find(hash, |(each, _)| each.as_slice() == key).map(|(_, value)| value)
    }
    pub(super) const fn len(&self) -> usize {
        self.len
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = &crate::Entry> {
        self.parts.iter().flat_map(|part| part.iter())
    }
    pub(super) fn into_entries(self) -> impl Iterator<Item = crate::Entry> {
        (0..self.parts.len()).flat_map(move |part| self.parts[part].iter().cloned().collect::<Vec<_>>())
    }

    fn insert(&mut self, key: &Blob, value: &Blob) -> bool {
        let Self { parts, hasher, len } = self;
        let hash = hasher.hash_one(key.as_slice());
        let part = part_mut(parts, hash);
        match part.entry(hash, |(each, _)| each == key, |(key, _)| hasher.hash_one(key.as_slice())) {
            Entry::Occupied(mut there) => {
                there.get_mut().1.clone_from(value);
                false
            }
            Entry::Vacant(place) => {
                place.insert((key.clone(), value.clone()));
                *len += 1;
                true
            }
        }
    }
    fn remove(&mut self, key: &Blob) -> bool {
        let hash = self.hasher.hash_one(key.as_slice());
        let part = part_mut(&mut self.parts, hash);
        let Ok(entry) = part.find_entry(hash, |(each, _)| each == key) else { return false };
        entry.remove();
        self.len -= 1;
        true
    }
    /// Adds a part, which takes its entries from one other.
    fn split(&mut self) {
        let parts = Arc::make_mut(&mut self.parts);
        let (new, count) = (parts.len(), parts.len() + 1);
        let from = new - count.next_power_of_two() / 2;
        let hash = |entry: &crate::Entry| self.hasher.hash_one(entry.0.as_slice());
        let mut part = HashTable::with_capacity(PART_LEN);
        for entry in Arc::make_mut(&mut parts[from]).extract_if(|entry| part_of(hash(entry), count) == new) {
            part.insert_unique(hash(&entry), entry, hash);
        }
        parts.push(Arc::new(part));
    }
}
impl Default for Table {
    fn default() -> Self {
        Self { parts: Arc::new(vec![Arc::default()]), len: 0, hasher: DefaultHashBuilder::default() }
    }
}
impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("len", &self.len).field("parts", &self.parts.len()).finish()
    }
}

fn part_mut(parts: &mut Arc<Vec<Arc<Part>>>, hash: u64) -> &mut Part {
    let parts = Arc::make_mut(parts);
    let index = part_of(hash, parts.len());
    Arc::make_mut(&mut parts[index])
}
/// The part of a hash: by bits that the part's own table does not use, since it takes the lowest and the seven highest.
fn part_of(hash: u64, count: usize) -> usize {
    let bits = usize::try_from((hash >> 24) & 0xffff_ffff).unwrap_or_default();
    let whole = count.next_power_of_two();
    match bits & (whole - 1) {
        index if index < count => index,
        index => index & (whole / 2 - 1),
    }
}

/// Entries per part, on average: what a write copies while a snapshot is held, about 16 kB. Smaller ones would make the list of
/// parts too large for the processor's nearest caches.
const PART_LEN: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn blob(number: u32) -> Blob {
        Blob::from(&number.to_be_bytes()[..])
    }

    #[test]
    fn every_key_is_found_while_the_table_grows_and_shrinks() {
        let mut table = Table::default();
        for number in 0..20_000 {
            assert!(table.set(&blob(number), Some(&blob(number + 1))));
        }
        for number in (0..20_000).step_by(3) {
            assert!(table.set(&blob(number), None));
            assert!(!table.set(&blob(number), None), "gone already");
        }
        for number in 0..20_000 {
            let expected = (number % 3 != 0).then(|| blob(number + 1));
            assert_eq!(table.get(&blob(number)), expected.as_ref());
        }
        assert_eq!(table.len(), table.iter().count());
    }

    #[test]
    fn a_clone_stays_as_it_was() {
        let mut table = Table::default();
        (0..1000).for_each(|number| assert!(table.set(&blob(number), Some(&blob(0)))));
        let before = table.clone();
        for number in 500..1500 {
            assert_eq!(table.set(&blob(number), Some(&blob(1))), number >= 1000);
        }
        (0..100).for_each(|number| assert!(table.set(&blob(number), None)));
        let kept: BTreeMap<_, _> = before.into_entries().collect();
        assert_eq!(kept, (0..1000).map(|number| (blob(number), blob(0))).collect());
        assert_eq!(table.len(), 1400);
    }
}
