//! State: right after a clean restart, a restart without files, and several processes.

mod common;

use common::{PATIENCE, config, last_values, send, sums, until, within};
use millstream::stores::{ChangelogOptions, key_value};
use millstream::{State, Streams};
use millstream_testkit::TestCluster;
use std::collections::BTreeMap;
use std::time::Duration;

async fn cluster() -> TestCluster {
    TestCluster::builder()
        .topic("numbers", 4)
        .topic("sums", 4)
        .config("auto.create.topics.enable", "false")
        .start()
        .await
}

fn numbers(count: i64) -> impl Iterator<Item = (String, i64)> {
    (0..count).map(|number| (format!("key-{}", number % 7), number))
}

fn expected(times: i64, count: i64) -> BTreeMap<String, i64> {
    let mut sums = BTreeMap::new();
    numbers(count).for_each(|(key, number)| *sums.entry(key).or_insert(0) += times * number);
    sums
}

fn metric(streams: &Streams, name: &str) -> f64 {
    streams.metrics().value_of(name).expect("there is such a metric")
}

const CHANGELOG: &str = "app-sums-changelog";

#[tokio::test]
async fn restart_goes_on_from_its_files_and_reads_no_changelog_record() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    for round in 1..=3 {
        send(&cluster, numbers(500)).await;
        let streams = Streams::start(sums(key_value("sums")), config(&cluster, "app", folder.path())).await;
        let streams = streams.expect("it starts");
        until("all is summed", || last_values(&cluster, CHANGELOG) == expected(round, 500)).await;
        assert_eq!(metric(&streams, "restore-records-total"), 0.0, "round {round}");
        within("close", streams.close(PATIENCE)).await.expect("it closes");
    }
    assert_eq!(last_values(&cluster, "sums"), expected(3, 500));
}

#[tokio::test]
async fn wiped_folder_is_restored_from_the_changelog() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    for round in 1..=2 {
        send(&cluster, numbers(500)).await;
        let streams = Streams::start(sums(key_value("sums")), config(&cluster, "app", folder.path())).await;
        let streams = streams.expect("it starts");
        until("all is summed", || last_values(&cluster, CHANGELOG) == expected(round, 500)).await;
        assert_eq!(metric(&streams, "restore-records-total") > 0.0, round == 2);
        within("close", streams.close(PATIENCE)).await.expect("it closes");
        std::fs::remove_dir_all(folder.path().join("app")).expect("it can be removed");
    }
}

#[tokio::test]
async fn memory_store_is_restored_at_each_start() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    for round in 1..=2 {
        send(&cluster, numbers(100)).await;
        let topology = sums(key_value("sums").in_memory());
        let streams = Streams::start(topology, config(&cluster, "app", folder.path())).await.expect("it starts");
        until("all is summed", || last_values(&cluster, CHANGELOG) == expected(round, 100)).await;
        within("close", streams.close(PATIENCE)).await.expect("it closes");
    }
}

#[tokio::test]
async fn journaled_store_without_a_changelog_goes_on_where_it_was() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    for round in 1..=2 {
        send(&cluster, numbers(100)).await;
        let topology = sums(key_value("sums").changelog(ChangelogOptions::Off));
        let streams = Streams::start(topology, config(&cluster, "app", folder.path())).await.expect("it starts");
        until("all is summed", || last_values(&cluster, "sums") == expected(round, 100)).await;
        within("close", streams.close(PATIENCE)).await.expect("it closes");
    }
}

#[tokio::test]
async fn second_process_takes_half_of_the_tasks_and_gives_them_back() {
    let cluster = cluster().await;
    let folders = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
    let start = |at: usize| Streams::start(sums(key_value("sums")), config(&cluster, "app", folders[at].path()));
    let one = start(0).await.expect("it starts");
    within("run", one.states().wait_for(State::Running)).await.expect("it runs");
    assert_eq!(one.local_metadata().active.len(), 4);
    send(&cluster, numbers(300)).await;
    let two = start(1).await.expect("it starts");
    until("two each", || one.local_metadata().active.len() == 2 && two.local_metadata().active.len() == 2).await;
    send(&cluster, numbers(300)).await;
    until("all is summed", || last_values(&cluster, CHANGELOG) == expected(2, 300)).await;
    assert_eq!(metric(&one, "task-created-total"), 4.0, "the tasks that stayed were not touched");
    within("close", two.close(PATIENCE)).await.expect("it closes");
    until("all four again", || one.local_metadata().active.len() == 4).await;
    send(&cluster, numbers(300)).await;
    until("all is summed", || last_values(&cluster, CHANGELOG) == expected(3, 300)).await;
    within("close", one.close(PATIENCE)).await.expect("it closes");
}

/// Each of the four tasks keeps about a quarter of the budget and more, none of them all of it. It was compared with each task's own
/// bytes, so that a process with many tasks kept many times what it should.
#[tokio::test]
async fn small_tasks_reach_the_budget_for_uncommitted_state_together() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    let config = config(&cluster, "app", folder.path())
        .commit_interval(Duration::from_secs(3_600))
        .set("uncommitted.state.max.bytes", "200000");
    let streams = Streams::start(sums(key_value("sums")), config).await.expect("it starts");
    send(&cluster, (0..4_000).map(|number| (format!("key-{number:04}"), number))).await;
    until("the budget makes them commit", || !last_values(&cluster, CHANGELOG).is_empty()).await;
    within("close", streams.close(PATIENCE)).await.expect("it closes");
}
