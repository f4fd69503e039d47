//! Logs that part from what was read (KIP-320).

use super::*;
use millstream_protocol::messages::OffsetForLeaderEpochResponse;
use millstream_protocol::messages::offset_for_leader_epoch_response::OffsetForLeaderTopicResult;

// C-10: what waited in the buffer was handed out after the position had gone back, and the application's place went on behind it: what lies at
// these offsets now was then taken for read.
#[test]
fn what_waits_of_a_log_that_is_lost_is_not_handed_out() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(0, 2), plain(2, 2)])]);
    bench.fetch();
    let mut parted = data(0, Vec::new());
    parted.diverging_epoch = EpochEndOffset { epoch: 5, end_offset: 2, ..Default::default() };
    bench.answer(0, vec![parted]);
    assert!(bench.take().is_empty());
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 0, "the application has nothing yet");
    bench.answer(0, vec![data(0, vec![plain(0, 2), plain(2, 1)])]);
    assert_eq!(bench.take(), [(vec![0, 2], 3)]);
}

// C-10: the same of what was taken already and is not yet with the application.
#[test]
fn what_was_taken_of_a_log_that_is_lost_does_not_count() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(0, 4)])]);
    let Some(Taken::Fetched(taken)) = bench.fetcher.take(bench.now, |_| true) else { panic!("nothing is taken") };
    bench.fetch();
    let mut parted = data(0, Vec::new());
    parted.diverging_epoch = EpochEndOffset { epoch: 5, end_offset: 2, ..Default::default() };
    bench.answer(0, vec![parted]);
    assert!(!bench.fetcher.advance(&taken.partition, taken.generation, taken.next));
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 0);
}

// C-10
#[test]
fn a_log_that_parts_from_what_was_read_moves_the_position_back() {
    for (reset, told) in [(OffsetReset::Latest, false), (OffsetReset::None, true)] {
        let mut bench = Bench::new(|config| config.reset = reset);
        bench.fetcher.add_at(place(0), Position::after(Offset::new(50), Some(LeaderEpoch::new(4))));
        bench.fetcher.streams.entry(STREAM).or_default().version = Some(VERSION);
        assert_eq!(bench.fetch().topics[0].partitions[0].last_fetched_epoch, 4);
        let mut data = data(0, Vec::new());
        data.diverging_epoch = EpochEndOffset { epoch: 3, end_offset: 40, ..Default::default() };
        bench.answer(0, vec![data]);
        if told {
            assert_eq!(bench.problem().problem, FetchProblem::Truncated { end: 40 });
        } else {
            assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 40);
        }
    }
}

// C-10: an older term that ends behind the position still parts from what was read; nothing unread may be passed over.
#[test]
fn a_log_that_parts_behind_the_position_passes_over_nothing() {
    let mut bench = Bench::new(|config| config.reset = OffsetReset::Latest);
    bench.fetcher.add_at(place(0), Position::after(Offset::new(50), Some(LeaderEpoch::new(4))));
    bench.fetcher.streams.entry(STREAM).or_default().version = Some(VERSION);
    bench.fetch();
    let mut data = data(0, Vec::new());
    data.diverging_epoch = EpochEndOffset { epoch: 3, end_offset: 70, ..Default::default() };
    bench.answer(0, vec![data]);
    let asked = bench.fetch().topics[0].partitions[0].clone();
    assert_eq!((asked.fetch_offset, asked.last_fetched_epoch), (50, 3));
}

fn of_term(epoch: i32, base: i64, count: usize) -> Bytes {
    batch_of_term(epoch, base, count, &Stamp::plain())
}

/// An answer that says: up to the term asked for, the leader's log has this one at the last, and ends it here.
fn parted(epoch: i32, end_offset: i64) -> PartitionData {
    let mut parted = data(0, Vec::new());
    parted.diverging_epoch = EpochEndOffset { epoch, end_offset, ..Default::default() };
    parted
}

// C-10: of two nodes that had each led without the other, the one with the older term and the longer log led again. The position lay inside its
// log, so reading went on there, and what lay before it in place of what had been read was never read.
#[test]
fn a_longer_log_of_an_older_term_is_read_from_where_it_parts() {
    for is_taken in [true, false] {
        let mut bench = Bench::at(0);
        bench.fetch();
        bench.answer(0, vec![data(0, vec![of_term(3, 0, 2), of_term(5, 2, 2)])]);
        if is_taken {
            assert_eq!(bench.take(), [(vec![0, 2], 4)]);
        }
        assert_eq!(bench.fetch().topics[0].partitions[0].last_fetched_epoch, 5);
        bench.answer(0, vec![parted(4, 70)]);
        let asked = bench.fetch().topics[0].partitions[0].clone();
        let expected = if is_taken { (2, 3) } else { (0, -1) };
        assert_eq!((asked.fetch_offset, asked.last_fetched_epoch), expected, "taken: {is_taken}");
        bench.answer(0, vec![data(0, vec![of_term(3, 0, 2), of_term(4, 2, 3)])]);
        assert_eq!(bench.take().last().map(|(_, next)| *next), Some(5));
    }
}

// C-10: the same where the broker does not look by itself. Java's consumer takes such an answer for a proof that nothing is lost.
#[test]
fn a_longer_log_of_an_older_term_is_found_where_the_broker_does_not_look_by_itself() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![of_term(3, 0, 2), of_term(5, 2, 2)])]);
    bench.take();
    bench.fetcher.streams.entry(STREAM).or_default().version = Some(11);
    bench.image = image(1, 6);
    for (asked, answer, then) in [(5, (4, 70), None), (3, (3, 2), Some(2))] {
        assert!(bench.try_fetch().is_none(), "it is to be checked first");
        let validation = bench.fetcher.poll_validation(bench.now, &bench.image).expect("a question");
        assert_eq!(validation.request().topics[0].partitions[0].leader_epoch, asked);
        bench.fetcher.handle_validation(bench.now, &validation, Some(&end_of_term(answer)));
        if let Some(offset) = then {
            assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, offset);
        }
    }
}

fn end_of_term((epoch, end_offset): (i32, i64)) -> OffsetForLeaderEpochResponse {
    let end = millstream_protocol::messages::offset_for_leader_epoch_response::EpochEndOffset::default()
        .with_partition(0)
        .with_leader_epoch(epoch)
        .with_end_offset(end_offset);
    let topic = OffsetForLeaderTopicResult::default().with_topic(text("t").into()).with_partitions(vec![end]);
    OffsetForLeaderEpochResponse::default().with_topics(vec![topic])
}

// C-10: it was tried again without its term, so that a leader whose log had parted meanwhile could not tell.
#[test]
fn a_position_keeps_its_term_over_a_batch_that_cannot_be_read() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![of_term(5, 0, 2)])]);
    bench.take();
    for corrupt in [&b"this is no batch at all, however long it may become in the end"[..], &b"nor this"[..]] {
        bench.fetch();
        bench.answer(0, vec![data(0, vec![Bytes::from_static(corrupt)])]);
        bench.problem();
        bench.now += Duration::from_secs(2);
    }
    let asked = bench.fetch().topics[0].partitions[0].clone();
    assert_eq!((asked.fetch_offset, asked.last_fetched_epoch), (2, 5));
}

// C-10: a position whose term is known is checked before a broker that may not look by itself is asked.
#[test]
fn a_position_is_checked_first_where_the_broker_may_not_look_by_itself() {
    let mut bench = Bench::new(|_| {});
    bench.fetcher.add_at(place(0), Position::after(Offset::new(50), Some(LeaderEpoch::new(4))));
    assert!(bench.try_fetch().is_none());
    let validation = bench.fetcher.poll_validation(bench.now, &bench.image).expect("a question");
    assert_eq!(validation.request().topics[0].partitions[0].leader_epoch, 4);
    bench.fetcher.handle_validation(bench.now, &validation, None);
    assert!(bench.try_fetch().is_none(), "silence proves nothing");
    bench.now += Duration::from_secs(1);
    let validation = bench.fetcher.poll_validation(bench.now, &bench.image).expect("the question again");
    bench.fetcher.handle_validation_unsupported(&validation);
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 50);
}
