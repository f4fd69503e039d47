//! Producing.

use crate::cluster::{Cluster, text, unique};
use millstream::client::{Compression, ErrorKind, Producer, ProducerRecord};
use millstream::protocol::PartitionId;
use millstream::{Headers, Timestamp};
use std::time::Duration;

pub(crate) async fn every_way_to_send_reaches_the_log(cluster: &Cluster) {
    let topic = cluster.topic(1).await;
    let producer = Producer::connect(cluster.bootstrap()).await.unwrap();
    assert_eq!(producer.partition_count(&topic).await.unwrap(), 1);

    let sent = producer.send(ProducerRecord::to(&topic).value("sent")).await.unwrap();
    assert_eq!(
        (sent.topic_partition.partition, sent.offset.map(|offset| offset.get())),
        (PartitionId::new(0), Some(0))
    );
    let delivery = producer.enqueue(ProducerRecord::to(&topic).value("enqueued")).await.unwrap();
    assert_eq!(delivery.await.unwrap().offset.map(|offset| offset.get()), Some(1));
    let delivery = producer.try_enqueue(ProducerRecord::to(&topic).value("tried")).unwrap();
    producer.flush().await.unwrap();
    assert_eq!(delivery.await.unwrap().offset.map(|offset| offset.get()), Some(2));

    let many = ["a", "b", "c"].map(|value| ProducerRecord::to(&topic).value(value));
    producer.enqueue_all(many).await.unwrap().await.unwrap();
    let many = ["d", "e"].map(|value| ProducerRecord::to(&topic).value(value));
    let deliveries = producer.enqueue_all(many).await.unwrap();
    assert_eq!((deliveries.len(), deliveries.is_empty()), (2, false));
    let each = deliveries.each().await;
    let offsets: Vec<_> = each.into_iter().map(|written| written.unwrap().offset.unwrap().get()).collect();
    assert_eq!(offsets, [6, 7]);

    // Dropping a delivery does not take its record back.
    drop(producer.enqueue(ProducerRecord::to(&topic).value("last")).await.unwrap());
    // However long: a deadline past what a clock can count to once ended the process.
    producer.close(Duration::MAX).await.unwrap();
    let values = cluster.values(&topic, 9).await;
    assert_eq!(values, ["sent", "enqueued", "tried", "a", "b", "c", "d", "e", "last"]);
}

pub(crate) async fn records_come_back_as_they_were_sent(cluster: &Cluster) {
    let topic = cluster.topic(2).await;
    let producer = Producer::connect(cluster.bootstrap()).await.unwrap();
    let headers = Headers::new().with("trace", "1").with("trace", "2").with("empty", "");
    let full = ProducerRecord::to(&topic).key("key").value("value").headers(&headers);
    producer.send(full.partition(1).timestamp(Timestamp::from_millis(1_234))).await.unwrap();
    producer.send(ProducerRecord::to(&topic).partition(1).key("tombstone")).await.unwrap();
    producer.send(ProducerRecord::to(&topic).partition(1).value("")).await.unwrap();

    let records = cluster.records(&topic).await;
    let shown: Vec<_> = records.iter().map(|each| (text(each.key.as_deref()), text(each.value.as_deref()))).collect();
    assert_eq!(
        shown,
        [("key", "value"), ("tombstone", "(null)"), ("(null)", "")].map(|(key, value)| (key.into(), value.into()))
    );
    assert!(records.iter().all(|record| record.topic_partition.partition == PartitionId::new(1)));
    assert_eq!((&records[0].headers, records[0].timestamp), (&headers, Timestamp::from_millis(1_234)));
}

pub(crate) async fn every_codec_is_read_again(cluster: &Cluster) {
    for codec in [Compression::None, Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
        let topic = cluster.topic(1).await;
        let producer = Producer::builder(cluster.bootstrap()).compression_type(codec).build().await.unwrap();
        let values: Vec<String> = (0..500).map(|number| format!("value {number} of {codec:?}")).collect();
        producer
            .enqueue_all(values.iter().map(|value| ProducerRecord::to(&topic).value(value)))
            .await
            .unwrap()
            .await
            .unwrap();
        assert_eq!(cluster.values(&topic, 500).await, values, "{codec:?}");
    }
}

/// The partitions are those that Java's `DefaultPartitioner` gives these keys.
pub(crate) async fn keys_go_where_the_java_client_puts_them(cluster: &Cluster) {
    let topic = cluster.topic(10).await;
    let producer = Producer::connect(cluster.bootstrap()).await.unwrap();
    for key in ["", "a", "alice", "key0000001", "ключ"] {
        let written = producer.send(ProducerRecord::to(&topic).key(key).value("")).await.unwrap();
        let expected = millstream::protocol::partition_for_key(key.as_bytes(), 10);
        assert_eq!(Some(written.topic_partition.partition), expected, "{key}");
    }
}

pub(crate) async fn an_unknown_topic_is_named(cluster: &Cluster) {
    let topic = unique("nowhere");
    let producer = Producer::builder(cluster.bootstrap()).max_block(Duration::from_secs(3)).build().await.unwrap();
    let error = producer.send(ProducerRecord::to(&topic).value("lost")).await.unwrap_err();
    assert!(error.to_string().contains(&topic), "{error}");
    assert!(matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::Broker(_)), "{error:?}");
}

pub(crate) async fn a_partitioner_of_ones_own_is_asked(cluster: &Cluster) {
    let topic = cluster.topic(3).await;
    let last = |_: &ProducerRecord<'_>, count: usize| i32::try_from(count - 1).ok().map(PartitionId::new);
    let producer = Producer::builder(cluster.bootstrap()).partitioner(last).build().await.unwrap();
    let written = producer.send(ProducerRecord::to(&topic).key("alice").value("")).await.unwrap();
    assert_eq!(written.topic_partition.partition, PartitionId::new(2));
}

/// A thread that is in no runtime: it tries, and waits for space when there is none.
pub(crate) async fn code_that_is_not_async_waits_for_space(cluster: &Cluster) {
    let topic = cluster.topic(1).await;
    let builder = Producer::builder(cluster.bootstrap()).buffer_memory(64 * 1024).batch_size(16 * 1024);
    let producer = builder.linger(Duration::ZERO).build().await.unwrap();
    assert_eq!(producer.known_partition_count(&topic), None, "nobody has asked yet");
    let (value, mut refused, mut taken) = ([7; 1024], 0, 0);
    while taken < 500 {
        let error = match producer.try_enqueue(ProducerRecord::to(&topic).value(&value)) {
            Ok(delivery) => {
                taken += 1;
                drop(delivery);
                continue;
            }
            Err(error) => error,
        };
        assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
        refused += 1;
        producer.space().await;
    }
    producer.flush().await.unwrap();
    assert!(refused > 0, "500 KiB do not fit into 64 KiB at once");
    assert_eq!(producer.known_partition_count(&topic), Some(1));
    assert_eq!(cluster.values(&topic, 500).await.len(), 500);
}
