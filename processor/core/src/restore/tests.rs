//! Recovery by direct calls: what is read, what is applied, when it starts over.

use super::*;
use crate::commit::{OffsetMetadata, StorePosition, Trailer, store_hash};

const LIFE: u64 = 5;
const DAY: Duration = Duration::from_secs(86_400);
const NOW: Timestamp = Timestamp::from_millis(1_000_000_000_000);

fn id(number: u64) -> CommitId {
    CommitId::new(number, LIFE)
}

/// A commit of this number at this offset, with P of the store `sums`.
fn committed(number: u64, offset: i64, position: i64) -> Committed {
    let offset = Offset::new(offset);
    let positions = vec![StorePosition { store: store_hash("sums"), position: Offset::new(position) }];
    let trailer = Some(Trailer { offset, commit: id(number), positions });
    let text = OffsetMetadata { trailer, ..OffsetMetadata::at(NOW) }.encode().expect("it is short");
    Committed::read(&[Some((offset, text.as_str()))])
}

fn by_another_program(offset: i64) -> Committed {
    Committed::read(&[Some((Offset::new(offset), ""))])
}

fn nothing() -> Committed {
    Committed::read(&[None])
}

fn mark(number: u64, position: i64, age: Duration) -> Option<Mark> {
    Some(Mark { commit: Some(id(number)), position: Offset::new(position), time: NOW - age })
}

fn sums(mark: Option<Mark>, prepared: Option<Mark>) -> StoreFacts {
    StoreFacts {
        name: "sums".to_owned(),
        source: StateSource::Changelog { delete_retention: DAY },
        mark,
        prepared: prepared.into_iter().collect(),
    }
}

fn local(mark: Option<Mark>, prepared: Option<Mark>) -> StoreFacts {
    StoreFacts { source: StateSource::Nowhere, ..sums(mark, prepared) }
}

fn planned(applies: Option<CommitId>, base: BaseVerdict, from: i64, to: ReadTo) -> StorePlan {
    StorePlan { applies, base, from: Offset::new(from), to }
}

fn to(position: i64) -> ReadTo {
    ReadTo::Position(Offset::new(position))
}

#[test]
fn stores_with_a_changelog() {
    use BaseVerdict::*;
    let young = Duration::from_secs(60);
    let cases = [
        ("nothing here, nothing committed", sums(None, None), nothing(), planned(None, Keep, 0, ReadTo::Nothing)),
        ("nothing here", sums(None, None), committed(3, 30, 12), planned(None, Keep, 0, to(12))),
        (
            "killed and started again",
            sums(mark(3, 12, young), None),
            committed(3, 30, 12),
            planned(None, Keep, 12, ReadTo::Nothing),
        ),
        (
            "another owner committed",
            sums(mark(3, 12, young), None),
            committed(4, 40, 15),
            planned(None, Keep, 12, to(15)),
        ),
        (
            "killed between EndTxn and apply",
            sums(mark(3, 12, young), mark(4, 15, young)),
            committed(4, 40, 15),
            planned(Some(id(4)), Keep, 15, ReadTo::Nothing),
        ),
        (
            "killed before EndTxn",
            sums(mark(3, 12, young), mark(4, 15, young)),
            committed(3, 30, 12),
            planned(None, Keep, 12, ReadTo::Nothing),
        ),
        (
            "the other program's commit",
            sums(mark(3, 12, young), None),
            by_another_program(50),
            planned(None, Keep, 12, ReadTo::End),
        ),
        (
            "older than tombstones",
            sums(mark(3, 12, DAY), None),
            committed(4, 40, 15),
            planned(None, ClearTooOld, 0, to(15)),
        ),
        (
            "old, but as committed",
            sums(mark(3, 12, 9 * DAY), None),
            committed(3, 30, 12),
            planned(None, Keep, 12, ReadTo::Nothing),
        ),
        ("offsets deleted", sums(mark(3, 12, young), None), nothing(), planned(None, ClearAhead, 0, ReadTo::Nothing)),
        (
            "changelog made anew",
            sums(mark(3, 12, young), None),
            committed(4, 40, 2),
            planned(None, ClearAhead, 0, to(2)),
        ),
    ];
    for (name, store, committed, expected) in cases {
        assert_eq!(plan(&store, &committed, NOW), expected, "{name}");
    }
}

#[test]
fn prepared_batch_of_another_life_is_not_taken_for_the_committed_one() {
    let other_life = Mark { commit: Some(CommitId::new(4, LIFE + 1)), position: Offset::new(15), time: NOW };
    let plan = plan(&sums(mark(3, 12, Duration::ZERO), Some(other_life)), &committed(4, 40, 13), NOW);
    assert_eq!(plan, planned(None, BaseVerdict::Keep, 12, to(13)));
}

#[test]
fn stores_without_a_changelog() {
    use BaseVerdict::*;
    let cases = [
        ("first start", local(None, None), nothing(), None, Keep),
        ("in memory, after a crash or a move", local(None, None), committed(3, 30, 0), None, StartsEmpty),
        ("journaled, as committed", local(mark(3, 0, DAY), None), committed(3, 30, 0), None, Keep),
        (
            "killed between EndTxn and apply",
            local(mark(3, 0, DAY), mark(4, 0, DAY)),
            committed(4, 40, 0),
            Some(id(4)),
            Keep,
        ),
        ("killed before EndTxn", local(mark(3, 0, DAY), mark(4, 0, DAY)), committed(3, 30, 0), None, Keep),
        ("another owner committed", local(mark(3, 0, DAY), None), committed(9, 90, 0), None, ClearForeign),
        ("another program committed", local(mark(3, 0, DAY), None), by_another_program(90), None, ClearForeign),
    ];
    for (name, store, committed, prepared, base) in cases {
        assert_eq!(plan(&store, &committed, NOW), planned(prepared, base, 0, ReadTo::Nothing), "{name}");
    }
}

#[test]
fn interrupted_restore_goes_on_where_it_was() {
    let half = Mark { commit: None, position: Offset::new(7), time: NOW };
    assert_eq!(plan(&sums(Some(half), None), &committed(3, 30, 12), NOW), planned(None, BaseVerdict::Keep, 7, to(12)));
    assert_eq!(plan(&local(Some(half), None), &by_another_program(30), NOW).base, BaseVerdict::ClearForeign);
}

#[test]
fn source_topic_as_changelog_is_read_as_far_as_it_is_committed() {
    let table = StoreFacts { source: StateSource::Input { at: 0, delete_retention: DAY }, ..sums(None, None) };
    assert_eq!(plan(&table, &committed(3, 30, 0), NOW), planned(None, BaseVerdict::Keep, 0, to(30)));
    assert_eq!(plan(&table, &nothing(), NOW).to, ReadTo::Nothing);
}

#[test]
fn store_that_the_commit_did_not_have_is_read_to_the_end() {
    let other = StoreFacts { name: "new".to_owned(), ..sums(None, None) };
    assert_eq!(plan(&other, &committed(3, 30, 12), NOW).to, ReadTo::End);
}

#[test]
fn highest_number_of_all_inputs_is_the_commit() {
    let text = |number| {
        let trailer = Some(Trailer { offset: Offset::new(9), commit: id(number), positions: Vec::new() });
        OffsetMetadata { trailer, ..OffsetMetadata::at(NOW) }.encode().expect("it is short")
    };
    let (old, new) = (text(4), text(6));
    let nine = Offset::new(9);
    assert_eq!(Committed::read(&[Some((nine, &old)), None, Some((nine, &new))]).commit(), Some(id(6)));
    assert_eq!(Committed::read(&[Some((nine, &new)), Some((nine, &old))]).commit(), Some(id(6)));
    assert_eq!(Committed::read(&[Some((Offset::new(8), &new))]).commit(), None, "it belongs to another offset");
}

#[test]
fn recovery_looks_twice_before_it_runs() {
    let mut recovery = Recovery::new(vec![sums(None, None)]);
    let first = recovery.fetched(NOW, committed(3, 30, 12));
    assert_eq!(first, RecoveryOrder::Restore(vec![planned(None, BaseVerdict::Keep, 0, to(12))]));
    assert_eq!(recovery.restored(&[Offset::new(12)]), RecoveryOrder::Fetch);
    assert_eq!(recovery.fetched(NOW, committed(3, 30, 12)), RecoveryOrder::Run(committed(3, 30, 12)));
    assert_eq!(recovery.rounds(), 1);
}

#[test]
fn commit_during_the_restore_starts_it_over_from_where_it_is() {
    let mut recovery = Recovery::new(vec![sums(None, None)]);
    recovery.fetched(NOW, committed(3, 30, 12));
    recovery.restored(&[Offset::new(12)]);
    let again = recovery.fetched(NOW, committed(4, 40, 15));
    assert_eq!(again, RecoveryOrder::Restore(vec![planned(None, BaseVerdict::Keep, 12, to(15))]));
    recovery.restored(&[Offset::new(15)]);
    assert_eq!(recovery.fetched(NOW, committed(4, 40, 15)), RecoveryOrder::Run(committed(4, 40, 15)));
    assert_eq!(recovery.rounds(), 2);
}

#[test]
fn restore_that_took_longer_than_tombstones_are_kept_starts_empty() {
    let mut recovery = Recovery::new(vec![sums(None, None)]);
    recovery.fetched(NOW, committed(3, 30, 12));
    recovery.restored(&[Offset::new(12)]);
    let again = recovery.fetched(NOW + DAY, committed(4, 40, 15));
    assert_eq!(again, RecoveryOrder::Restore(vec![planned(None, BaseVerdict::ClearTooOld, 0, to(15))]));
}

#[test]
fn no_committed_offset_is_asked_again_before_it_counts() {
    let mut recovery = Recovery::new(vec![sums(None, None)]);
    assert_eq!(recovery.fetched(NOW, nothing()), RecoveryOrder::Fetch);
    let RecoveryOrder::Restore(plans) = recovery.fetched(NOW, committed(1, 5, 2)) else {
        panic!("there is something to restore")
    };
    assert_eq!(plans[0].to, to(2));

    let mut recovery = Recovery::new(vec![sums(None, None)]);
    recovery.fetched(NOW, nothing());
    let RecoveryOrder::Restore(plans) = recovery.fetched(NOW, nothing()) else { panic!("twice nothing is nothing") };
    assert!(!plans[0].reads());
    recovery.restored(&[Offset::new(0)]);
    assert_eq!(recovery.fetched(NOW, nothing()), RecoveryOrder::Run(nothing()));
}

#[test]
fn task_without_stores_runs_from_what_is_committed() {
    let mut recovery = Recovery::new(Vec::new());
    assert_eq!(recovery.fetched(NOW, committed(3, 30, 0)), RecoveryOrder::Restore(Vec::new()));
    recovery.restored(&[]);
    assert!(matches!(recovery.fetched(NOW, committed(3, 30, 0)), RecoveryOrder::Run(_)));
}
