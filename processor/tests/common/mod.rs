//! What the tests of the runtime share: topologies, input, and looking at topics.

#![allow(dead_code, reason = "each test program uses another part")]

use millstream::client::ProducerRecord;
use millstream::prelude::*;
use millstream::stores;
use millstream_testkit::TestCluster;
use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::time::{Duration, Instant};

/// Sums per key, in a store that is given.
pub(crate) struct Sums {
    sums: KeyValueStore<String, i64>,
}

impl Processor for Sums {
    type In = Record<String, i64>;
    type Out = Record<String, i64>;

    fn process(&mut self, record: Self::In, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        let sum = self.sums.get(&record.key)?.unwrap_or(0) + record.value;
        self.sums.put(&record.key, &sum)?;
        ctx.emit(record.key, sum);
        Ok(())
    }
}

/// `numbers` → sums per key → `sums`.
pub(crate) fn sums(store: stores::StoreBuilder<KeyValueStore<String, i64>>) -> Topology {
    let mut topology = Topology::builder();
    let store = topology.add_state_store(store);
    let numbers = topology.add_source::<String, i64>("numbers", "numbers");
    let sums = topology.add_processor_with("sum", &numbers, &store, |sums| Sums { sums });
    topology.add_sink("to-sums", &sums, "sums");
    topology.build().expect("the topology is sound")
}

/// Shows the log of a test that fails, as RUST_LOG asks.
pub(crate) fn log() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn".into());
    // The second test of a program finds it set.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_test_writer().try_init();
}

/// Options that suit a test: quick commits, a session that outlives any pause of a busy machine, a folder of its own.
pub(crate) fn config(cluster: &TestCluster, application: &str, state: &Path) -> StreamsConfig {
    log();
    StreamsConfig::new(application, cluster)
        .state_dir(state)
        .num_workers(2)
        .commit_interval(Duration::from_millis(50))
        .session_timeout(Duration::from_secs(60))
        .heartbeat_interval(Duration::from_millis(200))
}

/// Sends numbers, and waits until they are written.
pub(crate) async fn send(cluster: &TestCluster, numbers: impl IntoIterator<Item = (String, i64)>) {
    let producer = Producer::connect(cluster).await.expect("the cluster is there");
    for (key, number) in numbers {
        let value = number.to_be_bytes();
        drop(producer.enqueue(ProducerRecord::to("numbers").key(&key).value(&value)).await.expect("there is room"));
    }
    producer.flush().await.expect("the numbers are written");
}

/// The last value of each key in a topic.
pub(crate) fn last_values(cluster: &TestCluster, topic: &str) -> BTreeMap<String, i64> {
    let mut last = BTreeMap::new();
    for record in cluster.records(topic) {
        let key = String::from_utf8(record.key.as_deref().unwrap_or_default().to_vec()).expect("keys are UTF-8");
        let value = record.value.as_deref().and_then(|value| Some(i64::from_be_bytes(value.try_into().ok()?)));
        last.insert(key, value.expect("values are longs"));
    }
    last
}

/// Waits until `what` holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits for a future, so that a test that hangs says where.
pub(crate) async fn within<F: Future>(what: &str, future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("in vain: {what}"))
}

/// How long anything may take on a machine that is busy; only what hangs takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);
