//! A topology with state: what a producer writes is counted by key in a journaled store, and each count goes out. Its processes are killed,
//! their disks fail, and the power goes; the store counts each record once all the same. (What goes out may repeat: at least once.)

use super::producing::write_keyed;
use super::stage::{SESSION_TIMEOUT, Stage, value_of};
use crate::ClusterRecord;
use crate::checkers::{Checker, Violation};
use crate::simulation::{Fault, Random, SimulatedProcess};
use bytes::Bytes;
use millstream::prelude::*;
use millstream::{StreamsErrorKind, stores};
use millstream_client::runtime::{BoxFuture, sleep_until, timeout_at};
use millstream_state::fs::MemoryFs;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(super) const INPUT: &str = "events";
pub(super) const OUTPUT: &str = "counts";
pub(super) const PARTITIONS: i32 = 2;
pub(super) const PROCESSES: usize = 2;
pub(super) const APPLICATION: &str = "counter";

pub(super) async fn run(stage: Stage, random: Random) {
    let mut parts: Vec<BoxFuture<()>> = Vec::new();
    for index in 0..PROCESSES {
        let stage = stage.clone();
        // The machine's disk, which outlives its processes.
        let disk = MemoryFs::new();
        parts.push(Box::pin(async move {
            let body = |process, _| -> BoxFuture<()> {
                let (stage, disk) = (stage.clone(), disk.clone());
                Box::pin(async move { count(stage, process, disk).await })
            };
            stage.supervise_on(index, format!("counter-{index}"), Some(disk.clone()), body).await;
        }));
    }
    let (own, writing) = (stage.clone(), random.fork(600));
    parts.push(Box::pin(async move {
        let process = own.handle.start_process("producer-0");
        write_keyed(own, writing, process, INPUT).await;
    }));
    super::reading::beside(&stage, &[INPUT], &random, parts).await;
}

/// Runs the application until everything is counted; starts it again when it stops.
async fn count(stage: Stage, process: SimulatedProcess, disk: MemoryFs) {
    let runtime = process.runtime();
    while !is_done(&stage) {
        let config = config(&process, &disk);
        match Streams::start(topology(), config).await {
            Ok(streams) => {
                let ended = streams.states();
                while !is_done(&stage) && !ended.current().is_last() {
                    sleep_until(&*runtime, runtime.now() + Duration::from_secs(1)).await;
                }
                let close = streams.close(Duration::from_secs(20));
                let _ = timeout_at(&*runtime, runtime.now() + Duration::from_secs(60), close).await;
            }
            Err(error) => assert!(error.kind() != StreamsErrorKind::Config, "{error}"),
        }
        sleep_until(&*runtime, runtime.now() + Duration::from_secs(1)).await;
    }
}

fn config(process: &SimulatedProcess, disk: &MemoryFs) -> StreamsConfig {
    StreamsConfig::new(APPLICATION, process.client().request_timeout(Duration::from_secs(5)))
        .runtime(process.runtime())
        .state_fs(Arc::new(disk.clone()))
        .state_dir("/state")
        .num_workers(2_usize)
        .commit_interval(Duration::from_secs(2))
        .session_timeout(SESSION_TIMEOUT)
        .transaction_timeout(Duration::from_secs(15))
}

fn is_done(stage: &Stage) -> bool {
    stage.is_done(APPLICATION, INPUT)
}

/// Counts by key; sends on what was counted, and how many there were with it.
struct Counter(KeyValueStore<String, i64>);

impl Processor for Counter {
    type In = Record<String, Bytes>;
    type Out = NoOutput;

    fn process(&mut self, record: Self::In, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        let count = self.0.get(&record.key)?.unwrap_or(0) + 1;
        self.0.put(&record.key, &count)?;
        let mut value = record.value.get(..8).unwrap_or_default().to_vec();
        value.extend_from_slice(&count.to_be_bytes());
        ctx.send(OUTPUT, &record.key, &Bytes::from(value));
        Ok(())
    }
}

fn topology() -> Topology {
    let mut topology = Topology::builder();
    let events = topology.add_source::<String, Bytes>("events", INPUT);
    let store = topology.add_state_store(stores::key_value::<String, i64>("counts"));
    topology.add_processor_with("count", &events, &store, Counter);
    topology.build().expect("the topology is one that can be")
}

/// What a fault does to a machine's disk; says from which operation on that fails, if it does.
pub(super) fn strike(disk: &MemoryFs, fault: &Fault) -> u64 {
    let mut from = disk.operations();
    match fault {
        Fault::DiskFailure(_, after, _) => {
            from += after;
            disk.fail_from(from, std::io::ErrorKind::Other);
        }
        Fault::PowerLoss(_, kept, _) => disk.lose_power(*kept),
        _ => {}
    }
    from
}

/// Each input is counted once: it has one count, however often that goes out, and each key has the counts from 1 to the number of its
/// records.
pub(super) fn judge(input: &[ClusterRecord], output: &[ClusterRecord], is_whole: bool) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut violate = |name, text: String| found.push(Violation::new(Checker::K9, name, text));
    let mut count_of: BTreeMap<u64, i64> = BTreeMap::new();
    let mut counts: BTreeMap<&Bytes, BTreeMap<i64, u64>> = BTreeMap::new();
    for record in output {
        let (Some(key), Some(bytes)) = (&record.key, &record.value) else { continue };
        let count = bytes.get(8..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| i64::from_be_bytes(*bytes));
        let Some(value) = value_of(bytes) else { continue };
        if let Some(other) = count_of.insert(value, count).filter(|other| *other != count) {
            violate("consumed-twice", format!("value {value} of key {key:?} was counted as {other} and as {count}"));
        }
        if let Some(other) = counts.entry(key).or_default().insert(count, value).filter(|other| *other != value) {
            violate("lost-count", format!("key {key:?} has the count {count} of value {other} and of value {value}"));
        }
    }
    for (key, counts) in &counts {
        let missing = (1..).zip(counts.keys()).find(|(expected, count)| expected != *count);
        if let Some((expected, _)) = missing {
            violate("consumed-twice", format!("key {key:?} never had the count {expected}"));
        }
    }
    let values = input.iter().filter_map(|record| value_of(record.value.as_ref()?));
    for value in values.filter(|value| is_whole && !count_of.contains_key(value)) {
        violate("not-consumed", format!("value {value} was not counted"));
    }
    found
}
