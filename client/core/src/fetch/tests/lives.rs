//! What a seek, a pause, a revocation and an error do to what is under way, buffered or taken.

use super::*;

// C-16
#[test]
fn an_answer_from_before_a_seek_is_dropped() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.fetcher.seek(&place(0), Position::at(Offset::new(50)));
    bench.answer(0, vec![data(0, vec![plain(0, 2)])]);
    assert_eq!(bench.take(), []);
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 50);
}

// C-16: also when the seek goes to the same offset, and what was taken is no longer to be used.
#[test]
fn what_was_taken_before_a_seek_does_not_move_the_place() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(0, 2)])]);
    let Some(Taken::Fetched(fetched)) = bench.fetcher.take(bench.now, |_| true) else { panic!("nothing taken") };
    bench.fetcher.seek(&place(0), Position::at(Offset::new(0)));
    assert!(!bench.fetcher.advance(&fetched.partition, fetched.generation, fetched.next));
}

// C-6. Found by simulation: what lay before a batch that could not be used was of another life of its partition, once that was fetched again,
// so that nobody could go back to it: the records of a transaction that was aborted were passed over.
#[test]
fn what_was_taken_before_a_bad_batch_stays_valid_when_that_is_fetched_again() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(9, vec![data(0, vec![plain(0, 2), plain(2, 1)])]);
    let Some(Taken::Fetched(fetched)) = bench.fetcher.take(bench.now, |_| true) else { panic!("nothing to take") };
    let (id, generation) = (fetched.partition, fetched.generation);
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 3, "it reads on");
    assert!(bench.fetcher.advance(&id, generation, Position::at(Offset::new(2))));
    bench.fetcher.refetch(bench.now, &id, generation);
    assert!(bench.fetcher.is_current(&id, generation), "the application may still go back");
    bench.answer(9, vec![data(0, vec![plain(3, 1)])]);
    assert!(!bench.fetcher.has_ready(), "what was asked for before is passed over");
    assert!(bench.try_fetch().is_none(), "not at once");
    bench.now += Duration::from_secs(2);
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 2);
}

// C-6
#[test]
fn a_refusal_is_told_of_once_and_tried_again_only_after_a_while() {
    let mut bench = Bench::at(3);
    bench.fetch();
    bench.answer(0, vec![refused(0, ErrorCode::TOPIC_AUTHORIZATION_FAILED)]);
    assert!(bench.try_fetch().is_none());
    let failure = bench.problem();
    assert_eq!(failure.problem, FetchProblem::Refused(ErrorCode::TOPIC_AUTHORIZATION_FAILED));
    assert!(bench.try_fetch().is_none(), "no spin");
    bench.now += Duration::from_secs(1);
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 3);
}

#[test]
fn a_paused_partition_is_not_fetched_and_keeps_what_it_has() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(0, 2)])]);
    bench.fetcher.pause(&place(0));
    assert!(bench.try_fetch().is_none());
    assert_eq!(bench.take(), []);
    bench.fetcher.resume(&place(0));
    assert_eq!(bench.take(), [(vec![0], 2)]);
}

// Found by simulation: a member was thrown out and got its partition again while its application was busy. The application then took up the
// revocation from before, and what was its own again was read by nobody.
#[test]
fn a_revocation_from_before_takes_nothing_that_was_added_since() {
    let mut bench = Bench::new(|_| {});
    bench.fetcher.add([place(0), place(1)]);
    let told = bench.fetcher.last_generation();
    bench.fetcher.remove(&[place(0)]);
    bench.fetcher.add([place(0)]);
    bench.fetcher.remove_as_of(&[place(0), place(1)], told);
    assert!(bench.fetcher.contains(&place(0)) && !bench.fetcher.contains(&place(1)));
}

// Found by simulation: the membership was lost by the application's own commit, before the driver knew. What was buffered of the partitions
// that the application then gave up came out as if they had still been its own.
#[test]
fn what_is_revoked_and_not_added_since_is_gone_though_it_was_moved() {
    let mut bench = Bench::at(0);
    let told = bench.fetcher.last_generation();
    bench.fetcher.seek(&place(0), Position::at(Offset::new(5)));
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(5, 2)])]);
    assert!(bench.fetcher.has_ready());
    bench.fetcher.remove_as_of(&[place(0)], told);
    assert_eq!(bench.take(), []);
    assert!(!bench.fetcher.contains(&place(0)) && bench.try_fetch().is_none());
}
