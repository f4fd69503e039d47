//! `millstream demo`: the main job, end to end.
//!
//! Feeds a topic, runs KIP-28's example on it in two processes, shows the aggregates as they come, and compares them with the input.

mod aggregates;
mod input;
mod processes;
mod setting;

use super::demo_app::APPLICATION;
use crate::connection::Connection;
use crate::failure::Failure;
use aggregates::Aggregates;
use clap::Args;
use input::Totals;
use millstream::client::{Admin, Client, OffsetSpec};
use millstream::{Timestamp, TopicPartition};
use millstream_testkit::server::signalled;
use processes::Processes;
use setting::Setting;
use std::time::{Duration, Instant, SystemTime};
use tokio::time::timeout;

/// How long nothing may happen before the demo gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs KIP-28's aggregate example as an application of two processes, and checks its results.
///
/// Without --bootstrap on an embedded broker; with it on any Kafka. It writes records with keys and numbers to
/// millstream-demo-input, sums them up per key in a journaled store, and reads the sums back from aggregate-topic. Values are Kafka's
/// 8-byte longs, so any other tool can check them. The exit code is 0 only when every sum is right.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// How many records
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    records: u64,
    /// How many partitions each topic has
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    partitions: i32,
    /// Deletes the demo's topics, group and state of an earlier run first
    #[arg(long)]
    reset: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Demo {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let start = Instant::now();
        let setting = Setting::prepare(&self.connection, self.partitions, self.reset).await?;
        let outcome = tokio::select! {
            outcome = self.sum_up(&setting) => outcome,
            signal = signalled() => Err(interrupted(signal)),
        };
        let cleaned = setting.clean_up();
        outcome?;
        println!("{:.1} s in all", start.elapsed().as_secs_f64());
        cleaned
    }

    /// The processes end with this: in order when all is well, killed when it fails or is dropped.
    async fn sum_up(&self, setting: &Setting) -> Result<(), Failure> {
        let client = setting.connection().client()?.build().await?;
        println!("two processes sum up {} records of {} partitions", self.records, self.partitions);
        let mut processes = Processes::start(setting, 2)?;
        let mut shown = Aggregates::open(&client).await?;
        let totals = tokio::select! {
            totals = feed_and_settle(&client, self.records, self.partitions, &mut shown) => totals?,
            failure = processes.first_exit() => return Err(failure),
        };
        processes.close().await?;
        verify(&client, &totals).await
    }
}

fn interrupted(signal: std::io::Result<()>) -> Failure {
    match signal {
        Ok(()) => Failure::because("interrupted by a signal before the sums could be verified"),
        Err(error) => Failure::new("wait for a signal", error),
    }
}

/// Writes the input and waits until all of it is processed and sent.
async fn feed_and_settle(
    client: &Client,
    records: u64,
    partitions: i32,
    shown: &mut Aggregates,
) -> Result<Totals, Failure> {
    let (totals, ()) = tokio::try_join!(input::feed(client, records), shown.watch_until_fed(records))?;
    wait_for_commits(&client.admin(), partitions, shown).await?;
    // Everything is summed up now, so what a later punctuation sends is final.
    let settled = Timestamp::from(SystemTime::now());
    shown.watch_until_sent_after(settled, &totals).await?;
    Ok(totals)
}

/// Waits until the application's group has committed the end of every input partition.
async fn wait_for_commits(admin: &Admin, partitions: i32, shown: &mut Aggregates) -> Result<(), Failure> {
    let inputs: Vec<_> =
        (0..partitions).map(|partition| TopicPartition::new(super::demo_app::INPUT, partition)).collect();
    let ends = admin.topics().offsets(inputs.iter().map(|each| (each.clone(), OffsetSpec::Latest))).await?.all()?;
    let mut last = (0, Instant::now());
    loop {
        let committed = admin.groups().offsets(APPLICATION).await?;
        let done: i64 = inputs.iter().filter_map(|each| committed.of(each)).map(|each| each.offset.get()).sum();
        if inputs.iter().all(|each| committed.of(each).map(|each| each.offset) >= ends.get(each).copied().flatten()) {
            return Ok(());
        }
        if done > last.0 {
            last = (done, Instant::now());
        } else if last.1.elapsed() > PATIENCE {
            return Err(Failure::because(format!(
                "the application has committed nothing for {} s; {done} records are committed. Its log may say why: RUST_LOG=info",
                PATIENCE.as_secs()
            )));
        }
        shown.watch_for(Duration::from_millis(50)).await?;
    }
}

/// Reads the aggregates from the topic's start and compares the last value of each key with the input's sum.
async fn verify(client: &Client, totals: &Totals) -> Result<(), Failure> {
    let mut read = Aggregates::open(client).await?;
    let reading = timeout(PATIENCE, read.read_to_end());
    reading.await.map_err(|_| Failure::because("aggregate-topic could not be read to its end in a minute"))??;
    let wrong = totals.differences(read.sums());
    if !wrong.is_empty() {
        let shown = wrong.iter().take(10).cloned().collect::<Vec<_>>().join("\n  ");
        return Err(Failure::because(format!("{} of {} sums are wrong:\n  {shown}", wrong.len(), totals.len())));
    }
    println!(
        "verified: the last value of each of {} keys in aggregate-topic ({} records, read from its start) is the sum of its input",
        totals.len(),
        read.records()
    );
    Ok(())
}
