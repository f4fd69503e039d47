//! What a failure leaves behind, by its handler's answer.

use super::fixture::Fixture;
use millstream_processor_core::failure::{
    Handlers, OnDeserializationFailure, OnProcessingFailure, OnProductionFailure, ProcessingFailure,
};
use millstream_processor_core::task::Progress;
use millstream_processor_core::{Context, Processor, ProcessorResult, Record, StreamsBuilder, Topology};
use millstream_protocol::Timestamp;
use millstream_state::{KeyValueStore, key_value};
use std::time::Duration;

/// Stores and sends, then fails at `bad`.
struct Careless {
    store: KeyValueStore<String, String>,
}
impl Processor for Careless {
    type In = Record<String, String>;
    type Out = Record<String, String>;

    fn process(&mut self, record: Self::In, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        let value = record.value.clone();
        self.store.put(&record.key, &value)?;
        ctx.request_commit();
        ctx.forward(record);
        if value.starts_with("bad") { Err("it is bad".into()) } else { Ok(()) }
    }
}
fn careless() -> Topology {
    let mut topology = Topology::builder();
    let store = topology.add_state_store(key_value::<String, String>("seen"));
    let source = topology.add_source::<String, String>("source", "in");
    let node = topology.add_processor_with("careless", &source, &store, |store| Careless { store });
    topology.add_sink("sink", &node, "out");
    topology.build().unwrap()
}
fn answer(answer: OnProcessingFailure) -> Handlers {
    Handlers::default().on_processing_failure(answer)
}
/// The keys that a freeze would write to the changelog.
fn dirty(fixture: &Fixture) -> Vec<String> {
    let Some(freeze) = fixture.task.commits().freeze().unwrap() else { return Vec::new() };
    let records = freeze.stores.iter().flat_map(|frozen| frozen.changelog());
    records.map(|record| record.key.escape_ascii().to_string()).collect()
}

#[test]
fn failed_task_stands_before_the_record_with_nothing_of_it() {
    let mut fixture = Fixture::new(&careless(), Handlers::default());
    fixture.feed("in", &["a=1@1", "b=bad@2", "c=3@3"]);
    let error = fixture.task.process(Timestamp::EPOCH, 9).unwrap_err();
    assert_eq!(error.to_string(), "task 0_0: processing failed");
    assert_eq!(error.node.as_deref(), Some("careless"));
    assert_eq!(fixture.sent.take(), ["out a=1@1"]);
    assert_eq!((fixture.next_offset(), dirty(&fixture)), (Some(1), vec!["a".to_owned()]));
}
#[test]
fn skipped_record_leaves_nothing_but_its_offset() {
    let mut fixture = Fixture::new(&careless(), answer(OnProcessingFailure::Skip));
    fixture.feed("in", &["a=1@1", "b=bad@2", "c=3@3"]);
    fixture.task.process(Timestamp::EPOCH, 9).unwrap();
    assert_eq!(fixture.sent.take(), ["out a=1@1", "out c=3@3"]);
    assert_eq!(dirty(&fixture), ["a", "c"]);
    assert_eq!((fixture.next_offset(), fixture.task.dropped_records()), (Some(3), 1));
}
#[test]
fn continued_record_keeps_what_was_done_before() {
    let mut fixture = Fixture::new(&careless(), answer(OnProcessingFailure::Continue));
    fixture.feed("in", &["b=bad@2"]);
    fixture.task.process(Timestamp::EPOCH, 9).unwrap();
    assert_eq!(fixture.sent.take(), ["out b=bad@2"]);
    assert_eq!((dirty(&fixture), fixture.task.dropped_records()), (vec!["b".to_owned()], 1));
}
#[test]
fn dead_letter_is_all_that_is_sent_and_says_where_it_is_from() {
    let mut fixture = Fixture::new(&careless(), answer(OnProcessingFailure::DeadLetter("dead".to_owned())));
    fixture.feed("in", &["a=1@1", "b=bad@2"]);
    fixture.task.process(Timestamp::EPOCH, 9).unwrap();
    let headers = fixture.sent.headers(1);
    assert_eq!(fixture.sent.take(), ["out a=1@1", "dead b=bad@2"]);
    assert_eq!(dirty(&fixture), ["a"]);
    assert_eq!(headers.last("__streams.errors.message"), Some(&b"it is bad"[..]));
    assert_eq!(headers.last("__streams.errors.topic"), Some(&b"in"[..]));
    assert_eq!(headers.last("__streams.errors.offset"), Some(&b"1"[..]));
}
#[test]
fn retried_record_waits_and_the_others_behind_it() {
    let handlers = Handlers::default().on_processing_failure(|failure: &ProcessingFailure| match failure.attempts {
        1 => OnProcessingFailure::Retry(Duration::from_millis(10)),
        _ => OnProcessingFailure::Skip,
    });
    let mut fixture = Fixture::new(&careless(), handlers);
    fixture.feed("in", &["b=bad@2", "c=3@3"]);
    let now = Timestamp::from_millis;
    assert_eq!(fixture.task.process(now(5), 9).unwrap().progress, Progress::Retrying(now(15)));
    assert_eq!(fixture.task.process(now(14), 9).unwrap().records, 0);
    assert!(!fixture.task.commits().is_commit_requested(), "what the record asked for is undone too");
    assert_eq!(fixture.task.process(now(15), 9).unwrap().records, 2);
    assert_eq!(fixture.sent.take(), ["out c=3@3"]);
    assert_eq!(dirty(&fixture), ["c"]);
}
#[test]
fn undecodable_record_goes_to_the_dead_letters() {
    let builder = StreamsBuilder::new();
    builder.stream::<String, i64>("in").to("out");
    let answer = OnDeserializationFailure::DeadLetter("dead".to_owned());
    let handlers = Handlers::default().on_deserialization_failure(answer);
    let mut fixture = Fixture::new(&builder.build().unwrap(), handlers);
    fixture.feed("in", &["a=12345678@1", "b=short@2"]);
    fixture.task.process(Timestamp::EPOCH, 9).unwrap();
    assert_eq!(fixture.sent.take(), ["out a=12345678@1", "dead b=short@2"]);
    assert_eq!(fixture.next_offset(), Some(2));
}
#[test]
fn record_that_the_collector_refuses_is_the_production_handlers() {
    let handlers = Handlers::default().on_production_failure(OnProductionFailure::Continue);
    let mut fixture = Fixture::new(&careless(), handlers);
    fixture.sent.refuse("out");
    fixture.feed("in", &["a=1@1"]);
    fixture.task.process(Timestamp::EPOCH, 9).unwrap();
    assert_eq!((dirty(&fixture), fixture.task.dropped_records()), (vec!["a".to_owned()], 1));
}
#[test]
fn dead_letter_that_the_collector_refuses_stops_the_task() {
    let mut fixture = Fixture::new(&careless(), answer(OnProcessingFailure::DeadLetter("dead".to_owned())));
    fixture.sent.refuse("dead");
    fixture.feed("in", &["b=bad@2"]);
    let error = fixture.task.process(Timestamp::EPOCH, 9).unwrap_err();
    assert_eq!(error.to_string(), "task 0_0: a record for topic `dead` could not be written");
    assert_eq!(fixture.next_offset(), None);
}
