//! One topology, no cluster, and a clock that the test moves: production's own task engine.
//!
//! A record that is piped in is processed, committed, and what it has written to topics that the topology reads is piped in after it,
//! the lowest time first, until nothing is left: as Kafka's own `TopologyTestDriver` does it, whose results are the golden files of
//! the tests.

mod crash;
mod input;
mod options;
mod output;
mod run;
mod topics;

pub use crash::CommitStep;
pub use input::TestInput;
pub use options::DriverOptions;
pub use output::{DriverRecord, TestOutput};

use bytes::Bytes;
use millstream::StreamsConfig;
use millstream_processor_core::failure::TaskError;
use millstream_processor_core::{Consumed, Produced, StoreRef, Topology};
use millstream_protocol::{Headers, Timestamp};
use millstream_state::StateStore;
use run::Run;
use std::cell::RefCell;
use std::time::Duration;

/// Runs one topology with no cluster. Synchronous: when a pipe returns, everything that follows from it has happened.
///
/// Every topic has one partition, and one task, `0_0`, runs all of the topology.
///
/// ```
/// use millstream_processor_core::StreamsBuilder;
/// use millstream_testkit::TopologyTestDriver;
///
/// let builder = StreamsBuilder::new();
/// builder.stream::<String, i64>("numbers").filter(|_, number| number % 2 == 0).to("even");
///
/// let driver = TopologyTestDriver::new(builder.build().unwrap());
/// let numbers = driver.input::<String, i64>("numbers");
/// let even = driver.output::<String, i64>("even");
/// numbers.pipe("a", 1);
/// numbers.pipe("b", 2);
/// assert_eq!(even.read_pairs(), [("b".to_owned(), 2)]);
/// ```
#[derive(Debug)]
pub struct TopologyTestDriver {
    run: RefCell<Run>,
}
impl TopologyTestDriver {
    /// For this topology.
    ///
    /// # Panics
    /// If a processor does not start.
    #[must_use]
    pub fn new(topology: Topology) -> Self {
        Self::with_options(topology, DriverOptions::new())
    }
    /// With options.
    ///
    /// # Panics
    /// If a processor does not start.
    #[must_use]
    pub fn with_options(topology: Topology, options: DriverOptions) -> Self {
        match Self::try_new(topology, options) {
            Ok(driver) => driver,
            Err(error) => panic!("{}", chain(&error)),
        }
    }
    /// With the options that production runs with: the application's id and who answers failures.
    ///
    /// ```
    /// use millstream::{StreamsConfig, prelude::*};
    /// use millstream_testkit::TopologyTestDriver;
    ///
    /// let builder = StreamsBuilder::new();
    /// builder.stream::<String, i64>("numbers").group_by_key().count();
    /// let config = StreamsConfig::new("sums", "localhost:9092");
    /// let driver = TopologyTestDriver::with_config(builder.build().unwrap(), config);
    /// driver.input::<String, i64>("numbers").pipe("a", 1);
    /// assert!(driver.records()[0].topic.as_str().starts_with("sums-"));
    /// ```
    ///
    /// # Panics
    /// If a processor does not start.
    #[must_use]
    pub fn with_config(topology: Topology, config: StreamsConfig) -> Self {
        let (application_id, handlers) = config.into_parts();
        Self::with_options(topology, DriverOptions::new().application_id(&application_id).handlers(handlers))
    }
    /// With options, where starting may fail.
    ///
    /// # Errors
    /// If a processor does not start.
    pub fn try_new(topology: Topology, options: DriverOptions) -> Result<Self, TaskError> {
        Ok(Self { run: RefCell::new(Run::new(topology, options)?) })
    }
    /// A handle on an input topic.
    ///
    /// # Panics
    /// If the topic is one that is chosen by record.
    pub fn input<K: 'static, V: 'static>(&self, topic: impl Into<Produced<K, V>>) -> TestInput<'_, K, V> {
        TestInput::new(self, topic.into().topic().expect("a test pipes into one topic, not into one chosen by record"))
    }
    /// A handle on an output topic, before what was written to it and not read yet. Each handle reads for itself.
    ///
    /// # Panics
    /// If these are several topics, or none.
    pub fn output<K: 'static, V: 'static>(&self, topic: impl Into<Consumed<K, V>>) -> TestOutput<'_, K, V> {
        let topics = topic.into();
        let [topic] = topics.topics() else { panic!("a test reads one topic at a time") };
        TestOutput::new(self, topic.clone())
    }
    /// A view of the task's store.
    ///
    /// # Panics
    /// If the store is not of this topology, or no processor is connected with it.
    #[must_use]
    pub fn store<S: StateStore>(&self, store: &StoreRef<S>) -> S {
        self.run
            .borrow()
            .task()
            .open_store(store)
            .expect("the store is of this topology, and a processor is connected with it")
    }
    /// Moves the wall clock; what is due is called.
    ///
    /// # Panics
    /// If the task stops.
    pub fn advance_wall_clock(&self, by: Duration) {
        or_panic(self.try_advance_wall_clock(by));
    }
    /// Moves the wall clock, where what is due may fail.
    ///
    /// # Errors
    /// If the task stops.
    pub fn try_advance_wall_clock(&self, by: Duration) -> Result<(), TaskError> {
        self.run.borrow_mut().advance_wall_clock(by)
    }
    /// Pipes bytes in.
    ///
    /// # Errors
    /// If the task stops. It goes on no more then.
    pub fn try_pipe_bytes(
        &self,
        topic: &str,
        key: Option<Bytes>,
        value: Option<Bytes>,
        timestamp: Timestamp,
        headers: &Headers,
    ) -> Result<(), TaskError> {
        self.run.borrow_mut().pipe(topic, key.as_deref(), value.as_deref(), timestamp, headers)
    }
    /// Stops it without a commit and starts it again from what was committed: stores in memory come back from their changelogs.
    ///
    /// # Panics
    /// If a processor does not start.
    pub fn crash_and_restart(&mut self) {
        or_panic(self.run.get_mut().crash_and_restart());
    }
    /// Has the next commit crash after a step; the task starts again from what is committed, and is given again what is not.
    ///
    /// ```
    /// use millstream_processor_core::StreamsBuilder;
    /// use millstream_testkit::{CommitStep, TopologyTestDriver};
    ///
    /// let builder = StreamsBuilder::new();
    /// builder.stream::<String, i64>("numbers").to("copies");
    /// let driver = TopologyTestDriver::new(builder.build().unwrap());
    /// driver.crash_at(CommitStep::Prepared);
    /// driver.input::<String, i64>("numbers").pipe("a", 1);
    /// // The record was processed twice, and what the first time wrote was aborted.
    /// assert_eq!(driver.records().len(), 1);
    /// ```
    pub fn crash_at(&self, step: CommitStep) {
        self.run.borrow_mut().crash_at(step);
    }
    /// What a store has written to its changelog so far, in order; none if it has no changelog.
    ///
    /// # Panics
    /// If the topology has no such store.
    #[must_use]
    pub fn changelog(&self, store: &str) -> Vec<DriverRecord> {
        self.run.borrow().changelog(store)
    }
    /// Closes the processors.
    pub fn close(self) {
        self.run.into_inner().close();
    }
    /// All that was written so far, changelogs and repartition topics too, in order.
    #[must_use]
    pub fn records(&self) -> Vec<DriverRecord> {
        self.run.borrow().records(0)
    }
    /// How many records were left out, the metric `dropped-records-total`.
    #[must_use]
    pub fn dropped_records(&self) -> u64 {
        self.run.borrow().task().dropped_records()
    }
    /// Whether a commit was asked for and, since the driver commits after each record, made.
    #[must_use]
    pub fn requested_commits(&self) -> u64 {
        self.run.borrow().requested_commits()
    }
    /// What a store holds, as bytes in the changelog's form: key, value and, for stores that keep times, the value's.
    #[must_use]
    pub fn store_entries(&self, store: &str) -> Vec<DriverRecord> {
        self.run.borrow().store_entries(store)
    }
}

fn or_panic(result: Result<(), TaskError>) {
    if let Err(error) = result {
        panic!("{}", chain(&error));
    }
}
/// An error with all that is behind it.
fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}
