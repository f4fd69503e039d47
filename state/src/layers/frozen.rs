//! What is being committed.

use super::LayeredStore;
use super::index::Index;
use crate::engine::{ChangelogPosition, CommitId, StoreError, Write, WriteBatch};
use crate::{Blob, ValueFormat};
use millstream_protocol::Timestamp;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

/// What an epoch gives when it is frozen.
#[derive(Debug, Default)]
pub(super) struct FrozenBatch {
    pub(super) batch: WriteBatch,
    pub(super) index: Index,
    pub(super) bytes: usize,
}

impl FrozenBatch {
    /// Empties it, and keeps its room.
    pub(super) fn reuse(self) -> Self {
        Self { batch: self.batch.reuse(), index: self.index.reuse(), bytes: 0 }
    }
}

/// The frozen layer: as the epoch was, and read only.
#[derive(Debug)]
pub(super) struct FrozenLayer {
    batch: Arc<WriteBatch>,
    index: Index,
    bytes: usize,
    sorted: OnceLock<Vec<u32>>,
}
impl FrozenLayer {
    pub(super) fn new(frozen: FrozenBatch) -> Self {
        let FrozenBatch { batch, index, bytes } = frozen;
        Self { batch: Arc::new(batch), index, bytes, sorted: OnceLock::new() }
    }
    /// What it is made of, if nobody else holds it any more.
    pub(super) fn into_batch(self: Arc<Self>) -> Option<FrozenBatch> {
        let Self { batch, index, bytes, .. } = Arc::into_inner(self)?;
        Some(FrozenBatch { batch: Arc::into_inner(batch)?, index, bytes })
    }
    pub(super) fn get(&self, hash: u64, key: &[u8]) -> Option<&Write> {
        let place = self.index.find(self.writes(), hash, key)?;
        self.writes().get(place)
    }
    pub(super) fn writes(&self) -> &[Write] {
        self.batch.writes()
    }
    pub(super) fn range(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> impl Iterator<Item = &Write> {
        let all = self.sorted.get_or_init(|| self.index.sorted(self.writes()));
        super::index::slice(all, self.writes(), from, to).iter().map(|place| &self.writes()[*place as usize])
    }
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }
}

/// What one store commits: frozen, and not decided. Reads of the task go through it until it is.
#[derive(Debug)]
#[must_use = "a frozen layer waits for `apply` or `abandon`"]
pub struct Frozen {
    store: LayeredStore,
    layer: Arc<FrozenLayer>,
}
impl Frozen {
    pub(super) const fn new(store: LayeredStore, layer: Arc<FrozenLayer>) -> Self {
        Self { store, layer }
    }

    /// The records for the changelog, one per dirty key, in the order in which the keys were first written.
    #[must_use]
    pub fn changelog(&self) -> impl ExactSizeIterator<Item = ChangelogRecord<'_>> {
        let format = self.store.format();
        self.layer.writes().iter().map(move |write| ChangelogRecord::of(write, format))
    }
    /// Keeps the batch in the base, undecided: step 3 of a commit.
    ///
    /// # Errors
    /// If the medium fails; nothing was prepared then.
    pub fn prepare(&self, commit: CommitId, position: &ChangelogPosition) -> Result<(), StoreError> {
        self.store.base().prepare(commit, &self.layer.batch, position)
    }
    /// Merges the batch into the base: step 6 of a commit. May be called again after an error.
    ///
    /// # Errors
    /// If the medium fails, or the batch was not prepared; the layer is still there then.
    pub fn apply(&self, commit: CommitId) -> Result<(), StoreError> {
        self.store.base().apply(commit)?;
        self.store.decided(&self.layer);
        Ok(())
    }
    /// Drops the batch, and what the task has written since: it reads its input again from the committed offset.
    ///
    /// # Errors
    /// If the medium fails; the layers are gone all the same, and the recovery will drop the prepared batch.
    pub fn discard(&self, commit: CommitId) -> Result<(), StoreError> {
        self.store.abandon();
        self.store.base().discard(commit)
    }
    /// The store that this is of.
    #[must_use]
    pub const fn store(&self) -> &LayeredStore {
        &self.store
    }
}

/// A record of a changelog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangelogRecord<'a> {
    /// The key.
    pub key: &'a [u8],
    /// The value; none deletes.
    pub value: Option<&'a [u8]>,
    /// The record's timestamp.
    pub timestamp: Timestamp,
}
impl<'a> ChangelogRecord<'a> {
    /// As read from the topic.
    #[must_use]
    pub const fn new(key: &'a [u8], value: Option<&'a [u8]>, timestamp: Timestamp) -> Self {
        Self { key, value, timestamp }
    }

    fn of(write: &'a Write, format: ValueFormat) -> Self {
        let value = write.value.as_deref();
        let (value, timestamp) = match (format, value.and_then(|value| value.split_first_chunk())) {
            (ValueFormat::Timestamped, Some((time, plain))) => {
                (Some(plain), Timestamp::from_millis(i64::from_be_bytes(*time)))
            }
            _ => (value, write.timestamp),
        };
        Self { key: &write.key, value, timestamp }
    }
    pub(super) fn to_write(self, format: ValueFormat) -> Write {
        let value = self.value.map(|value| match format {
            ValueFormat::Plain => Blob::from(value),
            ValueFormat::Timestamped => Blob::concat(&self.timestamp.as_millis().to_be_bytes(), value),
        });
        Write { key: Blob::from(self.key), value, timestamp: self.timestamp }
    }
}
