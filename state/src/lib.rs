//! Ordered byte stores in memory and journaled to files, and typed views over them.
//!
//! ```text
//! user code     KeyValueStore<K, V>, TimestampedStore<K, V>          store     typed views
//! a task        record → epoch → frozen                             layers    what is not committed yet
//! a commit      prepare(commit, batch) … apply or discard           engine    the contract of what is below
//! committed     MemoryStore, JournaledStore                         resident  maps in memory; journal: their files
//! ```
//!
//! Reading and writing fail with [`StoreError`] when the medium fails; a task whose store failed is stopped.

mod blob;
mod engine;
pub mod fs;
mod journal;
mod layers;
mod lock;
mod memory;
mod resident;
pub mod serde;
pub mod store;

mod builder;

pub use blob::Blob;
pub use builder::{
    ChangelogOptions, Medium, StoreBuilder, StoreSpec, ValueFormat, key_value, key_value_with, timestamped,
    timestamped_with,
};
pub use engine::{
    Applied, ChangelogPosition, CommitId, Entry, EntryIter, OrderedStore, Prepared, Snapshot, StoreError, Write,
    WriteBatch,
};
pub use journal::{JournalOptions, JournaledStore};
pub use layers::{ChangelogRecord, Frozen, LayeredStore, RecordScope};
pub use memory::MemoryStore;
#[cfg(feature = "json")]
pub use serde::Json;
pub use serde::{DefaultSerde, Serde, SerdeContext, SerdeError};
pub use store::{Entries, KeyValueStore, KeyedStore, ReadOnlyKeyValueStore, StateStore, TimestampedStore};
