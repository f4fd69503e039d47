//! Fetch sessions, and the fetches beside them.

use super::*;

// C-12
#[test]
fn partitions_that_were_not_asked_for_or_come_twice_are_passed_over() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(0, vec![data(2, vec![plain(0, 1)]), data(0, vec![plain(0, 1)]), data(0, vec![plain(0, 1)])]);
    assert_eq!(bench.take(), [(vec![0], 1)]);
}

// C-11
#[test]
fn a_session_tells_only_what_changed_and_starts_anew_after_an_error() {
    let mut bench = Bench::at(0);
    bench.fetcher.add_at(place(1), Position::at(Offset::new(0)));
    let full = bench.fetch();
    assert_eq!((full.session_id, full.session_epoch, full.topics[0].partitions.len()), (0, 0, 2));
    bench.answer(77, vec![data(0, vec![plain(0, 1)])]);
    bench.fetcher.remove([&place(1)]);
    let next = bench.fetch();
    let asked: Vec<i32> = next.topics[0].partitions.iter().map(|partition| partition.partition).collect();
    assert_eq!((next.session_id, next.session_epoch, asked), (77, 1, vec![0]));
    assert_eq!(next.forgotten_topics_data[0].partitions, [1]);
    let answer = FetchResponse { error_code: ErrorCode::FETCH_SESSION_ID_NOT_FOUND.get(), ..Default::default() };
    bench.fetcher.handle_fetch(bench.now, STREAM, Outcome::Answered(VERSION, Box::new(answer)));
    bench.now += Duration::from_secs(1);
    let again = bench.fetch();
    assert_eq!((again.session_id, again.session_epoch, again.topics[0].partitions[0].fetch_offset), (0, 0, 1));
}

/// Partition 1 becomes readable, from offset 7, while 0 is waited for; and the stream that is free for it.
fn joined_by_another() -> (Bench, Stream) {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.fetcher.add_at(place(1), Position::at(Offset::new(7)));
    let beside = *bench.streams().first().expect("one is free");
    (bench, beside)
}

// C-14
#[test]
fn a_partition_that_becomes_readable_does_not_wait_for_a_long_poll() {
    let (mut bench, beside) = joined_by_another();
    assert!(beside.is_beside());
    let request = bench.fetch_in(beside);
    assert_eq!((request.session_id, request.session_epoch, asked(&request)), (0, -1, vec![1]));
    assert_eq!(bench.streams(), [], "both are asked for");
    bench.answer(9, vec![data(0, vec![])]);
    let request = bench.fetch();
    assert_eq!(
        (request.session_id, request.session_epoch, asked(&request)),
        (9, 1, vec![]),
        "partition 1 is under way"
    );
    bench.answer_in(beside, 0, vec![data(1, vec![plain(7, 2)])]);
    assert_eq!(bench.take(), [(vec![7], 9)]);
    let request = bench.fetch_in(beside);
    assert_eq!(asked(&request), [1], "there may be more");
    assert_eq!(request.max_wait_ms, 50, "a tenth of what a session waits");
}

// C-14. Beside a long poll that had just begun, a partition was asked for once; when that brought nothing, what was written to it a moment
// later came only after the long poll, and after the next one, if the fetch beside the first was on its way when that ended.
#[test]
fn a_quiet_partition_is_asked_for_beside_a_long_poll_until_the_session_takes_it_back() {
    let (mut bench, beside) = joined_by_another();
    bench.fetch_in(beside);
    bench.answer_in(beside, 0, vec![data(1, vec![])]);
    assert_eq!(bench.streams(), [beside], "partition 0 is still waited for");
    assert_eq!(asked(&bench.fetch_in(beside)), [1], "and 1 again beside it");
    bench.answer(9, vec![]);
    assert_eq!(asked(&bench.fetch()), [1], "0 is there already");
    assert_eq!(bench.streams(), [], "so that the one beside it is the last");
    bench.answer_in(beside, 0, vec![data(1, vec![])]);
    assert_eq!(bench.streams(), []);
    bench.answer(9, vec![data(1, vec![plain(7, 2)])]);
    assert_eq!(bench.take(), [(vec![7], 9)]);
    assert_eq!(asked(&bench.fetch()), [1], "from its new place");
}

// C-14, C-16
#[test]
fn what_the_session_took_back_is_filed_once_though_both_bring_it() {
    for session_first in [false, true] {
        let mut bench = Bench::at(0);
        bench.fetch();
        bench.fetcher.add_at(place(1), Position::at(Offset::new(7)));
        let beside = *bench.streams().first().expect("one is free");
        bench.fetch_in(beside);
        bench.answer_in(beside, 0, vec![data(1, vec![])]);
        bench.fetch_in(beside);
        bench.answer(9, vec![]);
        bench.fetch();
        let mut streams = [beside, STREAM];
        if session_first {
            streams.reverse();
        }
        for stream in streams {
            bench.answer_in(stream, 9, vec![data(1, vec![plain(7, 2)])]);
        }
        assert_eq!(bench.take(), [(vec![7], 9)]);
        assert_eq!(bench.fetcher.buffered_bytes(), 0);
        assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 9);
    }
}

// C-13
#[test]
fn a_topic_without_an_id_is_named_and_the_session_starts_anew() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(77, Vec::new());
    bench.image = image_of(1, 5, Uuid::nil());
    let plan = bench.fetcher.poll_fetch(bench.now, STREAM, &bench.image).expect("a plan");
    assert_eq!(plan.max_version(), Some(12));
    let request = plan.request(12);
    assert_eq!((request.session_id, request.topics[0].topic.as_str()), (0, "t"));
}
