//! Names of internal topics, stores and nodes.

use super::aggregate::{concatenated, first_character};
use super::logic::Logic;
use super::{Setup, Text, TextRecord, Trace, nodes, shown, streams, text};
use millstream_processor_core::dsl::{Grouped, TopologyOptions};
use millstream_processor_core::{StreamsBuilder, TopologyBuilder};
use millstream_state::key_value;

pub(crate) fn build(case: &str) -> Option<Setup> {
    Some(match case {
        "naming-repartitions-unoptimized" => streams(|builder, _| repartitions(builder, None)),
        "naming-repartitions-named-unoptimized" => streams(|builder, _| {
            repartitions(builder, Some(("y-count", "y-cat")));
        }),
        "naming-describe-subtopologies-order-and-merge" => nodes(joined_by_a_store),
        "naming-explicit-naming-enforced" => {
            let builder = StreamsBuilder::with_options(TopologyOptions::default().kafka_names().require_names());
            let rekeyed = builder.stream::<Text, Text>("in").select_key(|_, value| value.clone());
            rekeyed.group_by_key().count().to("out");
            Setup::new(builder.build(), &Trace::default())
        }
        _ => return None,
    })
}

fn repartitions(builder: &StreamsBuilder, names: Option<(&str, &str)>) {
    let rekeyed = builder.stream::<Text, Text>("in").select_key(|_, value| first_character(value));
    let grouped = |name: Option<&str>| match name {
        Some(name) => rekeyed.group_by_key_with(Grouped::named(name)),
        None => rekeyed.group_by_key(),
    };
    grouped(names.map(|(count, _)| count)).count_with("n").to("out1");
    let combine = |old: Text, new: Text| text(format!("{}{}", shown(&old), shown(&new)));
    grouped(names.map(|(_, cat)| cat)).reduce_with(combine, "r").to("out2");
    let louder = rekeyed.map_values(|value| text(format!("{}!", shown(&value))));
    concatenated(&louder.group_by_key(), "a", "out3");
}
fn joined_by_a_store(topology: &mut TopologyBuilder, _trace: &Trace) {
    let pass = || {
        Logic::<TextRecord, TextRecord>::new(|record, ctx| {
            ctx.forward(record);
            Ok(())
        })
    };
    let store = topology.add_state_store(key_value::<Text, Text>("q"));
    let z = topology.add_source::<Text, Text>("z", "tz");
    let a = topology.add_source::<Text, Text>("a", "ta");
    let m = topology.add_source::<Text, Text>("m", "tm");
    let pz = topology.add_processor_with("pz", &z, &store, move |_| pass());
    let pa = topology.add_processor_with("pa", &a, &store, move |_| pass());
    let pm = topology.add_processor("pm", &m, pass);
    topology.add_sink("kz", &pz, "o1");
    topology.add_sink("ka", &pa, "o2");
    topology.add_sink("km", &pm, "o3");
}
