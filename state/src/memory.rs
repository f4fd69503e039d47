//! A store in memory alone.

use crate::Blob;
use crate::engine::{Applied, ChangelogPosition, CommitId, OrderedStore, Prepared, Snapshot, StoreError, WriteBatch};
use crate::resident::Resident;
use std::sync::Arc;

/// A store in memory alone: it starts empty, and is restored from its changelog.
///
/// ```
/// use millstream_protocol::{Offset, Timestamp};
/// use millstream_state::{ChangelogPosition, CommitId, MemoryStore, OrderedStore, WriteBatch};
/// use std::sync::Arc;
/// let store = MemoryStore::new("sums");
/// let mut batch = WriteBatch::default();
/// batch.put(&b"a"[..], &b"1"[..], Timestamp::EPOCH);
/// let commit = CommitId::new(1, 7);
/// store.prepare(commit, &Arc::new(batch), &ChangelogPosition::new(Offset::new(1), Timestamp::EPOCH))?;
/// assert_eq!(store.get(b"a")?, None);
/// store.apply(commit)?;
/// assert_eq!(store.get(b"a")?.as_deref(), Some(&b"1"[..]));
/// # Ok::<(), millstream_state::StoreError>(())
/// ```
#[derive(Debug)]
pub struct MemoryStore(Resident);
impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self(Resident::new(name))
    }
}
impl OrderedStore for MemoryStore {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn get(&self, key: &[u8]) -> Result<Option<Blob>, StoreError> {
        Ok(self.0.get(key))
    }
    fn approximate_len(&self) -> u64 {
        u64::try_from(self.0.len()).unwrap_or(u64::MAX)
    }
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, StoreError> {
        Ok(self.0.snapshot())
    }
    fn prepare(
        &self,
        commit: CommitId,
        batch: &Arc<WriteBatch>,
        position: &ChangelogPosition,
    ) -> Result<(), StoreError> {
        self.0.prepare(commit, batch, position)
    }
    fn apply(&self, commit: CommitId) -> Result<(), StoreError> {
        self.0.apply(commit)
    }
    fn discard(&self, commit: CommitId) -> Result<(), StoreError> {
        self.0.discard(commit);
        Ok(())
    }
    fn prepared(&self) -> Vec<Prepared> {
        self.0.prepared()
    }
    fn applied(&self) -> Option<Applied> {
        self.0.applied()
    }
    fn restore(&self, batch: WriteBatch, position: &ChangelogPosition) -> Result<(), StoreError> {
        self.0.restore(&batch, position);
        Ok(())
    }
    fn adopt(&self, commit: CommitId, position: &ChangelogPosition) -> Result<(), StoreError> {
        self.0.adopt(commit, position);
        Ok(())
    }
    fn clear(&self) -> Result<(), StoreError> {
        self.0.clear();
        Ok(())
    }
    fn checkpoint(&self) -> Result<Option<Applied>, StoreError> {
        Ok(self.0.applied())
    }
}
