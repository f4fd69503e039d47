//! Failures and their handlers.

use super::logic::Logic;
use super::{Setup, Text, TextRecord, Trace, nodes, streams, text};
use bytes::{Bytes, BytesMut};
use millstream_processor_core::failure::{
    Handlers, OnDeserializationFailure, OnProcessingFailure, OnProductionFailure, Origin, ProcessingFailure,
    ProductionFailure,
};
use millstream_processor_core::{NoOutput, PunctuationType, Record, SameKey, StreamsBuilder, TaskId, Topic};
use millstream_state::serde::{Part, Utf8, nullable};
use millstream_state::{Serde, SerdeContext, SerdeError};
use std::time::Duration;

pub(crate) fn build(case: &str) -> Option<Setup> {
    let longs = || streams(|builder, _| builder.stream::<String, i64>("in").to("out"));
    let skipping = || Handlers::default().on_deserialization_failure(OnDeserializationFailure::Continue);
    let continuing = || Handlers::default().on_processing_failure(OnProcessingFailure::Continue);
    Some(match case {
        "error-deserialization-fails-by-default" => longs(),
        "error-deserialization-continue" => streams(offsets).handlers(skipping()),
        "error-deserialization-continue-dlq-topic" => longs().handlers(skipping().dead_letter_queue("dlq")),
        "error-deserialization-fail-dlq-topic" => {
            let setup = streams(|builder, _| builder.stream::<i64, String>("in").to("out"));
            setup.handlers(Handlers::default().dead_letter_queue("dlq"))
        }
        "error-processing-fails-by-default" => streams(mapper),
        "error-processing-continue" => streams(mapper).handlers(continuing()),
        "error-processing-continue-dlq" => streams(mapper).handlers(continuing().dead_letter_queue("dlq")),
        "error-punctuator-throws-continue" => punctuator_throws(),
        "error-punctuator-throws-fails-by-default" => nodes(|topology, trace| {
            let (source, trace) = (topology.add_source::<Text, Text>("s", "in"), trace.clone());
            topology.add_processor("p", &source, move || {
                let (mut calls, trace) = (0, trace.clone());
                Logic::<TextRecord, NoOutput>::new(|_, _| Ok(()))
                    .init(|ctx| drop(ctx.schedule(Duration::from_millis(10), PunctuationType::WallClockTime)))
                    .punctuate(move |at, _| {
                        trace.note(format!("call {}", at.timestamp.as_millis()));
                        calls += 1;
                        if calls == 2 { Err("oops".into()) } else { Ok(()) }
                    })
            });
        }),
        "error-serialization-fails-by-default" => streams(|builder, _| {
            let out = Topic::with("out", nullable(Utf8), nullable(NoBad));
            builder.stream::<Text, Text>("in").to(&out);
        }),
        "error-serialization-custom-handler-resumes" => production_continues(),
        _ => return None,
    })
}

fn mapper(builder: &StreamsBuilder, _trace: &Trace) {
    builder
        .stream::<Text, Text>("in")
        .try_map_values(|value| match value.as_deref() {
            Some("boom!") => Err("fatal"),
            Some(value) if value.starts_with("boom") => Err("oops"),
            _ => Ok(value.map(|value| value.to_uppercase())),
        })
        .named("mapper")
        .to("out");
}
fn offsets(builder: &StreamsBuilder, trace: &Trace) {
    let trace = trace.clone();
    let seen = builder.stream::<String, Option<i64>>("in").process_values(move || {
        let trace = trace.clone();
        Logic::<Record<String, Option<i64>>, SameKey<Option<i64>>>::new(move |record, ctx| {
            let offset = ctx.record_metadata().map_or(-1, |metadata| metadata.offset.get());
            trace.note(format!("offset {offset} stream {}", ctx.stream_time().as_millis()));
            ctx.emit_value(record.value);
            Ok(())
        })
    });
    seen.to("out");
}
fn punctuator_throws() -> Setup {
    let setup = nodes(|topology, _| {
        let source = topology.add_source::<Text, Text>("s", "in");
        let ticking = topology.add_processor("p", &source, || {
            Logic::<TextRecord, TextRecord>::new(|record, ctx| {
                ctx.forward(record);
                Ok(())
            })
            .init(|ctx| drop(ctx.schedule(Duration::from_millis(10), PunctuationType::StreamTime)))
            .punctuate(|at, ctx| {
                let time = at.timestamp.as_millis();
                ctx.forward(Record::new(text("t"), text(time.to_string()), at.timestamp));
                if time % 2 == 0 { Err("oops".into()) } else { Ok(()) }
            })
        });
        topology.add_sink("k", &ticking, "out");
    });
    let trace = setup.trace.clone();
    setup.handlers(Handlers::default().on_processing_failure(move |failure: &ProcessingFailure| {
        let context = context(&failure.node, failure.task, failure.origin.as_ref(), failure.timestamp.as_millis());
        trace.note(format!("processing {context} record=null error={}", failure.error));
        OnProcessingFailure::Continue
    }))
}
fn production_continues() -> Setup {
    let setup = streams(|builder, _| {
        let out = Topic::with("out", nullable(NoBad), nullable(NoBad));
        builder.stream::<Text, Text>("in").to(&out);
    });
    let trace = setup.trace.clone();
    setup.handlers(Handlers::default().on_production_failure(move |failure: &ProductionFailure| {
        let part = if failure.part == Some(Part::Key) { "KEY" } else { "VALUE" };
        let time = failure.origin.as_ref().map_or(-1, |origin| origin.timestamp.as_millis());
        let context = context(&failure.node, failure.task, failure.origin.as_ref(), time);
        trace.note(format!("production {part} to={} {context}", failure.topic));
        OnProductionFailure::Continue
    }))
}
/// A failure's context, as the cases show it.
fn context(node: &str, task: TaskId, origin: Option<&Origin>, time: i64) -> String {
    let hex = |bytes: Option<&Bytes>| {
        bytes.map_or("null".to_owned(), |bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    };
    let place = origin.map_or("topic=null partition=-1 offset=-1".to_owned(), |origin| {
        let from = &origin.topic_partition;
        format!("topic={} partition={} offset={}", from.topic, from.partition, origin.offset)
    });
    let key = hex(origin.and_then(|origin| origin.key.as_ref()));
    let value = hex(origin.and_then(|origin| origin.value.as_ref()));
    format!("node={node} task={task} {place} ts={time} rawKey={key} rawValue={value}")
}

/// Text, but not `bad`.
struct NoBad;
impl Serde<String> for NoBad {
    fn serialize(&self, value: &String, ctx: &mut SerdeContext<'_>, out: &mut BytesMut) -> Result<(), SerdeError> {
        if value == "bad" {
            return Err(SerdeError::new("bad text"));
        }
        Utf8.serialize(value, ctx, out)
    }
    fn deserialize(&self, bytes: &Bytes, ctx: &SerdeContext<'_>) -> Result<String, SerdeError> {
        Utf8.deserialize(bytes, ctx)
    }
}
