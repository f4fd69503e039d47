//! Logs that are compacted by their cleaner's own schedule.

use crate::client::{Connection, fetch, text, write};
use bytes::Bytes;
use millstream_client::{Consumer, OffsetReset};
use millstream_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use millstream_protocol::messages::{GroupId, OffsetCommitRequest, TopicName};
use millstream_protocol::record::{BatchBuilder, CrcCheck, Stamp, batches};
use millstream_protocol::{Compressor, Decompressor, ErrorCode, Headers, ProducerEpoch, ProducerId};
use millstream_testkit::{TestCluster, TestTopic};
use std::time::Duration;

/// A record of a key at a time since the cluster's start.
fn record(cluster: &TestCluster, key: &str, value: Option<&str>, after: Duration) -> Bytes {
    let mut builder = BatchBuilder::new();
    let (key, value) = (Some(key.as_bytes()), value.map(str::as_bytes));
    builder.append(cluster.time() + after, key, value, &Headers::new()).expect("it fits");
    builder.seal(&mut Compressor::none()).expect("no codec, no error").to_bytes(&Stamp::plain())
}
/// Which offsets of a partition there are.
fn offsets(connection: &mut Connection, topic: &str, partition: i32) -> Vec<i64> {
    let response = connection.call(12, &fetch(topic, partition, 0, 0));
    let bytes = response.responses[0].partitions[0].records.clone().into_bytes().unwrap_or_default();
    let mut offsets = Vec::new();
    for batch in batches(bytes) {
        let decoded = batch.expect("whole batches").decode(&mut Decompressor::new(), CrcCheck::Check);
        offsets.extend(decoded.expect("a valid batch").iter().map(|record| record.offset.get()));
    }
    offsets
}

#[tokio::test]
async fn a_compacted_topic_is_cleaned_once_its_segment_has_rolled() {
    let cluster = TestCluster::builder()
        .config("log.cleanup.policy", "compact")
        .config("log.roll.ms", "60000")
        .config("log.cleaner.delete.retention.ms", "1000")
        .topic("t", 1)
        .start()
        .await;
    let mut connection = Connection::to(&cluster, 0);
    let mut append = |key: &str, value: Option<&str>, after: u64| {
        write(&mut connection, "t", record(&cluster, key, value, Duration::from_secs(after)));
    };
    append("a", Some("1"), 0);
    append("a", Some("2"), 1);
    append("b", None, 2);
    cluster.advance(Duration::from_secs(16)).await;
    let mut reader = Connection::to(&cluster, 0);
    assert_eq!(offsets(&mut reader, "t", 0), [0, 1, 2], "all of it is in the active segment");
    append("c", Some("1"), 70);
    cluster.advance(Duration::from_secs(16)).await;
    assert_eq!(offsets(&mut reader, "t", 0), [1, 2, 3]);
    // More is dirty than clean, and the tombstone's time is over.
    append("a", Some("3"), 140);
    append("a", Some("4"), 210);
    append("a", Some("5"), 280);
    cluster.advance(Duration::from_secs(16)).await;
    assert_eq!(offsets(&mut reader, "t", 0), [3, 5, 6]);
}

#[tokio::test]
async fn what_groups_have_committed_is_compacted() {
    let cluster = TestCluster::builder().topic("t", 1).config("offsets.topic.num.partitions", "1").start().await;
    let mut connection = Connection::to(&cluster, 0);
    let note = "n".repeat(4000);
    for offset in 0..600 {
        let partition = OffsetCommitRequestPartition::default()
            .with_committed_offset(offset)
            .with_committed_metadata(Some(text(&note)));
        let topic =
            OffsetCommitRequestTopic::default().with_name(TopicName(text("t"))).with_partitions(vec![partition]);
        let request = OffsetCommitRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_generation_id_or_member_epoch(-1)
            .with_topics(vec![topic]);
        assert_eq!(connection.call(9, &request).topics[0].partitions[0].error_code, 0);
    }
    cluster.advance(Duration::from_secs(16)).await;
    // Two segments of about 260 commits were full: the last of the second is left of them, and what is in the active one.
    let left = offsets(&mut connection, "__consumer_offsets", 0);
    assert!((1..260).contains(&left.len()) && left.last() == Some(&599), "{} are left", left.len());
}

#[tokio::test]
async fn a_segment_ends_with_its_time_and_goes_alone() {
    let cluster = TestCluster::builder()
        .config("log.roll.ms", "60000")
        .config("log.retention.ms", "100000")
        .topic("t", 1)
        .start()
        .await;
    let mut connection = Connection::to(&cluster, 0);
    for after in [0, 50, 90] {
        write(&mut connection, "t", record(&cluster, "k", Some("v"), Duration::from_secs(after)));
    }
    cluster.advance(Duration::from_secs(155)).await;
    cluster.apply_retention();
    let fetched = |connection: &mut Connection, from: i64| {
        let partition = connection.call(12, &fetch("t", 0, from, 0)).responses.remove(0).partitions.remove(0);
        (ErrorCode::new(partition.error_code), partition.log_start_offset)
    };
    assert_eq!(fetched(&mut connection, 1).0, ErrorCode::OFFSET_OUT_OF_RANGE, "the first segment is too old");
    assert_eq!(fetched(&mut connection, 2), (ErrorCode::NONE, 2));
}

#[tokio::test]
async fn a_batch_that_compaction_has_emptied_is_fetched_and_passed() {
    let cluster =
        TestCluster::builder().topic_with(TestTopic::new("t", 1).config("cleanup.policy", "compact")).start().await;
    let of_producer = |sequence: i32| {
        let mut builder = BatchBuilder::new();
        builder.append(cluster.time(), Some(b"k"), Some(b"v"), &Headers::new()).expect("it fits");
        let sealed = builder.seal(&mut Compressor::none()).expect("no codec, no error");
        sealed.to_bytes(&Stamp::idempotent(ProducerId::new(7), ProducerEpoch::new(0), sequence))
    };
    let mut connection = Connection::to(&cluster, 0);
    write(&mut connection, "t", of_producer(0));
    write(&mut connection, "t", of_producer(1));
    write(&mut connection, "t", record(&cluster, "k", Some("last"), Duration::ZERO));
    cluster.compact("t");
    let response = connection.call(12, &fetch("t", 0, 0, 0));
    let bytes = response.responses[0].partitions[0].records.clone().into_bytes().expect("there are some");
    let heads: Vec<_> = batches(bytes).map(|batch| batch.expect("whole batches")).collect();
    let told: Vec<_> = heads.iter().map(|batch| (batch.header().base_offset, batch.header().count)).collect();
    // The producer's first batch is gone; its last one, which has its sequence, is there without a record.
    assert_eq!(told, [(1, 0), (2, 1)]);
    assert_eq!(write(&mut connection, "t", of_producer(2)), (0, 3), "its sequence goes on");

    let mut consumer =
        Consumer::builder(&cluster).auto_offset_reset(OffsetReset::Earliest).build().await.expect("it is there");
    consumer.assign([("t", 0)]);
    let mut read = Vec::new();
    while read.len() < 2 {
        read.extend(consumer.poll().await.expect("it is there").iter().map(|record| record.offset().get()));
    }
    assert_eq!(read, [2, 3], "our consumer goes past it");
}
