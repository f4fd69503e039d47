//! What goes wrong is said in words that help, and loses nothing.

mod common;

use common::{PATIENCE, config, last_values, send, sums, until, within};
use millstream::failure::{OnDeserializationFailure, OnTaskFailure, TaskFailure};
use millstream::prelude::*;
use millstream::stores::fs::MemoryFs;
use millstream::stores::key_value;
use millstream::{ProcessingGuarantee, State, StreamsError, StreamsErrorKind};
use millstream_testkit::TestCluster;
use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An error and its causes, one line each.
fn whole(error: &StreamsError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(why) = cause {
        text += &format!("\n{why}");
        cause = why.source();
    }
    text
}

/// A text without the folder and the task that it names.
fn anonymous(text: &str, folder: &Path) -> String {
    let text = text.replace(&folder.display().to_string(), "FOLDER");
    ["0_0", "0_1"].iter().fold(text, |text, task| text.replace(task, "TASK"))
}
/// Waits until all input is committed and the stores have it, so that the next operation on the disk is the next commit's first.
async fn at_rest(streams: &Streams, cluster: &TestCluster) {
    let input = i64::try_from(cluster.records("numbers").len()).expect("few");
    let committed = || {
        let active = streams.local_metadata().active;
        active.iter().flat_map(|task| &task.committed).filter_map(|(_, next)| *next).map(|next| next.get()).sum::<i64>()
    };
    until("all is committed", || committed() == input).await;
}
/// The number after "at byte".
fn byte_of(text: &str) -> usize {
    let digits = text.split_once("at byte ").map_or("", |(_, after)| after);
    digits.split(|each: char| !each.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

async fn cluster() -> TestCluster {
    TestCluster::builder()
        .topic("numbers", 2)
        .topic("sums", 2)
        .config("auto.create.topics.enable", "false")
        .start()
        .await
}

#[tokio::test]
async fn missing_source_topic_is_named() {
    let cluster = TestCluster::builder().config("auto.create.topics.enable", "false").start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let error = Streams::start(sums(key_value("sums")), config(&cluster, "app", folder.path())).await;
    let error = error.expect_err("the topic is not there");
    assert_eq!(error.kind(), StreamsErrorKind::Topology);
    assert_eq!(
        error.to_string(),
        "start: topic `numbers`, which the topology reads, does not exist; create it before starting"
    );
}

#[tokio::test]
async fn unreachable_cluster_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = StreamsConfig::new("app", Client::builder("127.0.0.1:1")).state_dir(folder.path());
    let error = Streams::start(sums(key_value("sums")), config).await.expect_err("nobody listens");
    assert_eq!(error.kind(), StreamsErrorKind::Client);
    assert_eq!(
        whole(&error),
        "connect application `app`\nconnect to the cluster: no broker answered. Tried: 127.0.0.1:1: \
         Connection refused (os error 111). Check that the brokers run, that bootstrap.servers names their \
         listeners, and that nothing on the way blocks the ports"
    );
}

#[tokio::test]
async fn exactly_once_outputs_are_refused_for_now() {
    let cluster = cluster().await;
    let config = StreamsConfig::new("app", &cluster).processing_guarantee(ProcessingGuarantee::ExactlyOnceV2);
    let error = Streams::start(sums(key_value("sums")), config).await.expect_err("it is not built");
    assert_eq!(error.kind(), StreamsErrorKind::Config);
    assert!(error.to_string().contains("`exactly_once_v2` is not built yet"), "{error}");
}

#[tokio::test]
async fn folder_in_use_is_refused() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    let one = Streams::start(sums(key_value("sums")), config(&cluster, "app", folder.path())).await.expect("it starts");
    let error = Streams::start(sums(key_value("sums")), config(&cluster, "app", folder.path())).await;
    let text = whole(&error.expect_err("the folder is in use"));
    assert!(
        text.starts_with("lock the state folder") && text.contains("another process of this application"),
        "{text}"
    );
    within("close", one.close(PATIENCE)).await.expect("it closes");
}

#[tokio::test]
async fn changelog_with_another_number_of_partitions_is_refused() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    cluster.create_topic("app-sums-changelog", 3);
    let error = Streams::start(sums(key_value("sums")), config(&cluster, "app", folder.path())).await;
    let text = error.expect_err("it has too many").to_string();
    assert!(text.contains("changelog topic `app-sums-changelog` has 3 partitions and must have 2"), "{text}");
}

#[tokio::test]
async fn undecodable_record_stops_the_process_and_what_came_before_is_committed() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    send(&cluster, [("a".to_owned(), 1), ("a".to_owned(), 2)]).await;
    let producer = Producer::connect(&cluster).await.expect("the cluster is there");
    producer.send(ProducerRecord::to("numbers").key("a").value("no long")).await.expect("it is written");
    send(&cluster, [("a".to_owned(), 4)]).await;
    let streams =
        Streams::start(sums(key_value("sums")), config(&cluster, "app", folder.path())).await.expect("it starts");
    let error = within("stop", streams.run_until(std::future::pending::<()>())).await.expect_err("a record is bad");
    assert!(matches!(error.kind(), StreamsErrorKind::Task(_)), "{error:?}");
    let partition = cluster.records("numbers")[0].topic_partition.partition.get();
    let text =
        whole(&error).replace(&format!("0_{partition}"), "TASK").replace(&format!("numbers-{partition}"), "PARTITION");
    assert_eq!(
        text,
        "run task TASK\ntask TASK: read the value of PARTITION at offset 2 in source `numbers`; correct its \
         serde, or let the handler of deserialization failures skip such records or send them elsewhere \
         (deserialization.exception.handler)\nhas 7 bytes where a value of 8 is expected"
    );
    assert_eq!(last_values(&cluster, "app-sums-changelog").get("a"), Some(&3));

    let skipping =
        config(&cluster, "app", folder.path()).on_deserialization_failure(OnDeserializationFailure::Continue);
    let streams = Streams::start(sums(key_value("sums")), skipping).await.expect("it starts");
    until("all is summed", || last_values(&cluster, "app-sums-changelog").get("a") == Some(&7)).await;
    assert_eq!(streams.metrics().value_of("dropped-records-total"), Some(1.0));
    within("close", streams.close(PATIENCE)).await.expect("it closes");
}

#[tokio::test]
async fn undecodable_record_goes_to_the_dead_letters_with_where_it_came_from_and_why() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    cluster.create_topic("letters", 1);
    send(&cluster, [("a".to_owned(), 1)]).await;
    let producer = Producer::connect(&cluster).await.expect("the cluster is there");
    let bad = producer.send(ProducerRecord::to("numbers").key("a").value("no long")).await.expect("it is written");
    send(&cluster, [("a".to_owned(), 4)]).await;
    let config = config(&cluster, "app", folder.path())
        .on_deserialization_failure(OnDeserializationFailure::DeadLetter("letters".to_owned()));
    let streams = Streams::start(sums(key_value("sums")), config).await.expect("it starts");
    until("all is summed", || last_values(&cluster, "app-sums-changelog").get("a") == Some(&5)).await;
    let letters = cluster.wait_for_records("letters", 1).await;
    assert_eq!(letters[0].key.as_deref(), Some(&b"a"[..]));
    assert_eq!(letters[0].value.as_deref(), Some(&b"no long"[..]), "as it was");
    let said: Vec<String> = letters[0]
        .headers
        .iter()
        .map(|each| format!("{}={}", each.name, String::from_utf8_lossy(each.value.unwrap_or_default())))
        .collect();
    let said = said.join("\n").replace(&format!("partition={}", bad.topic_partition.partition), "partition=P");
    assert_eq!(
        said,
        "__streams.errors.exception=DeserializationFailure\n__streams.errors.message=has 7 bytes where a \
         value of 8 is expected\n__streams.errors.stacktrace=has 7 bytes where a value of 8 is \
         expected\n__streams.errors.topic=numbers\n__streams.errors.partition=P\n__streams.errors.offset=1"
    );
    within("close", streams.close(PATIENCE)).await.expect("it closes");
}

#[tokio::test]
async fn failing_task_is_started_again_and_its_neighbour_goes_on() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    static FAILURES: AtomicU32 = AtomicU32::new(0);
    let builder = StreamsBuilder::new();
    let numbers = builder.stream::<String, i64>("numbers");
    numbers
        .map_values(|number| {
            assert!(number != 13 || FAILURES.fetch_add(1, Ordering::SeqCst) >= 2, "thirteen");
            number
        })
        .to("sums");
    let config =
        config(&cluster, "app", folder.path()).on_task_failure(OnTaskFailure::Restart(Duration::from_millis(50)));
    let streams = Streams::start(builder.build().expect("it is sound"), config).await.expect("it starts");
    send(&cluster, (0..40).map(|number| (format!("key-{number}"), number))).await;
    until("all went through", || last_values(&cluster, "sums").len() == 40).await;
    assert_eq!(FAILURES.load(Ordering::SeqCst), 3);
    within("run", streams.states().wait_for(State::Running)).await.expect("it runs");
    within("close", streams.close(PATIENCE)).await.expect("it closes");
}

#[tokio::test]
async fn full_disk_loses_nothing_and_work_goes_on_when_there_is_room() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    let disk = MemoryFs::new();
    static SAID: Mutex<Option<String>> = Mutex::new(None);
    let config = config(&cluster, "app", folder.path()).state_fs(Arc::new(disk.clone())).on_task_failure(
        |failure: &TaskFailure| {
            SAID.lock().expect("nothing panics").get_or_insert_with(|| failure.error.to_string());
            OnTaskFailure::Restart(Duration::from_millis(50))
        },
    );
    let streams = Streams::start(sums(key_value("sums")), config).await.expect("it starts");
    let numbers = || (0..50).map(|number| (format!("key-{}", number % 5), 1_i64));
    send(&cluster, numbers()).await;
    let sum = |of: i64| {
        move |last: &std::collections::BTreeMap<String, i64>| last.len() == 5 && last.values().all(|each| *each == of)
    };
    until("all is summed", || sum(10)(&last_values(&cluster, "app-sums-changelog"))).await;
    at_rest(&streams, &cluster).await;
    disk.fail_from(disk.operations(), std::io::ErrorKind::StorageFull);
    send(&cluster, numbers()).await;
    until("a task fails", || SAID.lock().expect("nothing panics").is_some()).await;
    disk.heal();
    send(&cluster, numbers()).await;
    until("all is summed", || sum(30)(&last_values(&cluster, "app-sums-changelog"))).await;
    let said = SAID.lock().expect("nothing panics").clone().unwrap_or_default();
    assert_eq!(anonymous(&said, folder.path()), "prepare a commit in the stores of task TASK");
    within("close", streams.close(PATIENCE)).await.expect("it closes");
}

#[tokio::test]
async fn close_tells_that_the_last_commit_failed() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    let disk = MemoryFs::new();
    let config = config(&cluster, "app", folder.path())
        .state_fs(Arc::new(disk.clone()))
        .commit_interval(Duration::from_secs(3600));
    let streams = Streams::start(sums(key_value("sums")), config).await.expect("it starts");
    send(&cluster, (0..50).map(|number| ("a".to_owned(), number))).await;
    until("all is processed", || streams.metrics().value_of("process-total") == Some(50.0)).await;
    disk.fail_from(disk.operations(), std::io::ErrorKind::StorageFull);
    let error = within("close", streams.close(PATIENCE)).await.expect_err("nothing was committed");
    let text = whole(&error);
    assert!(text.contains("the stores of task 0_") && text.contains("The disk is full"), "{text}");
}

#[tokio::test]
async fn full_disk_stops_the_process_and_the_next_one_has_it_all() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    let disk = MemoryFs::new();
    let config = || config(&cluster, "app", folder.path()).state_fs(Arc::new(disk.clone()));
    let streams = Streams::start(sums(key_value("sums")), config()).await.expect("it starts");
    send(&cluster, [("a".to_owned(), 1)]).await;
    until("it is summed", || last_values(&cluster, "app-sums-changelog").get("a") == Some(&1)).await;
    at_rest(&streams, &cluster).await;
    disk.fail_from(disk.operations(), std::io::ErrorKind::StorageFull);
    send(&cluster, [("a".to_owned(), 2)]).await;
    let error = within("stop", streams.run_until(std::future::pending::<()>())).await.expect_err("the disk is full");
    assert_eq!(
        anonymous(&whole(&error), folder.path()),
        "run task TASK\nprepare a commit in the stores of task TASK\nstore `sums`: cannot append to \
         `FOLDER/app/TASK/sums/journal-0`; what was accepted before is kept. The disk is full: make room; \
         a task that has stopped is started again then\nthe test says so"
    );
    send(&cluster, [("a".to_owned(), 4)]).await;
    disk.heal();
    let streams = Streams::start(sums(key_value("sums")), config()).await.expect("it starts");
    until("all is summed", || last_values(&cluster, "app-sums-changelog").get("a") == Some(&7)).await;
    within("close", streams.close(PATIENCE)).await.expect("it closes");
}

#[tokio::test]
async fn corrupt_journal_is_named_and_kept_and_its_removal_restores_the_store() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    let config = || config(&cluster, "app", folder.path());
    send(&cluster, (0..50).map(|number| ("a".to_owned(), number))).await;
    let streams = Streams::start(sums(key_value("sums")), config()).await.expect("it starts");
    until("all is summed", || last_values(&cluster, "app-sums-changelog").get("a") == Some(&1225)).await;
    within("close", streams.close(PATIENCE)).await.expect("it closes");

    let partition = cluster.records("numbers")[0].topic_partition.partition;
    let store = folder.path().join("app").join(format!("0_{partition}")).join("sums");
    let journal = store.join("journal-0");
    let mut bytes = std::fs::read(&journal).expect("it can be read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&journal, &bytes).expect("it can be written");
    let streams = Streams::start(sums(key_value("sums")), config()).await.expect("it starts");
    let stopped = within("stop", streams.run_until(std::future::pending::<()>())).await;
    let error = stopped.expect_err("a journal is corrupt");
    assert_eq!(error.kind(), StreamsErrorKind::State);
    let (text, offset) = (anonymous(&whole(&error), folder.path()), byte_of(&whole(&error)));
    // Where in a frame the middle is depends on how many commits there were.
    let text = text.replace("a frame's header does", "a frame does");
    assert!((1..bytes.len()).contains(&offset), "{text}");
    assert_eq!(
        text.replace(&format!("at byte {offset}"), "at byte N"),
        "open store `sums` of task TASK\nstore `sums`: `FOLDER/app/TASK/sums/journal-0` is corrupt at byte \
         N: a frame does not match its checksum. Put back a good copy of the folder, or remove the folder: \
         the store is then restored from its changelog, or starts empty if it has none"
    );
    assert_eq!(std::fs::read(&journal).expect("it is still there"), bytes, "nothing is wiped or mended in silence");

    std::fs::remove_dir_all(&store).expect("what the text says is done");
    send(&cluster, [("a".to_owned(), 1000)]).await;
    let streams = Streams::start(sums(key_value("sums")), config()).await.expect("it starts");
    until("all is summed", || last_values(&cluster, "app-sums-changelog").get("a") == Some(&2225)).await;
    within("close", streams.close(PATIENCE)).await.expect("it closes");
}

#[tokio::test]
async fn broker_that_is_gone_for_a_while_loses_nothing() {
    let (cluster, folder) = (cluster().await, tempfile::tempdir().expect("a folder"));
    let streams =
        Streams::start(sums(key_value("sums")), config(&cluster, "app", folder.path())).await.expect("it starts");
    send(&cluster, (0..50).map(|number| ("a".to_owned(), number))).await;
    until("all is summed", || last_values(&cluster, "app-sums-changelog").get("a") == Some(&1225)).await;
    cluster.crash(1);
    tokio::time::sleep(Duration::from_millis(300)).await;
    cluster.restart(1);
    send(&cluster, (0..50).map(|number| ("a".to_owned(), number))).await;
    until("all is summed", || last_values(&cluster, "app-sums-changelog").get("a") == Some(&2450)).await;
    within("close", streams.close(PATIENCE)).await.expect("it closes");
}
