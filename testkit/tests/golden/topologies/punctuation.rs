//! Schedules.

use super::logic::Logic;
use super::processor_api::place;
use super::{Setup, Text, TextRecord, nodes, shown, text};
use millstream_processor_core::{
    Context, NoOutput, Processor, ProcessorContext, ProcessorResult, Punctuation, PunctuationType, Record, Schedule,
};
use millstream_protocol::{Headers, Timestamp};
use std::time::Duration;

pub(crate) fn build(case: &str) -> Option<Setup> {
    Some(match case {
        "punctuation-stream-time-grid-and-collapse" => nodes(|topology, trace| {
            let (source, trace) = (topology.add_source::<Text, Text>("s", "in"), trace.clone());
            topology.add_processor("p", &source, move || {
                let (records, ticks) = (trace.clone(), trace.clone());
                Logic::<TextRecord, NoOutput>::new(move |record, _| {
                    records.note(format!("rec {}", record.timestamp.as_millis()));
                    Ok(())
                })
                .init(|ctx| drop(ctx.schedule(Duration::from_millis(10), PunctuationType::StreamTime)))
                .punctuate(move |at, ctx| {
                    ticks.note(format!("punct {} st={}", at.timestamp.as_millis(), ctx.stream_time().as_millis()));
                    Ok(())
                })
            });
        }),
        "punctuation-wall-clock-collapse-and-argument" => nodes(|topology, trace| {
            let (source, trace) = (topology.add_source::<Text, Text>("s", "in"), trace.clone());
            topology.add_processor("p", &source, move || {
                let (records, trace) = (trace.clone(), trace.clone());
                let process = move |_, _: &mut ProcessorContext<'_, NoOutput>| {
                    records.note("rec");
                    Ok(())
                };
                Logic::<TextRecord, NoOutput>::new(process)
                    .init(|ctx| drop(ctx.schedule(Duration::from_millis(100), PunctuationType::WallClockTime)))
                    .punctuate(move |at, _| {
                        trace.note(format!("punct {}", at.timestamp.as_millis()));
                        Ok(())
                    })
            });
        }),
        "punctuation-cancel-and-reschedule-in-callback" => nodes(|topology, trace| {
            let (source, trace) = (topology.add_source::<Text, Text>("s", "in"), trace.clone());
            topology.add_processor("p", &source, move || Rescheduling {
                trace: trace.clone(),
                slow: None,
                slow_calls: 0,
                fast_calls: 0,
            });
        }),
        "punctuation-anchored-start-time" => nodes(|topology, trace| {
            let (source, trace) = (topology.add_source::<Text, Text>("s", "in"), trace.clone());
            topology.add_processor("p", &source, move || Anchored { trace: trace.clone(), stream: None });
        }),
        "punctuation-forward-from-punctuator-has-no-source" => nodes(|topology, trace| {
            let source = topology.add_source::<Text, Text>("s", "in");
            let ticking = topology.add_processor("p", &source, || {
                Logic::<TextRecord, TextRecord>::new(|record, ctx| {
                    ctx.forward(record);
                    Ok(())
                })
                .init(|ctx| drop(ctx.schedule(Duration::from_millis(10), PunctuationType::StreamTime)))
                .punctuate(|at, ctx| {
                    let headers = Headers::new().with("from", "p");
                    ctx.forward(Record::new(text("tick"), text("t"), at.timestamp).with_headers(headers));
                    Ok(())
                })
            });
            let trace = trace.clone();
            let seen = topology.add_processor("q", &ticking, move || {
                let trace = trace.clone();
                Logic::<TextRecord, TextRecord>::new(move |record, ctx| {
                    let (meta, headers) = (place(ctx.record_metadata()), record.headers.len());
                    trace.note(format!("k={} meta={meta} headers={headers}", shown(&record.key)));
                    ctx.forward(record);
                    Ok(())
                })
            });
            topology.add_sink("k", &seen, "out");
        }),
        _ => return None,
    })
}

struct Rescheduling {
    trace: super::Trace,
    slow: Option<Schedule>,
    slow_calls: u32,
    fast_calls: u32,
}
impl Processor for Rescheduling {
    type In = TextRecord;
    type Out = NoOutput;

    fn init(&mut self, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        self.slow = Some(ctx.schedule(Duration::from_millis(10), PunctuationType::StreamTime));
        Ok(())
    }
    fn process(&mut self, record: TextRecord, _: &mut Context<'_, Self>) -> ProcessorResult {
        self.trace.note(format!("rec {}", record.timestamp.as_millis()));
        Ok(())
    }
    fn punctuate(&mut self, at: Punctuation, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        let time = at.timestamp.as_millis();
        if self.slow.as_ref() == Some(&at.schedule) {
            self.trace.note(format!("slow {time}"));
            self.slow_calls += 1;
            if self.slow_calls == 3 {
                at.schedule.cancel();
                ctx.schedule(Duration::from_millis(3), PunctuationType::StreamTime);
            }
        } else {
            self.trace.note(format!("fast {time}"));
            self.fast_calls += 1;
            if self.fast_calls == 4 {
                at.schedule.cancel();
            }
        }
        Ok(())
    }
}

struct Anchored {
    trace: super::Trace,
    stream: Option<Schedule>,
}
impl Processor for Anchored {
    type In = TextRecord;
    type Out = NoOutput;

    fn init(&mut self, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        let (start, interval) = (Timestamp::from_millis(25), Duration::from_millis(10));
        self.stream = Some(ctx.schedule_from(start, interval, PunctuationType::StreamTime));
        let (start, interval) = (Timestamp::from_millis(105), Duration::from_millis(50));
        ctx.schedule_from(start, interval, PunctuationType::WallClockTime);
        Ok(())
    }
    fn process(&mut self, record: TextRecord, _: &mut Context<'_, Self>) -> ProcessorResult {
        self.trace.note(format!("rec {}", record.timestamp.as_millis()));
        Ok(())
    }
    fn punctuate(&mut self, at: Punctuation, _: &mut Context<'_, Self>) -> ProcessorResult {
        let clock = if self.stream.as_ref() == Some(&at.schedule) { "stream" } else { "wall" };
        self.trace.note(format!("{clock} {}", at.timestamp.as_millis()));
        Ok(())
    }
}
