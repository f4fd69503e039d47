//! The byte-level contract, for those who bring a store of their own.

mod batch;
mod commit;
mod error;

pub use batch::{Write, WriteBatch};
pub use commit::{Applied, ChangelogPosition, CommitId, Prepared};
pub use error::StoreError;

use crate::Blob;
use std::fmt::Debug;
use std::ops::Bound;
use std::sync::Arc;

/// A key and its value.
pub type Entry = (Blob, Blob);
/// Entries in byte order, from both ends. Holds no lock between items.
pub type EntryIter = Box<dyn DoubleEndedIterator<Item = Result<Entry, StoreError>> + Send>;

/// An ordered byte store: what is committed. What is not yet lies in the task's layers above it.
///
/// ```text
///            prepare(n)              apply(n)
///  settled ─────────────▶ prepared ───────────▶ settled, with the batch in it
///                            │       discard(n)
///                            └────────────────▶ settled, as it was
/// ```
///
/// Readers see all of a batch or nothing of it. A prepared batch stays until it is applied or discarded, also across a restart
/// of a store that has files.
pub trait OrderedStore: Debug + Send + Sync {
    /// The store's name, as errors name it.
    fn name(&self) -> &str;
    /// Reads one key of what is committed now.
    ///
    /// # Errors
    /// If the medium fails.
    fn get(&self, key: &[u8]) -> Result<Option<Blob>, StoreError>;
    /// About how many keys there are.
    fn approximate_len(&self) -> u64;
    /// What is committed now, for as long as it is kept. A writer waits for no reader of it.
    ///
    /// # Errors
    /// If the medium fails.
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, StoreError>;
    /// Keeps a batch that may be decided either way, so that a crash before the decision loses nothing. When this fails, nothing
    /// was prepared.
    ///
    /// # Errors
    /// If the medium fails, or `commit` is prepared already.
    fn prepare(
        &self,
        commit: CommitId,
        batch: &Arc<WriteBatch>,
        position: &ChangelogPosition,
    ) -> Result<(), StoreError>;
    /// Makes a prepared batch part of the store, all or nothing, together with the position that it brings the store to. When this
    /// fails, the batch is still prepared.
    ///
    /// # Errors
    /// If the medium fails, or `commit` is not prepared.
    fn apply(&self, commit: CommitId) -> Result<(), StoreError>;
    /// Forgets a prepared batch. One that is not there is no error: a recovery may judge twice.
    ///
    /// # Errors
    /// If the medium fails.
    fn discard(&self, commit: CommitId) -> Result<(), StoreError>;
    /// The batches that wait for a decision, oldest first.
    fn prepared(&self) -> Vec<Prepared>;
    /// How far the store is; none while it is empty and nothing was ever decided.
    fn applied(&self) -> Option<Applied>;
    /// Writes a batch of a restore: decided already. Brings the store to `position`, and to no commit until [`adopt`](Self::adopt).
    ///
    /// # Errors
    /// If the medium fails.
    fn restore(&self, batch: WriteBatch, position: &ChangelogPosition) -> Result<(), StoreError>;
    /// Ends a restore: the store now equals what `commit` left.
    ///
    /// # Errors
    /// If the medium fails.
    fn adopt(&self, commit: CommitId, position: &ChangelogPosition) -> Result<(), StoreError>;
    /// Empties the store, and forgets position and prepared batches: what a restore from the changelog's start begins with.
    ///
    /// # Errors
    /// If the medium fails.
    fn clear(&self) -> Result<(), StoreError>;
    /// Makes what was applied survive a power loss, and gives how far that is.
    ///
    /// # Errors
    /// If the medium fails.
    fn checkpoint(&self) -> Result<Option<Applied>, StoreError>;
}

/// A store as it was.
pub trait Snapshot: Debug + Send + Sync {
    /// Reads one key.
    ///
    /// # Errors
    /// If the medium fails.
    fn get(&self, key: &[u8]) -> Result<Option<Blob>, StoreError>;
    /// Reads a range in byte order, from both ends. A range that ends before it starts is empty.
    fn range(self: Arc<Self>, from: Bound<&[u8]>, to: Bound<&[u8]>) -> EntryIter;
}
