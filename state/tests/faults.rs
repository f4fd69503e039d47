//! Every operation on files fails once, for each of them; and the process dies there, or goes on.

mod common;

use common::*;
use millstream_state::fs::MemoryFs;
use millstream_state::{JournaledStore, OrderedStore, StoreError};
use std::io::ErrorKind;

/// What the caller of a store knows: what it was told to be done, and what it was told to have failed.
#[derive(Debug, Default, Clone)]
struct Known {
    applied: Contents,
    number: u64,
    /// A commit whose prepare, apply or discard failed: after a restart it may be found in either state.
    doubtful: Option<u64>,
}
const COMMITS: u64 = 30;

fn writes(number: u64) -> String {
    format!("a={number} k{}={number} -k{}", number % 5, (number + 2) % 5)
}
fn expect(known: &mut Known, number: u64) {
    for write in writes(number).split_whitespace() {
        match write.split_once('=') {
            Some((key, value)) => drop(known.applied.insert(key.into(), value.into())),
            None => drop(known.applied.remove(&write.as_bytes()[1..])),
        }
    }
    known.number = number;
}
/// Commits until something fails; every seventh commit is aborted.
fn run(store: &JournaledStore, known: &mut Known) -> Result<(), StoreError> {
    for number in known.number + 1..=COMMITS {
        known.doubtful = Some(number);
        store.prepare(commit(number), &batch(&writes(number)), &position(number))?;
        if number % 7 == 0 {
            store.discard(commit(number))?;
            known.number = number;
        } else {
            store.apply(commit(number))?;
            expect(known, number);
        }
        known.doubtful = None;
        assert_eq!(contents(store), known.applied);
    }
    Ok(())
}
/// Decides a commit whose prepare or decision failed; that needs the disk as well.
fn settle(store: &JournaledStore, known: &mut Known) -> Result<(), StoreError> {
    let waits = |number: &u64| store.prepared().iter().any(|each| each.commit == commit(*number));
    match known.doubtful.filter(waits) {
        Some(number) if number % 7 == 0 => store.discard(commit(number)).map(|()| known.number = number)?,
        Some(number) => store.apply(commit(number)).map(|()| expect(known, number))?,
        None => {}
    }
    known.doubtful = None;
    Ok(())
}
/// What a recovery does: the commit whose outcome was in doubt is decided as its number says.
fn judge(store: &JournaledStore, known: &mut Known) {
    let Some(number) = known.doubtful.take() else {
        assert_eq!(store.prepared(), []);
        return;
    };
    let applied = store.applied().and_then(|applied| applied.commit) == Some(commit(number));
    let prepared = store.prepared().iter().any(|prepared| prepared.commit == commit(number));
    match (applied, prepared, number % 7) {
        (_, true, 0) => store.discard(commit(number)).expect("discards"),
        (_, true, _) => store.apply(commit(number)).expect("applies"),
        _ => {}
    }
    if applied || (prepared && number % 7 != 0) {
        expect(known, number);
    }
    assert_eq!(store.prepared(), []);
}

/// How many operations a run without failures makes.
fn operations() -> u64 {
    let fs = MemoryFs::new();
    let mut known = Known::default();
    run(&open(&fs), &mut known).expect("nothing fails");
    assert!(!fs.paths().contains(&file("journal-0")), "the run makes snapshots");
    fs.operations()
}

#[test]
fn a_process_that_dies_at_any_operation_loses_nothing() {
    for at in 0..operations() {
        let fs = MemoryFs::new();
        let mut known = Known::default();
        fs.fail_from(at, ErrorKind::Other);
        if let Ok(store) = try_open(&fs, small()) {
            drop(run(&store, &mut known));
        }
        fs.heal();
        let store = try_open(&fs, small()).unwrap_or_else(|error| panic!("died at {at}: {}", told(&error)));
        judge(&store, &mut known);
        assert_eq!(contents(&store), known.applied, "died at {at}");
        run(&store, &mut known).expect("goes on");
        drop(store);
        assert_eq!(contents(&open(&fs)), known.applied, "died at {at}, and went on");
    }
}

#[test]
fn an_operation_that_fails_once_is_got_over_without_a_restart() {
    for at in 0..operations() {
        let fs = MemoryFs::new();
        let mut known = Known::default();
        fs.fail_at(at, ErrorKind::StorageFull);
        let Ok(store) = try_open(&fs, small()) else { continue };
        while let Err(error) = run(&store, &mut known) {
            assert!(error.is_retriable(), "failed at {at}: {}", told(&error));
            judge(&store, &mut known);
            assert_eq!(contents(&store), known.applied, "failed at {at}");
        }
        drop(store);
        let store = try_open(&fs, small()).unwrap_or_else(|error| panic!("failed at {at}: {}", told(&error)));
        assert_eq!(contents(&store), known.applied, "failed at {at}, and restarted");
        assert_eq!(known.number, COMMITS);
    }
}

#[test]
fn a_disk_that_is_full_for_a_while_is_got_over() {
    for (from, to) in (0..operations()).flat_map(|from| [2, 3, 5, 9].map(|len| (from, from + len))) {
        let fs = MemoryFs::new();
        let mut known = Known::default();
        let Ok(store) = try_open(&fs, small()) else { continue };
        fs.fail_from(from.max(fs.operations()), ErrorKind::StorageFull);
        while let Err(error) = settle(&store, &mut known).and_then(|()| run(&store, &mut known)) {
            assert!(error.is_retriable(), "{}", told(&error));
            if fs.operations() > to {
                fs.heal();
            }
        }
        fs.heal();
        drop(store);
        let store = try_open(&fs, small()).unwrap_or_else(|error| panic!("full from {from} to {to}: {}", told(&error)));
        assert_eq!(contents(&store), known.applied, "full from {from} to {to}");
    }
}
