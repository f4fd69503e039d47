//! Graphs that are refused.

use super::logic::Logic;
use super::{Setup, Text, TextRecord, nodes, streams};
use millstream_processor_core::{Consumed, NoOutput, OffsetReset, Topology};
use millstream_state::key_value;

pub(crate) fn build(case: &str) -> Option<Setup> {
    Some(match case {
        "build-error-two-sources-one-topic" => nodes(|topology, _| {
            topology.add_source::<Text, Text>("a", "t");
            topology.add_source::<Text, Text>("b", "t");
        }),
        "build-error-same-name-twice" => nodes(|topology, _| {
            let source = topology.add_source::<Text, Text>("a", "t");
            topology.add_processor("a", &source, sink);
        }),
        "build-error-unknown-parent" => nodes(|topology, _| {
            topology.add_source::<Text, Text>("a", "t");
            let elsewhere = Topology::builder().add_source::<Text, Text>("nosuch", "t");
            topology.add_processor("p", &elsewhere, sink);
        }),
        "build-error-same-store-name-twice" => nodes(|topology, _| {
            let source = topology.add_source::<Text, Text>("a", "t");
            topology.add_processor("p", &source, sink);
            topology.add_state_store(key_value::<Text, Text>("st"));
            topology.add_state_store(key_value::<Text, i64>("st"));
        }),
        "build-error-two-reset-policies-one-topic" => streams(|builder, _| {
            let from = |reset| Consumed::<Text, Text>::from("t").offset_reset(reset);
            builder.stream(from(OffsetReset::Earliest)).to("o1");
            builder.stream(from(OffsetReset::Latest)).to("o2");
        }),
        "build-error-two-suppliers-two-builders-one-store-name" => streams(|builder, _| {
            let longs = builder.add_state_store(key_value::<String, i64>("st").in_memory());
            let texts = builder.add_state_store(key_value::<String, String>("st").in_memory());
            builder.stream::<Text, Text>("in").process_with(&longs, |_| sink());
            builder.stream::<Text, Text>("in2").process_with(&texts, |_| sink());
        }),
        _ => return None,
    })
}
fn sink() -> Logic<TextRecord, NoOutput> {
    Logic::new(|_, _| Ok(()))
}
