//! What goes wrong is said in words that help, and loses nothing.

mod common;

use common::{config, last_values, send, sums, until, within};
use millstream::failure::{OnDeserializationFailure, OnTaskFailure};
use millstream::prelude::*;
use millstream::stores::key_value;
use millstream::{ProcessingGuarantee, State, StreamsError, StreamsErrorKind};
use millstream_testkit::TestCluster;
use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
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
        "start: topic `numbers`, which the topology reads, does not exist; create before starting"
    );
}

#[tokio::test]
async fn unreachable_cluster_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let client = Client::builder("127.0.0.1:1").request_timeout(Duration::from_millis(200));
    let config = StreamsConfig::new("app", client).state_dir(folder.path());
    let error = Streams::start(sums(key_value("sums")), config).await.expect_err("nobody listens");
    assert_eq!(error.kind(), StreamsErrorKind::Client);
    let text = whole(&error);
    assert!(text.starts_with("connect application `app`") && text.contains("127.0.0.1:1"), "{text}");
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
    within("close", one.close(Duration::from_secs(10))).await.expect("it closes");
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
    let text = whole(&error);
    assert!(text.contains("numbers-") && text.contains("offset 2"), "it says which record: {text}");
    assert_eq!(last_values(&cluster, "app-sums-changelog").get("a"), Some(&3));

    let skipping =
        config(&cluster, "app", folder.path()).on_deserialization_failure(OnDeserializationFailure::Continue);
    let streams = Streams::start(sums(key_value("sums")), skipping).await.expect("it starts");
    until("all is summed", || last_values(&cluster, "app-sums-changelog").get("a") == Some(&7)).await;
    assert_eq!(streams.metrics().value_of("dropped-records-total"), Some(1.0));
    within("close", streams.close(Duration::from_secs(10))).await.expect("it closes");
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
    within("close", streams.close(Duration::from_secs(10))).await.expect("it closes");
}
