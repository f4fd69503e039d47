//! The cases' topologies in our API.

mod aggregate;
mod build_error;
mod error;
mod logic;
mod naming;
mod processor_api;
mod punctuation;
mod stateless;
mod store;
mod time;

use super::case::Case;
use super::replay::Query;
use millstream_processor_core::dsl::TopologyOptions;
use millstream_processor_core::failure::Handlers;
use millstream_processor_core::{Record, StreamsBuilder, Topology, TopologyBuilder, TopologyError};
use millstream_testkit::DriverOptions;
use std::sync::{Arc, Mutex};

/// Keys and values of most cases: text, or null.
type Text = Option<String>;
type TextRecord = Record<Text, Text>;

/// What a case needs.
pub(crate) struct Setup {
    pub(crate) topology: Result<Topology, TopologyError>,
    pub(crate) options: DriverOptions,
    pub(crate) trace: Trace,
    pub(crate) query: Option<Box<Query>>,
}
impl Setup {
    fn new(topology: Result<Topology, TopologyError>, trace: &Trace) -> Self {
        let options = DriverOptions::new().application_id("golden");
        Self { topology, options, trace: trace.clone(), query: None }
    }
    fn handlers(mut self, handlers: Handlers) -> Self {
        self.options = self.options.handlers(handlers);
        self
    }
}

/// Lines that user code has noted.
#[derive(Clone, Default)]
pub(crate) struct Trace(Arc<Mutex<Vec<String>>>);
impl Trace {
    fn note(&self, line: impl Into<String>) {
        self.0.lock().expect("nobody panics here").push(line.into());
    }
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("nobody panics here"))
    }
}

/// The case's topology, if it is built.
pub(crate) fn build(case: &Case) -> Option<Setup> {
    let kind = case.kind();
    match case.area() {
        "stateless" => stateless::build(kind),
        "aggregate" | "caching" | "random" => aggregate::build(kind),
        "processor-api" => processor_api::build(kind),
        "punctuation" => punctuation::build(kind),
        "error" => error::build(kind),
        "build-error" => build_error::build(kind),
        "store" => store::build(kind),
        "time" => time::build(kind),
        "naming" => naming::build(kind),
        _ => None,
    }
}

/// Streams, with Kafka's automatic names.
fn streams(build: impl FnOnce(&StreamsBuilder, &Trace)) -> Setup {
    let (builder, trace) = (StreamsBuilder::with_options(TopologyOptions::default().kafka_names()), Trace::default());
    build(&builder, &trace);
    Setup::new(builder.build(), &trace)
}
/// Nodes, one by one.
fn nodes(build: impl FnOnce(&mut TopologyBuilder, &Trace)) -> Setup {
    let (mut builder, trace) = (Topology::builder(), Trace::default());
    build(&mut builder, &trace);
    Setup::new(builder.build(), &trace)
}
fn text(text: impl Into<String>) -> Text {
    Some(text.into())
}
/// As Java prints it.
fn shown(text: &Text) -> &str {
    text.as_deref().unwrap_or("null")
}
