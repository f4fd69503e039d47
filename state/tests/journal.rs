//! A journaled store over its restarts: what survives, what is cut off, what is reported.

mod common;

use common::*;
use millstream_state::fs::{DiskFs, Fs, MemoryFs};
use millstream_state::{Applied, JournalOptions, JournaledStore, OrderedStore, Prepared, StoreError};
use std::io::ErrorKind;
use std::sync::Arc;

#[test]
fn a_restart_finds_what_was_applied_and_how_far_that_is() {
    let fs = MemoryFs::new();
    let store = open(&fs);
    assert_eq!((store.applied(), store.prepared()), (None, vec![]));
    put(&store, 1, "a=1 b=2 c=3");
    put(&store, 2, "a=4 -b d=");
    drop(store);
    let store = open(&fs);
    assert_eq!(text(&store), "a=4 c=3 d=");
    assert_eq!(store.applied(), Some(Applied::new(Some(commit(2)), position(2))));
    assert_eq!(store.approximate_len(), 3);
}

#[test]
fn a_prepared_batch_waits_over_restarts_until_it_is_judged() {
    let fs = MemoryFs::new();
    let store = open(&fs);
    put(&store, 1, "a=1");
    store.prepare(commit(2), &batch("a=2"), &position(2)).expect("prepares");
    drop(store);
    for _ in 0..2 {
        let store = open(&fs);
        assert_eq!(store.prepared(), [Prepared::new(commit(2), position(2))]);
        assert_eq!(text(&store), "a=1", "not applied, and not forgotten");
    }
    open(&fs).apply(commit(2)).expect("applies");
    let store = open(&fs);
    assert_eq!((text(&store).as_str(), store.prepared()), ("a=2", vec![]));
    store.prepare(commit(3), &batch("a=3"), &position(3)).expect("prepares");
    drop(store);
    open(&fs).discard(commit(3)).expect("discards");
    let store = open(&fs);
    assert_eq!((text(&store).as_str(), store.prepared()), ("a=2", vec![]));
    assert_eq!(store.applied().and_then(|applied| applied.commit), Some(commit(2)));
}

#[test]
fn a_commit_of_another_life_is_another_commit() {
    let store = open(&MemoryFs::new());
    store.prepare(commit(1), &batch("a=1"), &position(1)).expect("prepares");
    let other = millstream_state::CommitId::new(1, LIFE + 1);
    assert!(matches!(store.apply(other), Err(StoreError::OutOfOrder { .. })));
    store.discard(other).expect("nothing to discard");
    assert_eq!(store.prepared().len(), 1);
}

#[test]
fn a_restore_is_found_again_and_belongs_to_no_commit_before_its_end() {
    let fs = MemoryFs::new();
    let store = open(&fs);
    put(&store, 1, "old=1");
    store.clear().expect("clears");
    let restored = |text: &str| Arc::unwrap_or_clone(batch(text));
    store.restore(restored("a=1 b=1"), &position(4)).expect("restores");
    store.restore(restored("-b c=1"), &position(5)).expect("restores");
    drop(store);
    let store = open(&fs);
    assert_eq!(text(&store), "a=1 c=1");
    assert_eq!(store.applied(), Some(Applied::new(None, position(5))));
    store.adopt(commit(9), &position(5)).expect("adopts");
    drop(store);
    assert_eq!(open(&fs).applied(), Some(Applied::new(Some(commit(9)), position(5))));
}

#[test]
fn a_cleared_store_is_empty_after_a_restart_and_has_no_position() {
    let fs = MemoryFs::new();
    let store = open(&fs);
    put(&store, 1, "a=1");
    store.prepare(commit(2), &batch("b=1"), &position(2)).expect("prepares");
    store.clear().expect("clears");
    drop(store);
    let store = open(&fs);
    assert_eq!((text(&store).as_str(), store.applied(), store.prepared()), ("", None, vec![]));
}

#[test]
fn snapshots_bound_the_files_and_carry_what_is_prepared() {
    let fs = MemoryFs::new();
    let store = open(&fs);
    store.prepare(commit(1), &batch("waiting=1"), &position(1)).expect("prepares");
    for number in 2..400 {
        put(&store, number, &format!("k{}={number} same={number}", number % 40));
        assert!(size(&fs) < 16_000, "{} bytes after {number} commits", size(&fs));
    }
    let expected = contents(&store);
    drop(store);
    assert!(fs.paths().iter().all(|path| !path.ends_with("journal-0")), "{:?}", fs.paths());
    let store = open(&fs);
    assert_eq!(contents(&store), expected);
    assert_eq!(store.prepared(), [Prepared::new(commit(1), position(1))]);
    store.apply(commit(1)).expect("applies");
    assert!(text(&store).contains("waiting=1"));
}
fn size(fs: &MemoryFs) -> usize {
    fs.paths().iter().filter_map(|path| fs.contents(path)).map(|bytes| bytes.len()).sum()
}

#[test]
fn a_batch_larger_than_every_buffer_is_kept() {
    let fs = MemoryFs::new();
    let store = try_open(&fs, JournalOptions::default()).expect("opens");
    let large: String = (0..20_000).map(|key| format!("key-{key:05}={:x<80} ", key)).collect();
    put(&store, 1, &large);
    store.prepare(commit(2), &batch(&large.replace('x', "y")), &position(2)).expect("prepares");
    let expected = contents(&store);
    drop(store);
    let store = open(&fs);
    assert_eq!(contents(&store), expected);
    store.apply(commit(2)).expect("applies");
    assert_eq!(store.get(b"key-00007").expect("readable").as_deref().map(|value| value[79]), Some(b'y'));
}

#[test]
fn a_journal_cut_at_any_byte_opens_as_the_last_whole_commit() {
    let fs = MemoryFs::new();
    let store = try_open(&fs, JournalOptions::default()).expect("opens");
    let mut whole = vec![(0, String::new(), 0)];
    for number in 1..4 {
        store.prepare(commit(number), &batch(&format!("a={number} k{number}=1")), &position(number)).expect("prepares");
        whole.push((journal(&fs).len(), text(&store), 1));
        store.apply(commit(number)).expect("applies");
        whole.push((journal(&fs).len(), text(&store), 0));
    }
    drop(store);
    let all = journal(&fs);
    for len in 0..=all.len() {
        let fs = MemoryFs::new();
        fs.set_contents(&file("journal-0"), all[..len].to_vec());
        let store = open(&fs);
        let (_, expected, prepared) = whole.iter().rfind(|(at, ..)| *at <= len).expect("0 is the first");
        assert_eq!((&text(&store), store.prepared().len()), (expected, *prepared), "cut at {len}");
        put(&store, 9, "after=1");
        drop(store);
        assert!(text(&open(&fs)).contains("after=1"), "what comes after a cut at {len} is found");
    }
}
fn journal(fs: &MemoryFs) -> Vec<u8> {
    fs.contents(&file("journal-0")).expect("there")
}

#[test]
fn blocks_that_were_never_written_are_cut_off() {
    let fs = MemoryFs::new();
    let store = try_open(&fs, JournalOptions::default()).expect("opens");
    put(&store, 1, "a=1");
    let len = journal(&fs).len();
    put(&store, 2, "a=2");
    drop(store);
    let all = journal(&fs);
    // The end mark is the only byte at a frame's end that cannot be zero, so one byte that is missing is enough.
    for from in [0, 10, len, len + 1, len + 30, all.len() - 1] {
        let mut zeros = all.clone();
        zeros[from..].fill(0);
        zeros.extend([0; 5000]);
        fs.set_contents(&file("journal-0"), zeros);
        if from == 10 {
            assert!(
                matches!(try_open(&fs, small()), Err(StoreError::Corrupt { .. })),
                "a header with a hole is no header"
            );
        } else {
            let text = text(&open(&fs));
            assert!(text.is_empty() || text == "a=1", "zeros from {from}: {text}");
        }
    }
}

#[test]
fn every_flipped_bit_is_reported() {
    let fs = MemoryFs::new();
    let store = open(&fs);
    for number in 1..60 {
        put(&store, number, &format!("a={number} k{}=x", number % 7));
    }
    store.prepare(commit(99), &batch("b=1"), &position(99)).expect("prepares");
    drop(store);
    let files: Vec<_> = fs.paths().into_iter().filter(|path| !path.ends_with("lock")).collect();
    assert!(files.len() >= 2, "a snapshot and a journal: {files:?}");
    for path in files {
        let good = fs.contents(&path).expect("there");
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            fs.set_contents(&path, bad);
            match try_open(&fs, small()) {
                Err(StoreError::Corrupt { file, offset, .. }) => {
                    assert_eq!(file, path);
                    assert!(offset <= (bit / 8) as u64, "bit {bit} of {path:?} is reported at {offset}");
                }
                other => panic!("bit {bit} of {path:?}: {other:?}"),
            }
        }
        fs.set_contents(&path, good);
    }
    open(&fs);
}

#[test]
fn a_corrupt_journal_names_file_and_byte_and_what_to_do() {
    let fs = MemoryFs::new();
    let store = try_open(&fs, JournalOptions::default()).expect("opens");
    put(&store, 1, "a=1");
    let at = journal(&fs).len();
    put(&store, 2, "a=2");
    drop(store);
    let mut bytes = journal(&fs);
    bytes[at + 26] ^= 4;
    fs.set_contents(&file("journal-0"), bytes);
    let error = try_open(&fs, small()).expect_err("corrupt");
    assert_eq!(
        told(&error),
        format!(
            "store `sums`: `state/0_1/sums/journal-0` is corrupt at byte {at}: a frame does not match its checksum. Put back a good \
             copy of the folder, or remove the folder: the store is then restored from its changelog, or starts empty if it has none"
        )
    );
}

#[test]
fn a_file_that_is_missing_is_reported() {
    let fs = MemoryFs::new();
    let store = open(&fs);
    (1..100).for_each(|number| put(&store, number, "a=1 b=2 c=3"));
    drop(store);
    let path = fs.paths().into_iter().rfind(|path| path.to_string_lossy().contains("journal")).expect("one");
    fs.remove(&path).expect("removed");
    let error = try_open(&fs, small()).expect_err("missing");
    assert!(error.to_string().contains("the file is missing"), "{error}");
}

#[test]
fn another_version_of_the_format_is_reported() {
    let fs = MemoryFs::new();
    put(&open(&fs), 1, "a=1");
    let mut bytes = journal(&fs);
    bytes[11] = 7;
    let crc = crc32c::crc32c(&bytes[..28]);
    bytes[28..32].copy_from_slice(&crc.to_be_bytes());
    fs.set_contents(&file("journal-0"), bytes);
    assert_eq!(
        told(&try_open(&fs, small()).expect_err("another version")),
        "store `sums`: `state/0_1/sums/journal-0` has format version 7, and this program reads version 1. Run the program that \
         wrote it, or remove the folder: the store is then restored from its changelog, or starts empty if it has none"
    );
}

#[test]
fn a_folder_has_one_owner() {
    let fs = MemoryFs::new();
    let first = open(&fs);
    assert_eq!(
        told(&try_open(&fs, small()).expect_err("locked")),
        "store `sums`: folder `state/0_1/sums` is in use by another process. Stop that process, or give this one a state folder \
         of its own (`state.dir`)"
    );
    drop(first);
    open(&fs);
}

#[test]
fn a_full_disk_is_told_loses_nothing_and_is_got_over() {
    let fs = MemoryFs::new();
    let store = open(&fs);
    put(&store, 1, "a=1");
    fs.fail_from(fs.operations(), ErrorKind::StorageFull);
    let error = store.prepare(commit(2), &batch("a=2"), &position(2)).expect_err("full");
    assert_eq!(
        told(&error),
        "store `sums`: cannot append to `state/0_1/sums/journal-0`; what was accepted before is kept. The disk is full: make \
         room; a task that has stopped is started again then: the test says so"
    );
    assert!(error.is_retriable());
    assert_eq!((text(&store).as_str(), store.prepared()), ("a=1", vec![]));
    assert!(store.prepare(commit(3), &batch("a=3"), &position(3)).is_err(), "still full");
    fs.heal();
    put(&store, 4, "a=4");
    drop(store);
    assert_eq!(text(&open(&fs)), "a=4");
}

#[test]
fn what_is_synced_survives_a_power_loss() {
    for kept in [0, 1, 20, 40, 70] {
        let fs = MemoryFs::new();
        let store = try_open(&fs, small().sync_prepare(true)).expect("opens");
        for number in 1..80 {
            put(&store, number, &format!("a={number} k{}=1", number % 9));
        }
        store.prepare(commit(80), &batch("a=80"), &position(80)).expect("prepares");
        store.apply(commit(80)).expect("applies");
        fs.lose_power(kept);
        drop(store);
        let store = open(&fs);
        if store.prepared().is_empty() {
            assert_eq!(store.applied().and_then(|applied| applied.commit), Some(commit(80)));
        } else {
            assert_eq!(store.prepared(), [Prepared::new(commit(80), position(80))], "for recovery to judge");
            store.apply(commit(80)).expect("applies");
        }
        assert!(text(&store).starts_with("a=80 "), "{}", text(&store));
    }
}

#[test]
fn a_power_loss_without_sync_takes_only_the_end() {
    for kept in 0..300 {
        let fs = MemoryFs::new();
        let store = open(&fs);
        (1..40).for_each(|number| put(&store, number, &format!("a={number}")));
        store.checkpoint().expect("synced");
        (40..45).for_each(|number| put(&store, number, &format!("a={number}")));
        fs.lose_power(kept);
        drop(store);
        let store = open(&fs);
        let number = store.applied().and_then(|applied| applied.commit).expect("some").number();
        assert!((39..45).contains(&number), "{number}");
        assert_eq!(text(&store), format!("a={number}"));
    }
}

#[test]
fn the_systems_files_do_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("0_1/sums");
    let open = || JournaledStore::open(Arc::new(DiskFs), &path, "sums", small().sync_prepare(true));
    let store = open().expect("opens");
    assert!(matches!(open(), Err(StoreError::Locked { .. })));
    (1..200).for_each(|number| put(&store, number, &format!("a={number} k{}=1", number % 9)));
    let expected = contents(&store);
    drop(store);
    let store = open().expect("opens");
    assert_eq!(contents(&store), expected);
    assert!(!path.join("journal-0").exists(), "bounded");
}
