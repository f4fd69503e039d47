//! What both stores in memory have in common: the committed entries, the batches that wait, and how far that is.
//!
//! Entries lie in a hash table; the keys are sorted when the first snapshot is taken, and kept sorted from then on. Both are made of
//! parts that are copied only when they change while somebody holds a snapshot of them.

mod keys;
mod snapshot;
mod table;

use crate::engine::{Applied, ChangelogPosition, CommitId, Prepared, Snapshot, StoreError, Write, WriteBatch};
use crate::lock::lock;
use crate::{Blob, Entry};
use keys::SortedKeys;
use snapshot::ResidentSnapshot;
use std::sync::{Arc, Mutex};
use table::Table;

/// The committed entries in memory.
#[derive(Debug, Default)]
pub(crate) struct Resident {
    name: String,
    // Held while a batch is merged, slice by slice: whoever takes a snapshot waits for the whole batch, whoever reads one key (the task,
    // which has the batch in its frozen layer above) waits for a slice at most.
    merging: Mutex<()>,
    inner: Mutex<Inner>,
}
#[derive(Debug, Default)]
struct Inner {
    table: Table,
    keys: Option<SortedKeys>,
    prepared: Vec<(Prepared, Arc<WriteBatch>)>,
    applied: Option<Applied>,
}

impl Resident {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    pub(crate) fn prepare(
        &self,
        commit: CommitId,
        batch: &Arc<WriteBatch>,
        position: &ChangelogPosition,
    ) -> Result<(), StoreError> {
        let mut inner = lock(&self.inner);
        if inner.waiting(commit).is_some() {
            return Err(self.prepared_already(commit));
        }
        inner.prepared.push((Prepared::new(commit, position.clone()), Arc::clone(batch)));
        Ok(())
    }
    pub(crate) fn apply(&self, commit: CommitId) -> Result<(), StoreError> {
        let _merging = lock(&self.merging);
        let Some((prepared, batch)) = lock(&self.inner).waiting(commit).cloned() else {
            return Err(self.not_prepared(commit));
        };
        self.merge(batch.writes());
        let mut inner = lock(&self.inner);
        inner.prepared.retain(|(each, _)| each.commit != commit);
        inner.applied = Some(Applied::new(Some(commit), prepared.position));
        Ok(())
    }
    pub(crate) fn discard(&self, commit: CommitId) {
        lock(&self.inner).prepared.retain(|(each, _)| each.commit != commit);
    }
    pub(crate) fn restore(&self, batch: &WriteBatch, position: &ChangelogPosition) {
        let _merging = lock(&self.merging);
        self.merge(batch.writes());
        lock(&self.inner).applied = Some(Applied::new(None, position.clone()));
    }
    pub(crate) fn adopt(&self, commit: CommitId, position: &ChangelogPosition) {
        lock(&self.inner).applied = Some(Applied::new(Some(commit), position.clone()));
    }
    /// Adds an entry of a snapshot.
    pub(crate) fn load(&self, write: &Write) {
        lock(&self.inner).merge(std::slice::from_ref(write));
    }
    /// Sets what a snapshot says of itself.
    pub(crate) fn set_applied(&self, applied: Option<Applied>) {
        lock(&self.inner).applied = applied;
    }
    pub(crate) fn clear(&self) {
        let _merging = lock(&self.merging);
        let mut inner = lock(&self.inner);
        let keys = inner.keys.as_ref().map(|_| SortedKeys::default());
        *inner = Inner { keys, ..Inner::default() };
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
    pub(crate) fn get(&self, key: &[u8]) -> Option<Blob> {
        lock(&self.inner).table.get(key).cloned()
    }
    pub(crate) fn len(&self) -> usize {
        lock(&self.inner).table.len()
    }
    pub(crate) fn prepared(&self) -> Vec<Prepared> {
        lock(&self.inner).prepared.iter().map(|(each, _)| each.clone()).collect()
    }
    pub(crate) fn prepared_batches(&self) -> Vec<(Prepared, Arc<WriteBatch>)> {
        lock(&self.inner).prepared.clone()
    }
    pub(crate) fn is_prepared(&self, commit: CommitId) -> bool {
        lock(&self.inner).waiting(commit).is_some()
    }
    pub(crate) fn applied(&self) -> Option<Applied> {
        lock(&self.inner).applied.clone()
    }
    pub(crate) fn snapshot(&self) -> Arc<dyn Snapshot> {
        let _merging = lock(&self.merging);
        let mut inner = lock(&self.inner);
        if inner.keys.is_none() {
            inner.keys = Some(SortedKeys::of(inner.table.iter().map(|(key, _)| key)));
        }
        let keys = inner.keys.clone().unwrap_or_default();
        Arc::new(ResidentSnapshot::new(inner.table.clone(), keys))
    }
    /// The entries in no order, as they are now: for a writer of snapshots on disk, which needs no order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> + use<> {
        let _merging = lock(&self.merging);
        let table = lock(&self.inner).table.clone();
        table.into_entries()
    }
    pub(crate) fn prepared_already(&self, commit: CommitId) -> StoreError {
        StoreError::out_of_order(&self.name, format!("prepare commit {commit}"), "it is prepared already")
    }
    pub(crate) fn not_prepared(&self, commit: CommitId) -> StoreError {
        StoreError::out_of_order(&self.name, format!("apply commit {commit}"), "it is not prepared")
    }

    fn merge(&self, writes: &[Write]) {
        for slice in writes.chunks(MERGE_SLICE) {
            lock(&self.inner).merge(slice);
        }
    }
}

impl Inner {
    fn waiting(&self, commit: CommitId) -> Option<&(Prepared, Arc<WriteBatch>)> {
        self.prepared.iter().find(|(each, _)| each.commit == commit)
    }
    fn merge(&mut self, writes: &[Write]) {
        for write in writes {
            let changed = self.table.set(&write.key, write.value.as_ref());
            if let (true, Some(keys)) = (changed, &mut self.keys) {
                match write.value {
                    Some(_) => keys.insert(&write.key),
                    None => keys.remove(&write.key),
                }
            }
        }
    }
}

/// How many writes are merged before a reader of one key may pass: about 10 µs.
const MERGE_SLICE: usize = 128;
