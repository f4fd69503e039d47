//! What a record's time is.

use super::{Setup, Text, streams};
use millstream_processor_core::{
    Consumed, SkipOnInvalidTimestamp, TimestampExtractor, UsePartitionTimeOnInvalidTimestamp,
};

pub(crate) fn build(case: &str) -> Option<Setup> {
    Some(match case {
        "time-invalid-timestamp-fails-by-default" => streams(|builder, _| builder.stream::<Text, Text>("in").to("out")),
        "time-log-and-skip-on-invalid" => streams(|builder, _| {
            builder.stream(read("in", SkipOnInvalidTimestamp)).to("out");
        }),
        "time-use-partition-time-on-invalid" => streams(|builder, _| {
            let one = builder.stream(read("in1", UsePartitionTimeOnInvalidTimestamp));
            one.merge(&builder.stream(read("in2", UsePartitionTimeOnInvalidTimestamp))).to("out");
        }),
        _ => return None,
    })
}
fn read(topic: &str, extractor: impl TimestampExtractor<Text, Text>) -> Consumed<Text, Text> {
    Consumed::from(topic).timestamp_extractor(extractor)
}
