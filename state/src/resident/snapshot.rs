//! The committed entries as they were.

use super::keys::SortedKeys;
use super::table::Table;
use crate::Blob;
use crate::engine::{EntryIter, Snapshot, StoreError};
use std::ops::Bound;
use std::sync::Arc;

/// The entries as they were. Both halves are of the same moment, so every key has its value.
#[derive(Debug)]
pub(super) struct ResidentSnapshot {
    table: Table,
    keys: SortedKeys,
}
impl ResidentSnapshot {
    pub(super) const fn new(table: Table, keys: SortedKeys) -> Self {
        Self { table, keys }
    }
}
impl Snapshot for ResidentSnapshot {
    fn get(&self, key: &[u8]) -> Result<Option<Blob>, StoreError> {
        Ok(self.table.get(key).cloned())
    }
    fn range(self: Arc<Self>, from: Bound<&[u8]>, to: Bound<&[u8]>) -> EntryIter {
        let keys = self.keys.clone().range(from, to);
        Box::new(keys.filter_map(move |key| {
            let value = self.table.get(&key)?.clone();
            Some(Ok((key, value)))
        }))
    }
}
