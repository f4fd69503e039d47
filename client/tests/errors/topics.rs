//! A topic that does not exist, as each role meets it.

use super::{whole, within};
use millstream_client::{Client, Consumer, ErrorKind, Producer, ProducerRecord};
use millstream_protocol::ErrorCode;
use millstream_testkit::TestCluster;
use std::time::Duration;

async fn cluster() -> TestCluster {
    TestCluster::builder().topic("there", 1).config("auto.create.topics.enable", "false").start().await
}
/// A client that believes the brokers sooner than others do.
async fn client(cluster: &TestCluster) -> Client {
    let builder = Client::builder(cluster.bootstrap_servers()).topic_propagation(Duration::from_millis(100));
    builder.build().await.expect("connects")
}

#[tokio::test]
async fn the_producer_names_it_and_sends_to_the_others() {
    let cluster = cluster().await;
    let client = client(&cluster).await;
    let producer = Producer::builder(&client).linger(Duration::from_millis(50)).build().await.expect("builds");
    let accepted = producer.enqueue(ProducerRecord::to("there").value("before")).await.expect("accepted");
    let sent = producer.send(ProducerRecord::to("nowhere").value("x"));
    let error = within("the verdict", sent).await.expect_err("no such topic");
    assert_eq!(
        whole(&error),
        "find topic `nowhere`: the cluster has no such topic; create it, or check its name\nbecause: \
         UNKNOWN_TOPIC_OR_PARTITION (3): This server does not host this topic-partition."
    );
    assert_eq!(error.code(), Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION));
    accepted.await.expect("it went all the same");
    producer.send(ProducerRecord::to("there").value("after")).await.expect("goes on");
    assert_eq!(cluster.values("there"), ["before", "after"]);
}

#[tokio::test(start_paused = true)]
async fn the_producer_that_may_not_wait_so_long_says_what_the_cluster_said() {
    let cluster = TestCluster::builder().in_memory().config("auto.create.topics.enable", "false").start().await;
    let producer = Producer::builder(&cluster).max_block(Duration::from_millis(300)).build().await.expect("builds");
    let error = producer.send(ProducerRecord::to("nowhere").value("x")).await.expect_err("no such topic");
    assert_eq!(
        whole(&error),
        "find topic `nowhere`: in the time given the cluster came to know no such topic; create it, or \
         check its name\nbecause: UNKNOWN_TOPIC_OR_PARTITION (3): This server does not host this \
         topic-partition."
    );
    assert_eq!(error.kind(), ErrorKind::TimedOut);
}

#[tokio::test]
async fn the_consumer_names_it_and_reads_it_once_it_is_there() {
    let cluster = cluster().await;
    let client = client(&cluster).await;
    let builder = Consumer::builder(&client).group_id("g").topics(["nowhere"]);
    let mut consumer =
        builder.auto_offset_reset(millstream_client::OffsetReset::Earliest).build().await.expect("builds");
    let error = within("the verdict", consumer.poll()).await.expect_err("no such topic");
    assert_eq!(
        whole(&error),
        "read topic `nowhere`: the cluster has no such topic; create it, or check its name\nbecause: \
         UNKNOWN_TOPIC_OR_PARTITION (3): This server does not host this topic-partition."
    );
    cluster.create_topic("nowhere", 1);
    let producer = Producer::connect(&cluster).await.expect("connects");
    producer.send(ProducerRecord::to("nowhere").value("x")).await.expect("sends");
    let records = within("the record", async {
        loop {
            let records = consumer.poll().await.expect("reads");
            if records.iter().next().is_some() {
                return records;
            }
        }
    });
    assert_eq!(records.await.iter().next().and_then(|record| record.value()), Some(&b"x"[..]));
}

#[tokio::test]
async fn a_partition_that_does_not_exist_is_named() {
    let cluster = cluster().await;
    let producer = Producer::connect(&cluster).await.expect("connects");
    let error =
        producer.send(ProducerRecord::to("there").value("x").partition(7)).await.expect_err("no such partition");
    assert_eq!(whole(&error), "write a record: topic `there` has 1 partition(s), counted from 0: there is no 7");
}

#[tokio::test]
async fn the_admin_names_it() {
    let cluster = cluster().await;
    let client = client(&cluster).await;
    let described = client.admin().topics().describe(["nowhere"]).await.expect("asked");
    let error = described.all().expect_err("no such topic");
    assert_eq!(
        whole(&error),
        "describe topic `nowhere`: the cluster has no such topic; create it, or check its name\nbecause: \
         UNKNOWN_TOPIC_OR_PARTITION (3): This server does not host this topic-partition."
    );
    let deleted = client.admin().topics().delete(["nowhere"]).await.expect("asked");
    let error = deleted.all().expect_err("no such topic");
    assert_eq!(
        whole(&error),
        "delete topic `nowhere`: the cluster has no such topic; check its name\nbecause: \
         UNKNOWN_TOPIC_OR_PARTITION (3): This server does not host this topic-partition."
    );
}
