//! What the tests of stores share.
#![allow(dead_code, reason = "each test file uses its part")]

use millstream_protocol::{Offset, Timestamp};
use millstream_state::fs::MemoryFs;
use millstream_state::{
    ChangelogPosition, CommitId, JournalOptions, JournaledStore, OrderedStore, StoreError, WriteBatch,
};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) type Contents = BTreeMap<Vec<u8>, Vec<u8>>;

pub(crate) const LIFE: u64 = 0xabc;

pub(crate) fn folder() -> &'static Path {
    Path::new("state/0_1/sums")
}
pub(crate) fn file(name: &str) -> PathBuf {
    folder().join(name)
}
pub(crate) fn small() -> JournalOptions {
    JournalOptions::default().least_len(600)
}
pub(crate) fn try_open(fs: &MemoryFs, options: JournalOptions) -> Result<JournaledStore, StoreError> {
    JournaledStore::open(Arc::new(fs.clone()), folder(), "sums", options)
}
pub(crate) fn open(fs: &MemoryFs) -> JournaledStore {
    try_open(fs, small()).expect("opens")
}
pub(crate) fn commit(number: u64) -> CommitId {
    CommitId::new(number, LIFE)
}
pub(crate) fn position(number: u64) -> ChangelogPosition {
    let number = i64::try_from(number).expect("small");
    ChangelogPosition::new(Offset::new(10 * number), Timestamp::from_millis(1000 + number))
        .with_inputs([(("orders", 1), Offset::new(number)), (("prices", 1), Offset::new(2 * number))])
}
/// A batch from short text: `a=1 b= -c` sets a to 1, b to nothing, and deletes c.
pub(crate) fn batch(text: &str) -> Arc<WriteBatch> {
    let mut batch = WriteBatch::default();
    for write in text.split_whitespace() {
        match write.split_once('=') {
            Some((key, value)) => batch.put(key.as_bytes(), value.as_bytes(), Timestamp::EPOCH),
            None => batch.delete(write.trim_start_matches('-').as_bytes(), Timestamp::EPOCH),
        }
    }
    Arc::new(batch)
}
/// Prepares and applies.
pub(crate) fn put(store: &dyn OrderedStore, number: u64, text: &str) {
    store.prepare(commit(number), &batch(text), &position(number)).expect("prepares");
    store.apply(commit(number)).expect("applies");
}
pub(crate) fn contents(store: &dyn OrderedStore) -> Contents {
    let entries = store.snapshot().expect("a snapshot").range(Bound::Unbounded, Bound::Unbounded);
    entries.map(|entry| entry.expect("readable")).map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
}
/// The contents as text: `a=1 b=`.
pub(crate) fn text(store: &dyn OrderedStore) -> String {
    let entry = |(key, value): (&Vec<u8>, &Vec<u8>)| {
        format!("{}={}", String::from_utf8_lossy(key), String::from_utf8_lossy(value))
    };
    contents(store).iter().map(entry).collect::<Vec<_>>().join(" ")
}
/// An error and its causes, as a user sees them.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    text
}
