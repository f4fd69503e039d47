//! A task's store: get, put, commit, restore.

use crate::RECORDS;
use millstream_protocol::{Offset, Timestamp, TopicName};
use millstream_state::{
    ChangelogPosition, ChangelogRecord, CommitId, KeyValueStore, LayeredStore, MemoryStore, OrderedStore, RecordScope,
    StoreBuilder, WriteBatch, key_value,
};
use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

/// How many keys there are.
pub const KEYS: u32 = 100_000;

/// A task's store, as a processor sees it, and keys in an order that no cache foresees.
pub struct Bench {
    scope: RecordScope,
    /// The store's layers.
    pub layers: LayeredStore,
    /// What a processor sees of them.
    pub store: KeyValueStore<String, i64>,
    /// The keys.
    pub keys: Vec<String>,
    next: usize,
    commits: u64,
}
impl Bench {
    /// A store over this base.
    #[must_use]
    pub fn over(base: Arc<dyn OrderedStore>) -> Self {
        let builder: StoreBuilder<KeyValueStore<String, i64>> = key_value("sums");
        let (scope, changelog) = (RecordScope::new(), TopicName::from_static("app-sums-changelog"));
        let layers = LayeredStore::new(builder.spec().clone(), base, changelog, scope.clone());
        let store = builder.open(&layers);
        let keys = (0..KEYS).map(|key| format!("key-{}", key.wrapping_mul(48_271) % KEYS)).collect();
        Self { scope, layers, store, keys, next: 0, commits: 0 }
    }
    /// A store over a base in memory.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::over(Arc::new(MemoryStore::new("sums")))
    }
    /// One record of a count: get, put.
    ///
    /// # Panics
    /// If the store fails.
    pub fn record(&mut self) {
        self.scope.begin_record(Timestamp::EPOCH);
        let key = &self.keys[self.next];
        let sum = self.store.get(key).expect("readable").unwrap_or(0);
        self.store.put(key, &(sum + 1)).expect("writable");
        self.scope.end_record();
        self.next = (self.next + 7_919) % self.keys.len();
    }
    /// So many records.
    pub fn records(&mut self, count: u32) {
        (0..count).for_each(|_| self.record());
    }
    /// Freezes, reads the changelog records, prepares and applies.
    ///
    /// # Panics
    /// If the store fails.
    pub fn commit(&mut self) {
        let Some(frozen) = self.layers.freeze().expect("nothing is frozen") else { return };
        let bytes: usize =
            frozen.changelog().map(|record| record.key.len() + record.value.map_or(0, <[u8]>::len)).sum();
        black_box(bytes);
        self.commits += 1;
        let commit = CommitId::new(self.commits, 1);
        frozen.prepare(commit, &ChangelogPosition::new(Offset::new(1), Timestamp::EPOCH)).expect("prepares");
        frozen.apply(commit).expect("applies");
    }
    /// [`RECORDS`] records and a commit.
    pub fn run(&mut self) {
        (0..RECORDS).for_each(|_| self.record());
        self.commit();
    }
    /// Restores from [`RECORDS`] changelog records.
    pub fn restore_some(&mut self) {
        self.restore(&self.keys[..RECORDS], &**self.layers.base());
    }
    /// Writes changelog records of these keys to `base`, as a restore does.
    ///
    /// # Panics
    /// If the store fails.
    pub fn restore(&self, keys: &[String], base: &dyn OrderedStore) {
        let mut batch = WriteBatch::default();
        for key in keys {
            let record = ChangelogRecord::new(key.as_bytes(), Some(&[0; 8]), Timestamp::EPOCH);
            self.layers.push_changelog(&mut batch, &record);
        }
        base.restore(batch, &ChangelogPosition::new(Offset::new(1), Timestamp::EPOCH)).expect("restores");
    }
}

impl fmt::Debug for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bench").field("commits", &self.commits).finish_non_exhaustive()
    }
}
