//! The DSL on a cluster: a grouping by another key goes through a repartition topic, which the runtime makes.

mod common;

use common::{PATIENCE, config, last_values, until, within};
use millstream::client::ProducerRecord;
use millstream::prelude::*;
use millstream_testkit::TestCluster;
use std::collections::BTreeMap;
use std::time::Duration;

fn words() -> Topology {
    let builder = StreamsBuilder::new();
    builder
        .stream::<(), String>("lines")
        .flat_map_values(|line| line.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>())
        .group_by(|(), word| word.clone())
        .count_with("counts")
        .to("word-counts");
    builder.build().expect("the topology is sound")
}

#[tokio::test]
async fn words_meet_in_one_task_whatever_line_they_came_in() {
    let cluster = TestCluster::builder().topic("lines", 3).topic("word-counts", 1).start().await;
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let one = Streams::start(words(), config(&cluster, "words", folders[0].path())).await.expect("it starts");
    let two = Streams::start(words(), config(&cluster, "words", folders[1].path())).await.expect("it starts");
    until("three each", || one.local_metadata().active.len() == 3 && two.local_metadata().active.len() == 3).await;
    let producer = Producer::connect(&cluster).await.expect("the cluster is there");
    for (partition, line) in [(0, "To be"), (1, "or not"), (2, "to be"), (0, "that is")] {
        let record = ProducerRecord::to("lines").value(line).partition(partition);
        producer.send(record).await.expect("it is written");
    }
    let expected = [("to", 2), ("be", 2), ("or", 1), ("not", 1), ("that", 1), ("is", 1)];
    let expected: BTreeMap<String, i64> = expected.into_iter().map(|(word, count)| (word.to_owned(), count)).collect();
    until("all is counted", || last_values(&cluster, "word-counts") == expected).await;
    for streams in [one, two] {
        within("close", streams.close(PATIENCE)).await.expect("it closes");
    }
}

#[tokio::test]
async fn paused_application_processes_nothing_until_it_is_resumed() {
    let cluster = TestCluster::builder().topic("lines", 1).topic("word-counts", 1).start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let streams = Streams::start(words(), config(&cluster, "words", folder.path())).await.expect("it starts");
    within("run", streams.states().wait_for(millstream::State::Running)).await.expect("it runs");
    assert_eq!(streams.add_worker(), 3);
    assert_eq!(streams.remove_worker(PATIENCE).await.expect("it is idle"), 2);
    streams.pause();
    let producer = Producer::connect(&cluster).await.expect("the cluster is there");
    producer.send(ProducerRecord::to("lines").value("word")).await.expect("it is written");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(cluster.records("word-counts").is_empty());
    streams.resume();
    until("it is counted", || last_values(&cluster, "word-counts").get("word") == Some(&1)).await;
    within("close", streams.close(PATIENCE)).await.expect("it closes");
}
