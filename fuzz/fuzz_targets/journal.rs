//! A store's journal, cut and with bits flipped: what can be opened has what was committed before the damage, or an error says where.

#![no_main]

use libfuzzer_sys::fuzz_target;
use millstream_protocol::{Offset, Timestamp};
use millstream_state::fs::MemoryFs;
use millstream_state::{
    ChangelogPosition, CommitId, JournalOptions, JournaledStore, OrderedStore, StoreError, WriteBatch,
};
use std::path::Path;
use std::sync::Arc;

const FOLDER: &str = "store";

fn open(fs: &Arc<MemoryFs>) -> Result<JournaledStore, StoreError> {
    JournaledStore::open(Arc::clone(fs) as _, Path::new(FOLDER), "store", JournalOptions::default())
}

/// Commits a batch per chunk; the last one stays prepared.
fn written(fs: &Arc<MemoryFs>, data: &[u8]) -> Result<(), StoreError> {
    let store = open(fs)?;
    let mut chunks = data.chunks(16).peekable();
    let mut number = 0_u32;
    while let Some(chunk) = chunks.next() {
        number += 1;
        let (key, value) = chunk.split_at(chunk.len() / 2);
        let mut batch = WriteBatch::default();
        batch.put(key, value, Timestamp::EPOCH);
        let position = ChangelogPosition::new(Offset::new(i64::from(number)), Timestamp::EPOCH);
        let commit = CommitId::new(u64::from(number), 1);
        store.prepare(commit, &Arc::new(batch), &position)?;
        if chunks.peek().is_some() {
            store.apply(commit)?;
        }
    }
    Ok(())
}

fuzz_target!(|input: (u16, u16, u8, Vec<u8>)| {
    let (cut, place, flip, data) = input;
    let fs = Arc::new(MemoryFs::new());
    written(&fs, &data).expect("memory does not fail");
    let journal = Path::new(FOLDER).join("journal-0");
    let mut bytes = fs.contents(&journal).expect("there is one");
    bytes.truncate(bytes.len().saturating_sub(usize::from(cut)));
    if let Some(byte) = bytes.get_mut(usize::from(place)) {
        *byte ^= flip;
    }
    fs.set_contents(&journal, bytes);
    match open(&fs) {
        // What was read can be written to, and read again.
        Ok(store) => {
            store.checkpoint().expect("memory does not fail");
            drop(store);
            open(&fs).expect("what was opened can be opened again");
        }
        Err(error) => assert!(matches!(error, StoreError::Corrupt { .. } | StoreError::Version { .. }), "{error}"),
    }
});
