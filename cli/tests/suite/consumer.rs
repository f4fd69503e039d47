//! Consuming without a group, and what a group's consumer does beside its group.

use crate::cluster::{Cluster, PATIENCE, soon, text, unique};
use futures_util::{StreamExt, TryStreamExt};
use millstream::client::{
    Client, Consumer, ErrorKind, IsolationLevel, OffsetReset, OffsetSpec, Producer, ProducerRecord,
};
use millstream::protocol::Offset;
use millstream::{Timestamp, TopicPartition};
use std::time::Duration;
use tokio::time::timeout;

async fn fill(cluster: &Cluster, topic: &str, values: &[&str]) {
    let producer = Producer::connect(cluster.bootstrap()).await.unwrap();
    for (number, value) in (0..).zip(values) {
        let time = Timestamp::from_millis(1_000 + number * 1_000);
        producer.send(ProducerRecord::to(topic).partition(0).value(*value).timestamp(time)).await.unwrap();
    }
}

async fn reader(cluster: &Cluster, topic: &str) -> Consumer {
    let mut consumer =
        Consumer::builder(cluster.bootstrap()).auto_offset_reset(OffsetReset::Earliest).build().await.unwrap();
    consumer.assign([(topic, 0)]);
    consumer
}

/// The values of the next records, as many as wanted.
async fn take(consumer: &mut Consumer, count: usize) -> Vec<String> {
    let mut values = Vec::new();
    while values.len() < count {
        values.extend(soon(consumer.poll()).await.unwrap().iter().map(|record| text(record.value())));
    }
    values
}

pub(crate) async fn a_consumer_reads_what_it_is_assigned(cluster: &Cluster) {
    let topic = cluster.topic(2).await;
    fill(cluster, &topic, &["a", "b", "c"]).await;
    let mut consumer = reader(cluster, &topic).await;
    let partition = TopicPartition::new(topic.as_str(), 0);
    assert_eq!(consumer.assignment(), std::slice::from_ref(&partition));
    let mut seen = Vec::new();
    while seen.len() < 3 {
        let records = soon(consumer.poll()).await.unwrap();
        assert!(records.len() > 0);
        for batch in records.partitions() {
            assert_eq!(batch.topic_partition(), &partition);
            seen.extend(batch.iter().map(|record| (record.offset().get(), text(record.value()))));
        }
        assert_eq!(records.next_offsets().of(&partition).map(|next| next.offset.get()), i64::try_from(seen.len()).ok());
    }
    assert_eq!(seen, [(0, "a"), (1, "b"), (2, "c")].map(|(offset, value)| (offset, value.to_owned())));
    assert_eq!(consumer.positions().of(&partition).map(|next| next.offset), Some(Offset::new(3)));
    assert_eq!(consumer.lag(&partition), Some(0));
    // `poll` is cancel safe: what comes after a poll that was given up is not lost.
    assert!(timeout(Duration::from_millis(100), consumer.poll()).await.is_err());
    fill(cluster, &topic, &["d"]).await;
    assert_eq!(take(&mut consumer, 1).await, ["d"]);
    consumer.unsubscribe();
    assert_eq!(consumer.assignment(), []);
    consumer.close(PATIENCE).await.unwrap();
}

pub(crate) async fn positions_can_be_moved(cluster: &Cluster) {
    let topic = cluster.topic(1).await;
    fill(cluster, &topic, &["a", "b", "c"]).await;
    let mut consumer = reader(cluster, &topic).await;
    assert_eq!(take(&mut consumer, 3).await, ["a", "b", "c"]);
    consumer.seek((topic.as_str(), 0), Offset::new(1)).unwrap();
    assert_eq!(take(&mut consumer, 2).await, ["b", "c"]);
    consumer.seek((topic.as_str(), 0), OffsetSpec::Earliest).unwrap();
    assert_eq!(take(&mut consumer, 3).await, ["a", "b", "c"]);
    consumer.seek((topic.as_str(), 0), Timestamp::from_millis(2_500)).unwrap();
    assert_eq!(take(&mut consumer, 1).await, ["c"]);
    let error = consumer.seek((topic.as_str(), 7), OffsetSpec::Earliest).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misuse, "{error}");
}

pub(crate) async fn a_paused_partition_brings_nothing(cluster: &Cluster) {
    let topic = cluster.topic(1).await;
    fill(cluster, &topic, &["a"]).await;
    let mut consumer = reader(cluster, &topic).await;
    let partition = TopicPartition::new(topic.as_str(), 0);
    consumer.pause([&partition]);
    assert!(timeout(Duration::from_millis(700), consumer.poll()).await.is_err());
    consumer.resume([&partition]);
    assert_eq!(take(&mut consumer, 1).await, ["a"]);
}

pub(crate) async fn a_rewound_consumer_reads_again(cluster: &Cluster) {
    let topic = cluster.topic(1).await;
    fill(cluster, &topic, &["a", "b"]).await;
    let mut consumer = reader(cluster, &topic).await;
    let records = soon(consumer.poll()).await.unwrap();
    let first: Vec<_> = records.iter().map(|record| text(record.value())).collect();
    consumer.rewind(&records);
    assert_eq!(take(&mut consumer, first.len()).await[..first.len()], first);
}

pub(crate) async fn offsets_are_resolved_by_place_and_time(cluster: &Cluster) {
    let topic = cluster.topic(1).await;
    fill(cluster, &topic, &["a", "b", "c"]).await;
    let consumer = reader(cluster, &topic).await;
    for (spec, expected) in [
        (OffsetSpec::Earliest, Some(0)),
        (OffsetSpec::Latest, Some(3)),
        (OffsetSpec::At(Offset::new(2)), Some(2)),
        (OffsetSpec::Since(Timestamp::from_millis(1_500)), Some(1)),
        (OffsetSpec::Since(Timestamp::from_millis(9_999)), None),
    ] {
        let partition = TopicPartition::new(topic.as_str(), 0);
        let resolved = consumer.resolve_offsets([(partition.clone(), spec)]).await.unwrap();
        assert_eq!(resolved.get(&partition).copied().flatten().map(Offset::get), expected, "{spec:?}");
    }
}

pub(crate) async fn what_is_missing_follows_the_reset_policy(cluster: &Cluster) {
    let topic = cluster.topic(1).await;
    fill(cluster, &topic, &["a", "b"]).await;
    let client: Client = cluster.client().await;
    let mut consumer = client.consumer().auto_offset_reset(OffsetReset::None).build().await.unwrap();
    consumer.assign([(topic.as_str(), 0)]);
    consumer.seek((topic.as_str(), 0), Offset::new(77)).unwrap();
    let error = soon(consumer.poll()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfRange, "{error}");
    assert!(error.to_string().contains(&topic), "{error}");

    let mut consumer = client.consumer().auto_offset_reset(OffsetReset::Earliest).build().await.unwrap();
    consumer.assign([(topic.as_str(), 0)]);
    consumer.seek((topic.as_str(), 0), Offset::new(77)).unwrap();
    assert_eq!(take(&mut consumer, 2).await, ["a", "b"]);
}

pub(crate) async fn a_stream_commits_what_is_finished(cluster: &Cluster) {
    let (topic, group) = (cluster.topic(1).await, unique("group"));
    fill(cluster, &topic, &["a", "b", "c"]).await;
    let builder = Consumer::builder(cluster.bootstrap()).group_id(&group).topics([topic.as_str()]);
    let builder = builder.auto_offset_reset(OffsetReset::Earliest);
    let consumer = builder.build().await.unwrap();
    let committer = consumer.committer();
    let stream = consumer.into_stream();
    let mut stream = stream.take(3);
    let mut records = Vec::new();
    while let Some(record) = soon(stream.try_next()).await.unwrap() {
        records.push(record);
    }
    // The second is not finished, so commits do not pass it.
    committer.finish(&records[2]);
    committer.finish(&records[0]);
    let consumer = stream.into_inner().into_consumer();
    consumer.close(PATIENCE).await.unwrap();
    let offsets = cluster.admin().await.groups().offsets(&group).await.unwrap();
    let partition = TopicPartition::new(topic.as_str(), 0);
    assert_eq!(offsets.of(&partition).map(|next| next.offset.get()), Some(1));
}

pub(crate) async fn read_committed_hides_what_was_aborted(cluster: &Cluster) {
    let topic = cluster.topic(1).await;
    let client = cluster.client().await;
    let mut producer = client.producer().build_transactional(unique("txn")).await.unwrap();
    for (value, keep) in [("kept", true), ("aborted", false), ("kept too", true)] {
        let txn = producer.begin();
        txn.send(ProducerRecord::to(&topic).partition(0).value(value)).await.unwrap();
        if keep { txn.commit().await.unwrap() } else { txn.abort().await.unwrap() }
    }
    for (isolation, expected) in [
        (IsolationLevel::ReadCommitted, vec!["kept", "kept too"]),
        (IsolationLevel::ReadUncommitted, vec!["kept", "aborted", "kept too"]),
    ] {
        let builder = client.consumer().isolation_level(isolation).auto_offset_reset(OffsetReset::Earliest);
        let mut consumer = builder.build().await.unwrap();
        consumer.assign([(topic.as_str(), 0)]);
        assert_eq!(take(&mut consumer, expected.len()).await, expected, "{isolation:?}");
    }
}
