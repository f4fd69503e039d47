//! Names that the DSL gives, and those that it is given.

use millstream_processor_core::dsl::TopologyOptions;
use millstream_processor_core::{InternalTopicKind, KTable, StreamsBuilder, Topology, TopologyError};

fn build(add: impl Fn(&StreamsBuilder)) -> Result<Topology, TopologyError> {
    let builder = StreamsBuilder::new();
    add(&builder);
    builder.build()
}
fn count_by_value(builder: &StreamsBuilder) -> KTable<String, i64> {
    builder.stream::<String, String>("in").group_by(|_, value| value.clone()).count()
}
/// Names and partitions of the internal topics, where `in` has four partitions.
fn internal_topics(topology: &Topology) -> Vec<(String, usize, InternalTopicKind)> {
    let topics = topology.internal_topics("app", |topic| (topic == "in").then_some(4)).unwrap();
    topics.into_iter().map(|topic| (topic.name.to_string(), topic.partitions, topic.kind)).collect()
}

#[test]
fn adding_an_operator_renames_no_topic() {
    let plain = build(|builder| count_by_value(builder).to("out")).unwrap();
    let more = build(|builder| {
        builder.stream::<String, String>("in").peek(|_, _| ()).filter(|_, _| true).to("copies");
        count_by_value(builder).to("out");
    });
    assert_eq!(internal_topics(&plain), internal_topics(&more.unwrap()));
}
#[test]
fn name_behind_an_aggregate_names_its_store_and_topics() {
    let topology = build(|builder| count_by_value(builder).named("words").to("out")).unwrap();
    assert_eq!(
        internal_topics(&topology),
        [
            ("app-words-repartition".to_owned(), 4, InternalTopicKind::Repartition),
            ("app-words-changelog".to_owned(), 4, InternalTopicKind::Changelog),
        ]
    );
}
#[test]
fn unknown_source_topic_is_named() {
    let topology = build(|builder| count_by_value(builder).to("out")).unwrap();
    let missing = topology.internal_topics("app", |_| None).unwrap_err();
    assert_eq!(missing, ["in"]);
}
#[test]
fn names_may_be_asked_for() {
    let builder = StreamsBuilder::with_options(TopologyOptions::default().require_names());
    count_by_value(&builder);
    let problems = builder.build().unwrap_err();
    assert_eq!(problems.problems().len(), 2, "{problems}");
    let builder = StreamsBuilder::with_options(TopologyOptions::default().require_names());
    count_by_value(&builder).named("words");
    assert!(builder.build().is_ok());
}
#[test]
fn all_problems_come_at_once() {
    let mut topology = Topology::builder();
    let source = topology.add_source::<String, String>("source", "in");
    topology.add_source::<String, i64>("source", "in");
    topology.add_sink("a sink", &source, "out");
    let error = topology.build().unwrap_err();
    assert_eq!(
        error.problems(),
        [
            "node `source`: there is another node of this name",
            "node `a sink`: a name may have ASCII letters, digits, `.`, `_` and `-` only",
            "source `source`: topic `in` is read by source `source` already",
        ]
    );
}
