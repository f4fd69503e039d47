//! Which record is next, and when a task has none.

use super::fixture::Fixture;
use millstream_processor_core::failure::Handlers;
use millstream_processor_core::task::Progress;
use millstream_processor_core::{StreamsBuilder, Topology};
use millstream_protocol::Timestamp;

fn merged() -> Topology {
    let builder = StreamsBuilder::new();
    let (a, b) = (builder.stream::<String, String>("a"), builder.stream::<String, String>("b"));
    a.merge(&b).to("out");
    builder.build().unwrap()
}

#[test]
fn record_of_the_lowest_time_comes_first_and_order_within_a_partition_stays() {
    let mut fixture = Fixture::new(&merged(), Handlers::default());
    fixture.feed("a", &["a=1@5", "a=2@3"]);
    fixture.feed("b", &["b=1@4", "b=2@9"]);
    let step = fixture.task.process(Timestamp::EPOCH, 10).unwrap();
    assert_eq!((step.records, step.progress), (4, Progress::Idle));
    assert_eq!(fixture.sent.take(), ["out b=1@4", "out a=1@5", "out a=2@3", "out b=2@9"]);
    assert_eq!(fixture.task.stream_time(), Timestamp::from_millis(9));
}
#[test]
fn full_collector_parks_the_task_before_the_next_record() {
    let mut fixture = Fixture::new(&merged(), Handlers::default());
    fixture.feed("a", &["a=1@5", "a=2@6"]);
    assert_eq!(fixture.task.process(Timestamp::EPOCH, 1).unwrap().progress, Progress::Ready);
    fixture.sent.set_full(true);
    assert_eq!(fixture.task.process(Timestamp::EPOCH, 1).unwrap().progress, Progress::Parked);
    fixture.sent.set_full(false);
    assert_eq!(fixture.task.process(Timestamp::EPOCH, 9).unwrap().records, 1);
    assert_eq!(fixture.sent.take().len(), 2);
}
#[test]
fn position_passes_gaps_and_markers_at_the_end() {
    let mut fixture = Fixture::new(&merged(), Handlers::default());
    fixture.feed("a", &["a=1@5"]);
    fixture.feed_end("a", 4);
    fixture.task.process(Timestamp::EPOCH, 9).unwrap();
    assert_eq!(fixture.next_offset(), Some(4), "a marker lies behind the record");
    fixture.feed_end("a", 6);
    fixture.task.process(Timestamp::EPOCH, 9).unwrap();
    assert_eq!(fixture.next_offset(), Some(6));
}
#[test]
fn buffered_bytes_are_given_back_when_records_are_done() {
    let mut fixture = Fixture::new(&merged(), Handlers::default());
    let waiting = |fixture: &Fixture| fixture.task.buffered().map(|(_, bytes)| bytes).sum::<usize>();
    fixture.feed("a", &["a=1@5", "a=2@6"]);
    assert!(waiting(&fixture) > 0);
    fixture.task.process(Timestamp::EPOCH, 9).unwrap();
    assert_eq!(waiting(&fixture), 0);
    assert!(fixture.task.is_drained());
}
