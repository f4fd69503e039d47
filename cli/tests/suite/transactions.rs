//! Transactions.

use crate::cluster::{Cluster, PATIENCE, eventually, soon, unique};
use millstream::TopicPartition;
use millstream::client::admin::TransactionState;
use millstream::client::{
    Consumer, ErrorKind, GroupMetadata, OffsetAndMetadata, OffsetReset, Offsets, Producer, ProducerRecord,
};
use millstream::protocol::Offset;
use std::time::Duration;

pub(crate) async fn a_commit_shows_everything_and_an_abort_nothing(cluster: &Cluster) {
    let (one, other) = (cluster.topic(1).await, cluster.topic(1).await);
    let mut producer = Producer::builder(cluster.bootstrap()).build_transactional(unique("txn")).await.unwrap();
    let txn = producer.begin();
    txn.send(ProducerRecord::to(&one).value("a")).await.unwrap();
    txn.enqueue(ProducerRecord::to(&other).value("b")).await.unwrap();
    txn.enqueue_all(["c", "d"].map(|value| ProducerRecord::to(&other).value(value))).await.unwrap();
    assert!(cluster.records(&one).await.is_empty(), "what is not committed is not seen");
    txn.commit().await.unwrap();
    assert_eq!(cluster.values(&one, 1).await, ["a"]);
    assert_eq!(cluster.values(&other, 3).await, ["b", "c", "d"]);

    let txn = producer.begin();
    txn.enqueue(ProducerRecord::to(&one).value("never")).await.unwrap();
    txn.abort().await.unwrap();
    let txn = producer.begin();
    txn.commit().await.unwrap(); // nothing in it
    let txn = producer.begin();
    txn.enqueue(ProducerRecord::to(&one).value("after")).await.unwrap();
    txn.commit().await.unwrap();
    assert_eq!(cluster.values(&one, 2).await, ["a", "after"]);
    producer.close(PATIENCE).await.unwrap();
}

pub(crate) async fn a_dropped_transaction_is_aborted(cluster: &Cluster) {
    let topic = cluster.topic(1).await;
    let mut producer = Producer::builder(cluster.bootstrap()).build_transactional(unique("txn")).await.unwrap();
    let txn = producer.begin();
    txn.send(ProducerRecord::to(&topic).value("dropped")).await.unwrap();
    drop(txn);
    let txn = producer.begin();
    txn.enqueue(ProducerRecord::to(&topic).value("kept")).await.unwrap();
    txn.commit().await.unwrap();
    assert_eq!(cluster.values(&topic, 1).await, ["kept"]);
}

pub(crate) async fn consumed_offsets_are_part_of_the_transaction(cluster: &Cluster) {
    let (input, output, group) = (cluster.topic(1).await, cluster.topic(1).await, unique("group"));
    let client = cluster.client().await;
    client.producer().build().await.unwrap().send(ProducerRecord::to(&input).value("one")).await.unwrap();
    let builder = client.consumer().group_id(&group).auto_offset_reset(OffsetReset::Earliest);
    let mut consumer: Consumer = builder.enable_auto_commit(false).topics([input.as_str()]).build().await.unwrap();
    let mut producer = client.producer().build_transactional(unique("txn")).await.unwrap();
    let partition = TopicPartition::new(input.as_str(), 0);
    for keep in [false, true] {
        let records = soon(consumer.poll()).await.unwrap();
        let txn = producer.begin();
        txn.enqueue(ProducerRecord::to(&output).value("ONE")).await.unwrap();
        txn.send_offsets(&records.next_offsets(), &consumer.group_metadata()).await.unwrap();
        if keep {
            txn.commit().await.unwrap();
        } else {
            txn.abort().await.unwrap();
            consumer.rewind(&records);
        }
        let committed = consumer.committed([&partition]).await.unwrap();
        assert_eq!(committed.of(&partition).map(|next| next.offset.get()), keep.then_some(1));
    }
    assert_eq!(cluster.values(&output, 1).await, ["ONE"]);
}

pub(crate) async fn a_newer_instance_fences_the_older(cluster: &Cluster) {
    let (topic, id) = (cluster.topic(1).await, unique("txn"));
    let client = cluster.client().await;
    let mut older = client.producer().build_transactional(&id).await.unwrap();
    let txn = older.begin();
    txn.send(ProducerRecord::to(&topic).value("older")).await.unwrap();
    let mut newer = client.producer().build_transactional(&id).await.unwrap();
    let error = txn.commit().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Fenced, "{error}");
    assert!(error.is_fatal());
    let txn = newer.begin();
    txn.enqueue(ProducerRecord::to(&topic).value("newer")).await.unwrap();
    txn.commit().await.unwrap();
    assert_eq!(cluster.values(&topic, 1).await, ["newer"]);
}

pub(crate) async fn transactions_are_listed_described_and_fenced(cluster: &Cluster) {
    let (topic, id) = (cluster.topic(1).await, unique("txn"));
    let partition = TopicPartition::new(topic.as_str(), 0);
    let admin = cluster.admin().await;
    let mut producer = Producer::builder(cluster.bootstrap()).build_transactional(&id).await.unwrap();
    let txn = producer.begin();
    txn.send(ProducerRecord::to(&topic).value("open")).await.unwrap();

    let listed = admin.transactions().list().await.unwrap();
    let ours = listed.iter().find(|each| each.transactional_id == id).expect("it is listed");
    assert_eq!(ours.state, TransactionState::Ongoing);
    let described = admin.transactions().describe([&id]).await.unwrap().all().unwrap();
    assert_eq!(described[&id].partitions, std::slice::from_ref(&partition));
    assert!(described[&id].open_since.is_some());
    let producers = admin.transactions().describe_producers([partition.clone()]).await.unwrap().all().unwrap();
    assert_eq!(producers[&partition].len(), 1);
    assert_eq!(producers[&partition][0].producer_id, ours.producer_id);
    assert_eq!(producers[&partition][0].open_transaction_start.map(|offset| offset.get()), Some(0));

    admin.transactions().fence([&id]).await.unwrap().all().unwrap();
    let error = txn.commit().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Fenced, "{error}");
    eventually("the transaction is aborted", async || {
        let producers = admin.transactions().describe_producers([partition.clone()]).await.ok()?.all().ok()?;
        producers[&partition].iter().all(|each| each.open_transaction_start.is_none()).then_some(())
    })
    .await;
    let missing = admin.transactions().describe([unique("nobody")]).await.unwrap().all().unwrap_err();
    assert!(missing.to_string().contains("nobody"), "{missing}");
}

pub(crate) async fn a_transactional_producer_is_reusable_for_long(cluster: &Cluster) {
    let topic = cluster.topic(2).await;
    let builder = Producer::builder(cluster.bootstrap()).transaction_timeout(Duration::from_secs(20));
    let mut producer = builder.build_transactional(unique("txn")).await.unwrap();
    for number in 0..50 {
        let value = number.to_string();
        let txn = producer.begin();
        txn.enqueue(ProducerRecord::to(&topic).partition(number % 2).value(&value)).await.unwrap();
        if number % 5 == 4 { txn.abort().await.unwrap() } else { txn.commit().await.unwrap() }
    }
    assert_eq!(cluster.values(&topic, 40).await.len(), 40);
}

/// What the runtime's commits are made of: each step by itself, and the offsets that were written.
pub(crate) async fn a_transaction_goes_step_by_step(cluster: &Cluster) {
    let (topic, group, id) = (cluster.topic(2).await, unique("group"), unique("txn"));
    let (left, right) = (TopicPartition::new(topic.as_str(), 0), TopicPartition::new(topic.as_str(), 1));
    let builder = Producer::builder(cluster.bootstrap());
    let producer = builder.build_transactional(&id).await.unwrap().raw();
    assert_eq!(producer.transactional_id(), id);
    assert_eq!(producer.partition_count(&topic).await.unwrap(), 2);
    let record = |partition: i32| ProducerRecord::to(&topic).partition(partition).value("step");

    producer.ready().await.unwrap();
    producer.begin().unwrap();
    drop(producer.enqueue(record(0)).await.unwrap());
    producer.space().await;
    drop(producer.try_enqueue(record(1)).unwrap());
    drop(producer.enqueue(record(1)).await.unwrap());
    let ends = producer.flush().await.unwrap();
    let end = |partition: &TopicPartition| ends.get(partition).map(|offset| offset.get());
    assert_eq!((end(&left), end(&right)), (Some(1), Some(2)), "the offsets after the last record of each partition");
    let offsets: Offsets =
        [(left.clone(), OffsetAndMetadata::with_metadata(Offset::new(9), "a note"))].into_iter().collect();
    producer.send_offsets(&offsets, &GroupMetadata::outside(&group)).await.unwrap();
    producer.commit().await.unwrap();

    producer.ready().await.unwrap();
    producer.begin().unwrap();
    drop(producer.enqueue(record(0)).await.unwrap());
    producer.abort().await.unwrap();
    producer.ready().await.unwrap();
    producer.begin().unwrap();
    drop(producer.enqueue(record(0)).await.unwrap());
    producer.abort_in_background();
    producer.ready().await.unwrap();
    producer.close(PATIENCE).await.unwrap();

    assert_eq!(cluster.values(&topic, 3).await.len(), 3);
    let committed = cluster.admin().await.groups().offsets(&group).await.unwrap();
    let committed = committed.of(&left).expect("it is committed");
    assert_eq!((committed.offset, committed.metadata.as_deref()), (Offset::new(9), Some("a note")));
}
