//! Which records of what a Fetch brought are handed out, and where the position is after them.

use super::*;

// C-1
#[test]
fn a_batch_that_ends_before_the_position_is_skipped() {
    let mut bench = Bench::at(3);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(0, 2), plain(2, 3)])]);
    assert_eq!(bench.take(), [(vec![2], 5)]);
}

// C-2: compaction leaves the last offset of a batch without its record.
#[test]
fn the_next_offset_is_after_the_batch_and_not_after_its_last_record() {
    let mut bench = Bench::at(0);
    let mut compacted = plain(0, 1).to_vec();
    compacted[23..27].copy_from_slice(&9_i32.to_be_bytes());
    bench.fetch();
    bench.answer(0, vec![data(0, vec![compacted.into()])]);
    assert_eq!(bench.take(), [(vec![0], 10)]);
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 10);
}

// C-3
#[test]
fn a_batch_cut_short_is_left_out_and_one_alone_is_told_of() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(0, 2), plain(2, 2).slice(..20)])]);
    assert_eq!(bench.take(), [(vec![0], 2)]);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(2, 2).slice(..40)])]);
    let failure = bench.problem();
    assert_eq!((failure.offset, failure.problem), (Some(Offset::new(2)), FetchProblem::Incomplete { bytes: 40 }));
}

// C-4, C-5: the list comes unsorted; 8 aborts twice, and what it wrote in between was committed.
#[test]
fn aborted_records_and_markers_are_passed_over() {
    let mut bench = Bench::at(0);
    bench.fetch();
    let records = vec![
        in_transaction(0, 2, 7),
        in_transaction(2, 1, 8),
        plain(3, 1),
        marker(4, 8, ControlKind::Abort),
        in_transaction(5, 1, 8),
        marker(6, 8, ControlKind::Commit),
        marker(7, 7, ControlKind::Commit),
        in_transaction(8, 1, 8),
        marker(9, 8, ControlKind::Abort),
        marker(10, 99, ControlKind::Abort),
    ];
    let mut data = data(0, records);
    let aborted = |producer_id, first_offset| AbortedTransaction { producer_id, first_offset, ..Default::default() };
    data.aborted_transactions = Some(vec![aborted(8, 8), aborted(8, 2)]);
    bench.answer(0, vec![data]);
    assert_eq!(bench.take(), [(vec![0, 3, 5], 11)]);
}

#[test]
fn read_uncommitted_sees_aborted_records_but_no_markers() {
    let mut bench = Bench::new(|config| config.isolation = IsolationLevel::ReadUncommitted);
    bench.fetcher.add_at(place(0), Position::at(Offset::new(0)));
    bench.fetch();
    let mut data = data(0, vec![in_transaction(0, 1, 7), marker(1, 7, ControlKind::Abort)]);
    data.aborted_transactions =
        Some(vec![AbortedTransaction { producer_id: 7, first_offset: 0, ..Default::default() }]);
    bench.answer(0, vec![data]);
    assert_eq!(bench.take(), [(vec![0], 2)]);
    assert_eq!(bench.fetcher.lag(&place(0)), Some(98));
}

// C-17: markers at the log's end move the place to be committed.
#[test]
fn markers_alone_move_the_application_s_place() {
    let mut bench = Bench::at(4);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![marker(4, 7, ControlKind::Commit)])]);
    assert_eq!(bench.take(), [(vec![], 5)]);
    assert_eq!(bench.fetcher.consumed(&place(0)).map(|place| place.offset), Some(5));
}
