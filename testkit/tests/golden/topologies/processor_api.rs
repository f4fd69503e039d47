//! Processors and their context.

use super::logic::Logic;
use super::{Setup, Text, TextRecord, Trace, nodes, shown, streams, text};
use millstream_processor_core::{
    NoOutput, NodeRef, ProcessorContext, ProcessorResult, PunctuationType, Record, RecordMetadata, SameKey, SideOutput,
    TopologyBuilder,
};
use millstream_protocol::{Headers, Timestamp};
use millstream_state::{KeyValueStore, key_value};
use std::time::Duration;

pub(crate) fn build(case: &str) -> Option<Setup> {
    Some(match case {
        "processor-api-kip28-aggregate-and-punctuate" => nodes(kip_28),
        "processor-api-forward-to-named-child-and-all" => nodes(named_children),
        "processor-api-depth-first-forward-order" => nodes(depth_first),
        "processor-api-timestamp-and-context-restored-after-forward" => nodes(restored_context),
        "processor-api-negative-timestamp-record-throws" => nodes(|topology, _| {
            let source = topology.add_source::<Text, Text>("s", "in");
            let earlier = topology.add_processor("p", &source, || {
                Logic::<TextRecord, TextRecord>::new(|record, ctx| {
                    let time = Timestamp::from_millis(record.timestamp.as_millis() - 10);
                    ctx.forward(record.with_timestamp(time));
                    Ok(())
                })
            });
            topology.add_sink("k", &earlier, "out");
        }),
        "processor-api-context-facts" => nodes(context_facts),
        "processor-api-store-ops-in-processor" => nodes(store_operations),
        "processor-api-two-processors-share-a-store" => nodes(shared_store),
        "processor-api-connected-store-provider" => streams(|builder, _| {
            let seen = builder.add_state_store(key_value::<Text, i64>("seen").in_memory());
            let first = builder.stream::<Text, Text>("in").process_with(&seen, |mut seen| {
                Logic::<TextRecord, TextRecord>::new(move |record, ctx| {
                    if seen.put_if_absent(&record.key, &record.timestamp.as_millis())?.is_none() {
                        ctx.forward(record);
                    }
                    Ok(())
                })
            });
            first.to("out");
        }),
        "processor-api-fixed-key-processor-with-store" => streams(|builder, _| {
            let counts = builder.add_state_store(key_value::<Text, i64>("n").in_memory());
            let counted = builder.stream::<Text, Text>("in").process_values_with(&counts, |mut counts| {
                Logic::<TextRecord, SameKey<Text>>::new(move |record, ctx| {
                    let count = counts.update(&record.key, |count| Some(count.unwrap_or(0) + 1))?;
                    ctx.emit_value(text(format!("{}#{}", shown(&record.value), count.unwrap_or(0))));
                    Ok(())
                })
            });
            counted.to("out");
        }),
        "processor-api-close-and-init-order" => nodes(init_and_close),
        "processor-api-record-choice-by-lowest-timestamp" => nodes(record_choice),
        "processor-api-processor-emits-after-close-of-window-by-stream-time" => nodes(emit_and_delete),
        _ => return None,
    })
}

fn kip_28(topology: &mut TopologyBuilder, trace: &Trace) {
    let totals = topology.add_state_store(key_value::<Text, i64>("totals").in_memory());
    let source = topology.add_source::<Text, Text>("src", "in");
    let trace = trace.clone();
    let sums = topology.add_processor_with("agg", &source, (&totals, &totals), move |(mut totals, listed)| {
        let trace = trace.clone();
        Logic::<TextRecord, TextRecord>::new(move |record, _| {
            let sum = totals.get(&record.key)?.unwrap_or(0) + shown(&record.value).parse::<i64>()?;
            Ok(totals.put(&record.key, &sum)?)
        })
        .init(|ctx| drop(ctx.schedule(Duration::from_secs(1), PunctuationType::WallClockTime)))
        .punctuate(move |at, ctx| {
            trace.note(format!("punctuate {}", at.timestamp.as_millis()));
            for entry in listed.all() {
                let (key, sum) = entry?;
                ctx.forward(Record::new(key, text(sum.to_string()), at.timestamp));
            }
            ctx.request_commit();
            Ok(())
        })
    });
    topology.add_sink("snk", &sums, "out");
}
fn named_children(topology: &mut TopologyBuilder, trace: &Trace) {
    const TO_A: SideOutput<Text, Text> = SideOutput::new("a");
    const TO_B: SideOutput<Text, Text> = SideOutput::new("b");
    let (source, trace) = (topology.add_source::<Text, Text>("s", "in"), trace.clone());
    let chooser = topology.add_processor("p", &source, move || {
        let trace = trace.clone();
        Logic::<TextRecord, NoOutput>::new(move |record, ctx| {
            let value = record.value.clone();
            match shown(&value) {
                "A" => ctx.forward_to(&TO_A, record),
                "B" => ctx.forward_to(&TO_B, record),
                _ => {
                    ctx.forward_to(&TO_B, record.clone());
                    ctx.forward_to(&TO_A, record);
                }
            }
            trace.note(format!("done {}", shown(&value)));
            Ok(())
        })
    });
    topology.add_sink("b", &chooser.side(&TO_B), "out-b");
    topology.add_sink("a", &chooser.side(&TO_A), "out-a");
}
fn depth_first(topology: &mut TopologyBuilder, trace: &Trace) {
    let source = topology.add_source::<Text, Text>("s", "in");
    let first = {
        let trace = trace.clone();
        topology.add_processor("p1", &source, move || {
            let trace = trace.clone();
            Logic::<TextRecord, TextRecord>::new(move |record, ctx| {
                trace.note("p1>");
                for number in 1..=2 {
                    let time = Timestamp::from_millis(record.timestamp.as_millis() + number - 1);
                    let value = text(format!("{}{number}", shown(&record.value)));
                    ctx.forward(record.clone().with_value(value).with_timestamp(time));
                }
                trace.note("<p1");
                Ok(())
            })
        })
    };
    let mut node = |name: &'static str, parent: &NodeRef<Text, Text>| {
        let trace = trace.clone();
        topology.add_processor(name, parent, move || {
            let trace = trace.clone();
            Logic::<TextRecord, TextRecord>::new(move |record, ctx| {
                trace.note(format!("{name}>"));
                let value = text(format!("{}{name}", shown(&record.value)));
                ctx.forward(record.with_value(value));
                trace.note(format!("<{name}"));
                Ok(())
            })
        })
    };
    let (second, third) = (node("p2", &first), node("p3", &first));
    let (fourth, fifth) = (node("p4", &second), node("p5", &third));
    topology.add_sink("k", [&fourth, &fifth], "out");
}
fn restored_context(topology: &mut TopologyBuilder, trace: &Trace) {
    let source = topology.add_source::<Text, Text>("s", "in");
    let thrice = topology.add_processor("p", &source, || {
        Logic::<TextRecord, TextRecord>::new(|record, ctx| {
            let (key, later) = (record.key.clone(), record.timestamp + Duration::from_millis(100));
            ctx.forward(record.clone().with_timestamp(later));
            ctx.forward(record);
            ctx.forward(Record::new(key, text("x"), Timestamp::from_millis(5)));
            Ok(())
        })
    });
    let trace = trace.clone();
    let seen = topology.add_processor("q", &thrice, move || {
        let trace = trace.clone();
        Logic::<TextRecord, TextRecord>::new(move |record, ctx| {
            let (time, stream_time) = (record.timestamp.as_millis(), ctx.stream_time().as_millis());
            trace.note(format!("ts={time} st={stream_time} meta={}", place(ctx.record_metadata())));
            ctx.forward(record);
            Ok(())
        })
    });
    topology.add_sink("k", &seen, "out");
}
fn context_facts(topology: &mut TopologyBuilder, trace: &Trace) {
    fn facts<O>(ctx: &ProcessorContext<'_, O>) -> String {
        let (stream, system) = (ctx.stream_time().as_millis(), ctx.wall_clock_time().as_millis());
        let (app, task) = (ctx.application_id(), ctx.task_id());
        format!("app={app} task={task} stream={stream} system={system} meta={}", place(ctx.record_metadata()))
    }
    let (source, trace) = (topology.add_source::<Text, Text>("s", "in"), trace.clone());
    topology.add_processor("p", &source, move || {
        let (init, process, punctuate) = (trace.clone(), trace.clone(), trace.clone());
        Logic::<TextRecord, NoOutput>::new(move |_, ctx| {
            process.note(format!("process {}", facts(ctx)));
            Ok(())
        })
        .init(move |ctx| {
            init.note(format!("init {}", facts(ctx)));
            ctx.schedule(Duration::from_millis(10), PunctuationType::WallClockTime);
        })
        .punctuate(move |at, ctx| {
            punctuate.note(format!("punct {} {}", at.timestamp.as_millis(), facts(ctx)));
            Ok(())
        })
    });
}
fn store_operations(topology: &mut TopologyBuilder, _trace: &Trace) {
    fn operate(
        store: &mut KeyValueStore<Text, Text>,
        record: TextRecord,
        ctx: &mut ProcessorContext<'_, TextRecord>,
    ) -> ProcessorResult {
        let or_nil = |value: Option<Text>| value.flatten().or_else(|| text("nil"));
        let found = match shown(&record.value) {
            "get" => store.get(&record.key)?,
            "del" => store.delete(&record.key)?,
            "all" => {
                for entry in store.all() {
                    let (key, value) = entry?;
                    ctx.emit(key, value);
                }
                return Ok(());
            }
            value => match value.strip_prefix("pia:") {
                Some(value) => store.put_if_absent(&record.key, &text(value))?,
                None => return Ok(store.put(&record.key, &record.value)?),
            },
        };
        ctx.forward(record.with_value(or_nil(found)));
        Ok(())
    }
    let store = topology.add_state_store(key_value::<Text, Text>("st").in_memory());
    let source = topology.add_source::<Text, Text>("s", "in");
    let operated = topology.add_processor_with("p", &source, &store, |mut store| {
        Logic::<TextRecord, TextRecord>::new(move |record, ctx| operate(&mut store, record, ctx))
    });
    topology.add_sink("k", &operated, "out");
}
fn shared_store(topology: &mut TopologyBuilder, _trace: &Trace) {
    let store = topology.add_state_store(key_value::<Text, i64>("st"));
    let first = topology.add_source::<Text, Text>("s1", "in1");
    let second = topology.add_source::<Text, Text>("s2", "in2");
    topology.add_processor_with("w", &first, &store, |mut store| {
        Logic::<TextRecord, NoOutput>::new(move |record, _| {
            let length = i64::try_from(record.value.as_deref().unwrap_or_default().len())?;
            store.update(&record.key, |sum| Some(sum.unwrap_or(0) + length))?;
            Ok(())
        })
    });
    let read = topology.add_processor_with("r", &second, &store, |store| {
        Logic::<TextRecord, TextRecord>::new(move |record, ctx| {
            let sum = store.get(&record.key)?.map_or("none".to_owned(), |sum| sum.to_string());
            ctx.forward(record.with_value(Some(sum)));
            Ok(())
        })
    });
    topology.add_sink("k", &read, "out");
}
fn init_and_close(topology: &mut TopologyBuilder, trace: &Trace) {
    let logic = |name: &'static str, trace: &Trace| {
        let (init, close) = (trace.clone(), trace.clone());
        Logic::<TextRecord, TextRecord>::new(|record, ctx| {
            ctx.forward(record);
            Ok(())
        })
        .init(move |_| init.note(format!("init {name}")))
        .close(move || close.note(format!("close {name}")))
    };
    let store = topology.add_state_store(key_value::<Text, Text>("x").in_memory());
    let source = topology.add_source::<Text, Text>("s", "in");
    let [one, two, three] = [trace.clone(), trace.clone(), trace.clone()];
    let first = topology.add_processor("p1", &source, move || logic("p1", &one));
    let second = topology.add_processor_with("p2", &first, &store, move |_| logic("p2", &two));
    let third = topology.add_processor("p3", &second, move || logic("p3", &three));
    topology.add_sink("k", &third, "out");
}
fn record_choice(topology: &mut TopologyBuilder, trace: &Trace) {
    const TO_A: SideOutput<Text, Text> = SideOutput::new("a");
    const TO_B: SideOutput<Text, Text> = SideOutput::new("b");
    let source = topology.add_source::<Text, Text>("s", "in");
    let split = topology.add_processor("p", &source, || {
        Logic::<TextRecord, NoOutput>::new(|record, ctx| {
            for part in shown(&record.value).split(',') {
                let (side, time) = part.split_at(1);
                let record = Record::new(record.key.clone(), text(part), Timestamp::from_millis(time.parse()?));
                ctx.forward_to(if side == "x" { &TO_A } else { &TO_B }, record.with_headers(Headers::new()));
            }
            Ok(())
        })
    });
    topology.add_sink("ka", &split.side(&TO_A), "a");
    topology.add_sink("kb", &split.side(&TO_B), "b");
    let (a, b) = (topology.add_source::<Text, Text>("s2", "a"), topology.add_source::<Text, Text>("s3", "b"));
    let trace = trace.clone();
    let seen = topology.add_processor("q", [&a, &b], move || {
        let trace = trace.clone();
        Logic::<TextRecord, TextRecord>::new(move |record, ctx| {
            let topic = ctx.record_metadata().map(|metadata| metadata.topic.to_string()).unwrap_or_default();
            let (time, stream_time) = (record.timestamp.as_millis(), ctx.stream_time().as_millis());
            trace.note(format!("{topic} {time} st={stream_time}"));
            ctx.forward(record);
            Ok(())
        })
    });
    topology.add_sink("k", &seen, "out");
}
fn emit_and_delete(topology: &mut TopologyBuilder, _trace: &Trace) {
    let store = topology.add_state_store(key_value::<Text, i64>("buf").in_memory());
    let source = topology.add_source::<Text, Text>("s", "in");
    let emitted = topology.add_processor_with("p", &source, (&store, &store), |(mut counted, mut emptied)| {
        Logic::<TextRecord, TextRecord>::new(move |record, _| {
            counted.update(&record.key, |count| Some(count.unwrap_or(0) + 1))?;
            Ok(())
        })
        .init(|ctx| drop(ctx.schedule(Duration::from_millis(100), PunctuationType::StreamTime)))
        .punctuate(move |at, ctx| {
            let entries: Vec<_> = emptied.all().collect::<Result<_, _>>()?;
            for (key, count) in entries {
                ctx.forward(Record::new(key.clone(), text(count.to_string()), at.timestamp));
                emptied.delete(&key)?;
            }
            Ok(())
        })
    });
    topology.add_sink("k", &emitted, "out");
}

/// Where a record came from, as the cases show it.
pub(super) fn place(metadata: Option<RecordMetadata<'_>>) -> String {
    metadata.map_or("null/-1/-1".to_owned(), |RecordMetadata { topic, partition, offset, .. }| {
        format!("{topic}/{partition}/{offset}")
    })
}
