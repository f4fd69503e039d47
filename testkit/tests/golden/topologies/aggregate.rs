//! Aggregates of streams.

use super::{Setup, Text, shown, streams, text};
use millstream_processor_core::dsl::{Grouped, KGroupedStream};

pub(crate) fn build(case: &str) -> Option<Setup> {
    Some(match case {
        "aggregate-count-stream" => streams(|builder, _| {
            builder.stream::<Text, Text>("in").group_by_key().count_with("c").to("out");
        }),
        "random-count" => streams(|builder, _| {
            builder.stream::<Text, Text>("in").group_by_key().count_with("n").to("out");
        }),
        "caching-no-cache-same-topology" => streams(|builder, _| {
            builder
                .stream::<Text, Text>("in")
                .flat_map_values(|value| shown(&value).split(',').map(text).collect::<Vec<_>>())
                .group_by_key()
                .count_with("c")
                .to("out");
        }),
        "aggregate-reduce-stream-headers" => streams(|builder, _| {
            let grouped = builder.stream::<Text, Text>("in").group_by_key();
            grouped.reduce_with(|old, new| text(format!("{},{}", shown(&old), shown(&new))), "r").to("out");
        }),
        "aggregate-stream" => streams(|builder, _| {
            builder
                .stream::<Text, Text>("in")
                .group_by_key()
                .try_aggregate_with(
                    || Some(0_i64),
                    |_, value: Text, sum| {
                        *sum = match shown(&value) {
                            "del" => None,
                            number => Some(sum.unwrap_or(0) + number.parse::<i64>()?),
                        };
                        Ok::<_, std::num::ParseIntError>(())
                    },
                    "sum",
                )
                .to("out");
        }),
        "aggregate-two-from-one-grouping" => streams(|builder, _| {
            let rekeyed = builder.stream::<Text, Text>("in").select_key(|_, value| first_character(value));
            let grouped = rekeyed.group_by_key_with(Grouped::named("g"));
            grouped.count_with("n").to("out1");
            concatenated(&grouped, "cat", "out2");
        }),
        _ => return None,
    })
}

pub(super) fn first_character(text: &Text) -> Text {
    text.as_ref()?.chars().next().map(String::from)
}
pub(super) fn concatenated(grouped: &KGroupedStream<Text, Text>, store: &str, topic: &str) {
    let add = |_: &Text, value: Text, all: &mut String| all.push_str(shown(&value));
    grouped.aggregate_with(String::new, add, store).to(topic);
}
