//! The demo's application: KIP-28's example, in a process of its own.

use crate::connection::Connection;
use crate::failure::Failure;
use clap::Args;
use millstream::{prelude::*, stores};
use millstream_testkit::server::signalled_or_parent_gone;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

/// What the demo reads.
pub(crate) const INPUT: &str = "millstream-demo-input";
/// What the demo writes.
pub(crate) const AGGREGATES: &str = "aggregate-topic";
/// The application's id, and so its group and the prefix of its internal topics.
pub(crate) const APPLICATION: &str = "millstream-demo";
/// How often every aggregate is sent.
const PUNCTUATION: Duration = Duration::from_millis(250);

/// Runs one process of the demo's application, until standard input closes or a signal comes.
#[derive(Debug, Args)]
pub(crate) struct DemoApp {
    /// Where its stores are kept
    #[arg(long)]
    state_dir: PathBuf,
    #[command(flatten)]
    connection: Connection,
}

impl DemoApp {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let failed = |error| Failure::new("run the demo's application", error);
        let topology = topology().map_err(|error| Failure::new("build the demo's topology", error))?;
        let config = StreamsConfig::new(APPLICATION, self.connection.client()?)
            .state_dir(self.state_dir)
            .commit_interval(Duration::from_millis(200));
        let mut stop = pin!(signalled_or_parent_gone(true));
        let streams = tokio::select! {
            started = Streams::start(topology, config) => started.map_err(failed)?,
            stopped = &mut stop => return stopped.map_err(|error| Failure::new("wait for a signal", error)),
        };
        streams.run_until(stop).await.map_err(failed)
    }
}

struct Sums {
    sums: KeyValueStore<String, i64>,
}

impl Processor for Sums {
    type In = Record<String, i64>;
    type Out = NoOutput;

    fn init(&mut self, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        // By wall clock, so that the last sums are sent also when no more input comes.
        ctx.schedule(PUNCTUATION, PunctuationType::WallClockTime);
        Ok(())
    }

    fn process(&mut self, record: Self::In, _ctx: &mut Context<'_, Self>) -> ProcessorResult {
        let sum = self.sums.get(&record.key)?.unwrap_or(0) + record.value;
        Ok(self.sums.put(&record.key, &sum)?)
    }

    fn punctuate(&mut self, _at: Punctuation, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        for entry in self.sums.all() {
            let (key, sum) = entry?;
            ctx.send(AGGREGATES, &key, &sum);
        }
        Ok(())
    }
}

fn topology() -> Result<Topology, TopologyError> {
    let mut topology = Topology::builder();
    let sums = topology.add_state_store(stores::key_value("sums"));
    let numbers = topology.add_source::<String, i64>("numbers", INPUT);
    topology.add_processor_with("sum", &numbers, &sums, |sums| Sums { sums });
    topology.build()
}
