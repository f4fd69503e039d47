//! Entries of a view, read one by one.

use super::ReadOnlyKeyValueStore;
use crate::StoreError;
use crate::engine::Entry;
use crate::layers::Merged;
use std::fmt;

/// Entries in byte order of their keys, from both ends, as they were when this was made. After an error, what is left may still be
/// read.
#[must_use]
pub struct Entries<'s, K, V> {
    store: &'s ReadOnlyKeyValueStore<K, V>,
    left: Left,
}
enum Left {
    Merged(Merged),
    Failed(Option<StoreError>),
}

impl<'s, K: 'static, V: 'static> Entries<'s, K, V> {
    pub(super) const fn new(store: &'s ReadOnlyKeyValueStore<K, V>, merged: Merged) -> Self {
        Self { store, left: Left::Merged(merged) }
    }
    pub(super) const fn failed(store: &'s ReadOnlyKeyValueStore<K, V>, error: StoreError) -> Self {
        Self { store, left: Left::Failed(Some(error)) }
    }
    fn read(&self, entry: Result<Entry, StoreError>) -> Result<(K, V), StoreError> {
        let (key, value) = entry?;
        Ok((self.store.read_key(key)?, self.store.read_value(value)?.0))
    }
    fn take(
        &mut self,
        from: impl FnOnce(&mut Merged) -> Option<Result<Entry, StoreError>>,
    ) -> Option<Result<(K, V), StoreError>> {
        match &mut self.left {
            Left::Failed(error) => error.take().map(Err),
            Left::Merged(merged) => {
                let entry = from(merged)?;
                Some(self.read(entry))
            }
        }
    }
}
impl<K: 'static, V: 'static> Iterator for Entries<'_, K, V> {
    type Item = Result<(K, V), StoreError>;
    fn next(&mut self) -> Option<Self::Item> {
        self.take(Iterator::next)
    }
}
impl<K: 'static, V: 'static> DoubleEndedIterator for Entries<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.take(DoubleEndedIterator::next_back)
    }
}
impl<K, V> fmt::Debug for Entries<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entries")
    }
}
