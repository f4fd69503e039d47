//! What a task has written and not committed: record → epoch → frozen, over the committed base.
//!
//! ```text
//!  put ──▶ epoch ◀──────── the record's own writes, each with what it replaced (the undo list), until the record ends
//!            │ freeze
//!            ▼
//!          frozen ── its batch goes to the changelog, then prepare, then the offsets and the end of the transaction
//!            │ apply                │ abandon (aborted, fenced): frozen and epoch go
//!            ▼                      ▼
//!          base                    nothing
//! ```
//!
//! The task's thread writes; a commit may freeze from another thread at any moment, also in the middle of a record: what that record
//! wrote moves to the next epoch. The record layer is not a map of its own: it is the undo list of the record in hand, so that a
//! record's end costs nothing.

mod epoch;
mod frozen;
mod index;
mod merge;
mod scope;

pub use frozen::{ChangelogRecord, Frozen};
pub(crate) use merge::Merged;
pub use scope::RecordScope;

use crate::engine::{OrderedStore, StoreError, Write, WriteBatch};
use crate::lock::lock;
use crate::{Blob, StoreSpec, ValueFormat};
use epoch::Epoch;
use frozen::{FrozenBatch, FrozenLayer};
use hashbrown::DefaultHashBuilder;
use millstream_protocol::{Timestamp, TopicName};
use std::hash::BuildHasher;
use std::ops::Bound;
use std::sync::{Arc, Mutex};

/// A store of a task: its layers, and the committed base below. Cloning gives another handle to the same.
///
/// ```
/// use millstream_protocol::{Offset, Timestamp, TopicName};
/// use millstream_state::{ChangelogPosition, CommitId, KeyValueStore, LayeredStore, MemoryStore, RecordScope, StoreBuilder, key_value};
/// use std::sync::Arc;
/// let builder: StoreBuilder<KeyValueStore<String, i64>> = key_value("sums").in_memory();
/// let scope = RecordScope::new();
/// let layers = LayeredStore::new(
///     builder.spec().clone(),
///     Arc::new(MemoryStore::new("sums")),
///     TopicName::from_static("app-sums-changelog"),
///     scope.clone(),
/// );
/// let mut sums = builder.open(&layers);
///
/// scope.begin_record(Timestamp::from_millis(5));
/// sums.put(&"a".to_owned(), &1)?;
/// scope.end_record();
///
/// let frozen = layers.freeze()?.expect("something was written");
/// assert_eq!(frozen.changelog().count(), 1);
/// let commit = CommitId::new(1, 7);
/// frozen.prepare(commit, &ChangelogPosition::new(Offset::new(1), Timestamp::from_millis(6)))?;
/// frozen.apply(commit)?;
/// assert_eq!(layers.base().approximate_len(), 1);
/// # Ok::<(), millstream_state::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LayeredStore(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    spec: StoreSpec,
    base: Arc<dyn OrderedStore>,
    changelog: TopicName,
    scope: RecordScope,
    hasher: DefaultHashBuilder,
    layers: Mutex<Layers>,
}
#[derive(Debug, Default)]
struct Layers {
    epoch: Epoch,
    frozen: Option<Arc<FrozenLayer>>,
    /// What was frozen last and is committed: the next epoch but one takes its room, so that a steady task allocates nothing.
    done: Option<Arc<FrozenLayer>>,
}

impl LayeredStore {
    /// Lays empty layers over a base. `changelog` is the topic that serdes are told, also when there is none; `scope` is the task's.
    #[must_use]
    pub fn new(spec: StoreSpec, base: Arc<dyn OrderedStore>, changelog: TopicName, scope: RecordScope) -> Self {
        let (hasher, layers) = (DefaultHashBuilder::default(), Mutex::default());
        Self(Arc::new(Shared { spec, base, changelog, scope, hasher, layers }))
    }

    /// Freezes what finished records have written. None if that is nothing. Any thread may call it, at any moment; that a task's
    /// stores and offsets are frozen at the same record is for the caller to see to, by a lock that ending a record takes too.
    ///
    /// # Errors
    /// If what was frozen before is not decided yet.
    pub fn freeze(&self) -> Result<Option<Frozen>, StoreError> {
        // Emptied before the lock is taken: the task's thread is not to wait for that.
        let done = lock(&self.0.layers).done.take();
        let spare = done.and_then(FrozenLayer::into_batch).map(FrozenBatch::reuse).unwrap_or_default();
        let mut layers = lock(&self.0.layers);
        if layers.frozen.is_some() {
            return Err(StoreError::out_of_order(self.name(), "freeze", "the commit before is not decided yet"));
        }
        let frozen = layers.epoch.freeze(self.0.scope.open_record(), spare, &self.0.hasher);
        let Some(batch) = frozen else { return Ok(None) };
        let layer = Arc::new(FrozenLayer::new(batch));
        layers.frozen = Some(Arc::clone(&layer));
        Ok(Some(Frozen::new(self.clone(), layer)))
    }
    /// Takes back what the record in hand has written. Call it before the scope's record ends.
    pub fn drop_record(&self) {
        let record = self.0.scope.open_record();
        lock(&self.0.layers).epoch.drop_record(record, &self.0.hasher);
    }
    /// Drops all that is not committed: what an aborted or lost commit asks for. A prepared batch of the base is left for whoever
    /// learns the outcome.
    pub fn abandon(&self) {
        *lock(&self.0.layers) = Layers::default();
    }

    /// The store's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.spec.name()
    }
    /// What the store was asked to be.
    #[must_use]
    pub fn spec(&self) -> &StoreSpec {
        &self.0.spec
    }
    /// What is committed.
    #[must_use]
    pub fn base(&self) -> &Arc<dyn OrderedStore> {
        &self.0.base
    }
    /// The topic that serdes are told.
    #[must_use]
    pub fn changelog(&self) -> &TopicName {
        &self.0.changelog
    }
    /// The task's record in hand.
    #[must_use]
    pub fn scope(&self) -> &RecordScope {
        &self.0.scope
    }
    /// What the layers weigh in memory, in bytes, about.
    #[must_use]
    pub fn uncommitted_bytes(&self) -> usize {
        let layers = lock(&self.0.layers);
        layers.epoch.bytes() + layers.frozen.as_ref().map_or(0, |frozen| frozen.bytes())
    }
    /// Whether a freeze would find nothing.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        lock(&self.0.layers).epoch.is_clean(self.0.scope.open_record())
    }
    /// Adds a changelog record to a batch for [`OrderedStore::restore`], in the form in which this store keeps it.
    pub fn push_changelog(&self, batch: &mut WriteBatch, record: &ChangelogRecord<'_>) {
        batch.push(record.to_write(self.0.spec.format()));
    }

    pub(crate) fn format(&self) -> ValueFormat {
        self.0.spec.format()
    }
    /// Reads one key, from the top down.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Blob>, StoreError> {
        let hash = self.0.hasher.hash_one(key);
        if let Some(value) = lock(&self.0.layers).get(hash, key) {
            return Ok(value);
        }
        // Unlocked: what the layers do not have, a commit that is applied meanwhile does not change.
        self.0.base.get(key)
    }
    /// Writes one key, as of now.
    pub(crate) fn put(&self, key: &[u8], value: Option<Blob>) {
        self.put_at(key, value, self.0.scope.time());
    }
    /// Writes one key, as of a time of its own.
    pub(crate) fn put_at(&self, key: &[u8], value: Option<Blob>, time: Timestamp) {
        let hash = self.0.hasher.hash_one(key);
        let record = self.0.scope.open_record();
        lock(&self.0.layers).epoch.put(record, hash, key, value, time, &self.0.hasher);
    }
    /// The entries of a range as they are now, whatever is written while they are read.
    pub(crate) fn range(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Result<Merged, StoreError> {
        let mut layers = lock(&self.0.layers);
        let Layers { epoch, frozen, .. } = &mut *layers;
        let base = self.0.base.snapshot()?.range(from, to);
        let frozen = frozen.iter().flat_map(|frozen| frozen.range(from, to));
        Ok(Merged::new(epoch.range(from, to), frozen, base))
    }
    /// How many keys there are: the base's, and what the layers add and take, counted one by one.
    pub(crate) fn approximate_len(&self) -> u64 {
        let layers = lock(&self.0.layers);
        let mut len = self.0.base.approximate_len();
        let frozen = layers.frozen.as_ref().map_or(&[][..], |frozen| frozen.writes());
        let hidden =
            |write: &&Write| layers.epoch.get(self.0.hasher.hash_one(write.key.as_slice()), &write.key).is_none();
        for write in layers.epoch.writes().iter().chain(frozen.iter().filter(hidden)) {
            let there = matches!(self.0.base.get(&write.key), Ok(Some(_)));
            match (there, write.value.is_some()) {
                (true, false) => len = len.saturating_sub(1),
                (false, true) => len += 1,
                _ => {}
            }
        }
        len
    }
    fn decided(&self, layer: &Arc<FrozenLayer>) {
        let mut layers = lock(&self.0.layers);
        if layers.frozen.as_ref().is_some_and(|frozen| Arc::ptr_eq(frozen, layer)) {
            layers.done = layers.frozen.take();
        }
    }
}

impl Layers {
    /// What the layers say of a key: nothing, or its value, or that it is deleted.
    fn get(&self, hash: u64, key: &[u8]) -> Option<Option<Blob>> {
        if let Some(write) = self.epoch.get(hash, key) {
            return Some(write.value.clone());
        }
        Some(self.frozen.as_ref()?.get(hash, key)?.value.clone())
    }
}
