//! The runtime.

use crate::cluster::{Cluster, PATIENCE, eventually, text, unique};
use futures_util::StreamExt;
use millstream::client::ProducerRecord;
use millstream::{RestoreEvent, State, StreamsErrorKind, prelude::*, stores};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

struct Sums {
    sums: KeyValueStore<String, i64>,
    output: String,
}

impl Processor for Sums {
    type In = Record<String, i64>;
    type Out = NoOutput;

    fn init(&mut self, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        ctx.schedule(Duration::from_millis(100), PunctuationType::WallClockTime);
        Ok(())
    }
    fn process(&mut self, record: Self::In, _ctx: &mut Context<'_, Self>) -> ProcessorResult {
        let sum = self.sums.get(&record.key)?.unwrap_or(0) + record.value;
        Ok(self.sums.put(&record.key, &sum)?)
    }
    fn punctuate(&mut self, _at: Punctuation, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        for entry in self.sums.all() {
            let (key, sum) = entry?;
            ctx.send(self.output.as_str(), &key, &sum);
        }
        Ok(())
    }
}

/// An application of its own: topics, id, folder.
struct Application {
    id: String,
    input: String,
    output: String,
    state: tempfile::TempDir,
}

impl Application {
    async fn new(cluster: &Cluster) -> Self {
        let state = tempfile::tempdir().expect("a folder for state");
        Self { id: unique("app"), input: cluster.topic(2).await, output: cluster.topic(2).await, state }
    }
    fn config(&self, cluster: &Cluster) -> StreamsConfig {
        StreamsConfig::new(&self.id, cluster.bootstrap())
            .state_dir(self.state.path())
            .commit_interval(Duration::from_millis(100))
            .num_workers(2)
    }
    fn kip_28(&self) -> Topology {
        let output = self.output.clone();
        let mut topology = Topology::builder();
        let sums = topology.add_state_store(stores::key_value("sums"));
        let numbers = topology.add_source::<String, i64>("numbers", self.input.as_str());
        topology.add_processor_with("sum", &numbers, &sums, move |sums| Sums { sums, output: output.clone() });
        topology.build().expect("the topology is sound")
    }
    fn count(&self) -> Topology {
        let builder = StreamsBuilder::new();
        builder.stream::<String, i64>(self.input.as_str()).group_by_key().count_with("counts").to(self.output.as_str());
        builder.build().expect("the topology is sound")
    }
    async fn start(&self, cluster: &Cluster) -> Streams {
        let streams = Streams::start(self.kip_28(), self.config(cluster)).await.expect("it starts");
        streams.states().wait_for(State::Running).await.expect("it runs");
        streams
    }
    async fn feed(&self, cluster: &Cluster, records: &[(&str, i64)]) {
        let producer = Producer::connect(cluster.bootstrap()).await.unwrap();
        for (key, value) in records {
            let value = value.to_be_bytes();
            drop(producer.enqueue(ProducerRecord::to(&self.input).key(*key).value(&value)).await.unwrap());
        }
        producer.flush().await.unwrap();
    }
    /// The last value of each key in the output.
    async fn outputs(&self, cluster: &Cluster) -> BTreeMap<String, i64> {
        let number = |value: &[u8]| i64::from_be_bytes(value.try_into().expect("8 bytes"));
        let records = cluster.records(&self.output).await;
        records
            .iter()
            .map(|each| (text(each.key.as_deref()), number(each.value.as_deref().expect("a value"))))
            .collect()
    }
    async fn await_outputs(&self, cluster: &Cluster, expected: &[(&str, i64)]) {
        let expected: BTreeMap<_, _> = expected.iter().map(|(key, sum)| ((*key).to_owned(), *sum)).collect();
        eventually(&format!("the outputs are {expected:?}"), async || {
            (self.outputs(cluster).await == expected).then_some(())
        })
        .await;
    }
}

pub(crate) async fn the_kip_28_example_sums_up(cluster: &Cluster) {
    let app = Application::new(cluster).await;
    app.feed(cluster, &[("a", 1), ("b", 10), ("a", 2)]).await;
    let streams = Streams::start(app.kip_28(), app.config(cluster)).await.unwrap();
    app.await_outputs(cluster, &[("a", 3), ("b", 10)]).await;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let work = async {
        app.feed(cluster, &[("b", 5)]).await;
        app.await_outputs(cluster, &[("a", 3), ("b", 15)]).await;
        drop(stop);
    };
    let (ended, ()) = tokio::join!(streams.run_until(stopped), work);
    ended.unwrap();
    let groups = cluster.admin().await.groups().describe([&app.id]).await.unwrap().all().unwrap();
    assert!(groups[&app.id].members.is_empty(), "a clean close leaves the group");
}

pub(crate) async fn a_count_is_written_for_every_record(cluster: &Cluster) {
    let app = Application::new(cluster).await;
    app.feed(cluster, &[("a", 0), ("a", 0), ("a", 0)]).await;
    let streams = Streams::start(app.count(), app.config(cluster)).await.unwrap();
    eventually("three counts are written", async || {
        let records = cluster.records(&app.output).await;
        let counts: Vec<_> = records.iter().filter_map(|each| each.value.as_deref()).map(|value| value[7]).collect();
        (counts == [1, 2, 3]).then_some(())
    })
    .await;
    streams.close(PATIENCE).await.unwrap();
}

pub(crate) async fn a_restart_goes_on_where_it_stopped(cluster: &Cluster) {
    let app = Application::new(cluster).await;
    for (round, expected) in [1, 2, 3].into_iter().zip([1, 3, 6]) {
        let streams = app.start(cluster).await;
        app.feed(cluster, &[("a", round)]).await;
        app.await_outputs(cluster, &[("a", expected)]).await;
        assert_eq!(streams.metrics().value_of("restore-records-total"), Some(0.0), "the journal has it all");
        streams.close(PATIENCE).await.unwrap();
        assert_eq!(streams_state_files(app.state.path()), 2, "one store folder a task");
    }
}

fn streams_state_files(state: &Path) -> usize {
    let mut folders = vec![state.to_path_buf()];
    let mut stores = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the state folder is there").flatten() {
            if entry.path().is_dir() {
                stores += usize::from(entry.file_name() == "sums");
                folders.push(entry.path());
            }
        }
    }
    stores
}

pub(crate) async fn a_wiped_state_folder_is_restored_from_the_changelog(cluster: &Cluster) {
    let app = Application::new(cluster).await;
    let streams = app.start(cluster).await;
    app.feed(cluster, &[("a", 1), ("b", 2), ("c", 3)]).await;
    app.await_outputs(cluster, &[("a", 1), ("b", 2), ("c", 3)]).await;
    streams.close(PATIENCE).await.unwrap();
    for entry in std::fs::read_dir(app.state.path()).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
    }
    let streams = Streams::start(app.kip_28(), app.config(cluster)).await.unwrap();
    let mut restores = streams.restores();
    streams.states().wait_for(State::Running).await.unwrap();
    assert_eq!(streams.metrics().value_of("restore-records-total"), Some(3.0));
    // One event for each changelog that had anything; together they tell all records.
    let mut told = 0;
    while told < 3 {
        if let Some(RestoreEvent::Finished { restored, store, .. }) = restores.next().await {
            assert_eq!(store, "sums");
            told += restored;
        }
    }
    app.feed(cluster, &[("a", 10)]).await;
    app.await_outputs(cluster, &[("a", 11), ("b", 2), ("c", 3)]).await;
    streams.close(PATIENCE).await.unwrap();
}

pub(crate) async fn a_runtime_shows_what_it_does(cluster: &Cluster) {
    let app = Application::new(cluster).await;
    let streams = app.start(cluster).await;
    assert_eq!((streams.state(), streams.states().current()), (State::Running, State::Running));
    let metadata = streams.local_metadata();
    assert_eq!(metadata.active.len(), 2);
    app.feed(cluster, &[("a", 1)]).await;
    eventually("an input is committed", async || {
        let active = streams.local_metadata().active;
        active
            .iter()
            .flat_map(|task| &task.committed)
            .any(|(_, offset)| offset.is_some_and(|next| next.get() == 1))
            .then_some(())
    })
    .await;
    assert!(streams.metrics().iter().any(|metric| metric.name.contains("process")), "what is processed is counted");
    let mut states = streams.states();
    streams.close(PATIENCE).await.unwrap();
    states.wait_for(State::NotRunning).await.unwrap();
}

pub(crate) async fn workers_come_and_go(cluster: &Cluster) {
    let app = Application::new(cluster).await;
    let streams = app.start(cluster).await;
    assert_eq!(streams.add_worker(), 3);
    assert_eq!(streams.remove_worker(Duration::MAX).await.unwrap(), 2);
    assert_eq!(streams.remove_worker(PATIENCE).await.unwrap(), 1);
    app.feed(cluster, &[("a", 1), ("b", 1)]).await;
    app.await_outputs(cluster, &[("a", 1), ("b", 1)]).await;
    streams.close(Duration::MAX).await.unwrap();
}

pub(crate) async fn a_paused_runtime_processes_nothing(cluster: &Cluster) {
    let app = Application::new(cluster).await;
    let streams = Streams::start(app.count(), app.config(cluster)).await.unwrap();
    streams.states().wait_for(State::Running).await.unwrap();
    streams.pause();
    app.feed(cluster, &[("a", 1)]).await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(cluster.records(&app.output).await.is_empty());
    streams.resume();
    app.await_outputs(cluster, &[("a", 1)]).await;
    streams.close(PATIENCE).await.unwrap();
}

pub(crate) async fn a_missing_input_topic_is_named(cluster: &Cluster) {
    let mut app = Application::new(cluster).await;
    app.input = unique("missing");
    let error = Streams::start(app.kip_28(), app.config(cluster)).await.unwrap_err();
    assert_eq!(error.kind(), StreamsErrorKind::Topology, "{error}");
    let mut told = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        told = format!("{told}: {error}");
        cause = error.source();
    }
    assert!(told.contains(&app.input), "{told}");
}

pub(crate) async fn a_static_runtime_stays_in_its_group(cluster: &Cluster) {
    let app = Application::new(cluster).await;
    let start = async || {
        let config = app.config(cluster).set("group.instance.id", "one");
        let streams = Streams::start(app.kip_28(), config).await.unwrap();
        streams.states().wait_for(State::Running).await.unwrap();
        streams
    };
    let admin = cluster.admin().await;
    let members = async || {
        let described = admin.groups().describe([&app.id]).await.unwrap().all().unwrap();
        described[&app.id].members.clone()
    };
    start().await.close(PATIENCE).await.unwrap();
    let stayed = members().await;
    assert_eq!(stayed.len(), 1, "a static member stays when it closes");
    assert_eq!(stayed[0].group_instance_id.as_deref(), Some("one"));
    // Its return moves nothing: it has its partitions at once, and goes on.
    let again = start().await;
    assert_eq!(members().await[0].assignment, stayed[0].assignment);
    app.feed(cluster, &[("a", 1)]).await;
    app.await_outputs(cluster, &[("a", 1)]).await;
    again.close(PATIENCE).await.unwrap();
}
