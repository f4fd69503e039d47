//! Producing, end to end, on the embedded cluster.

use millstream_client::{Acks, Client, Compression, Error, ErrorKind, Producer, ProducerRecord};
use millstream_protocol::{ApiKey, ErrorCode, Headers, Offset, Timestamp};
use millstream_testkit::TestCluster;
use std::time::Duration;

/// How long a close may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

async fn values(cluster: &TestCluster, topic: &str, count: usize) -> Vec<String> {
    cluster.wait_for_records(topic, count).await;
    cluster.values(topic)
}

#[tokio::test]
async fn a_record_arrives_as_it_was_sent() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("orders", 3).start().await;
    let producer = Producer::connect(&cluster).await?;
    let headers = Headers::new().with("trace", "7");
    let record = ProducerRecord::to("orders").key("alice").value("12 apples").headers(&headers).partition(2);
    let written = producer.send(record.timestamp(Timestamp::from_millis(1_234))).await?;
    assert_eq!(written.topic_partition, ("orders", 2).into());
    assert_eq!(written.offset, Some(Offset::new(0)));
    assert_eq!(written.timestamp, Timestamp::from_millis(1_234));
    let records = cluster.records("orders");
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].timestamp, Timestamp::from_millis(1_234));
    assert_eq!(records[0].key.as_deref(), Some(&b"alice"[..]));
    assert_eq!(records[0].value.as_deref(), Some(&b"12 apples"[..]));
    assert_eq!(records[0].headers, headers);
    producer.close(PATIENCE).await
}

#[tokio::test]
async fn many_records_keep_their_order_and_their_own_offsets() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("numbers", 1).start().await;
    let producer = Producer::builder(&cluster).batch_size(1_000).build().await?;
    let texts: Vec<String> = (0..2_000).map(|number| number.to_string()).collect();
    let deliveries = producer.enqueue_all(texts.iter().map(|text| ProducerRecord::to("numbers").value(text))).await?;
    for (index, outcome) in deliveries.each().await.into_iter().enumerate() {
        assert_eq!(outcome?.offset, Some(Offset::new(i64::try_from(index).expect("small"))));
    }
    assert_eq!(cluster.values("numbers"), texts);
    Ok(())
}

#[tokio::test]
async fn order_is_kept_through_failures_of_all_kinds() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("numbers", 1).start().await;
    let producer = Producer::builder(&cluster).batch_size(500).linger(Duration::ZERO).build().await?;
    let texts: Vec<String> = (0..600).map(|number| number.to_string()).collect();
    for (index, text) in texts.iter().enumerate() {
        drop(producer.enqueue(ProducerRecord::to("numbers").value(text)).await?);
        match index {
            100 => cluster.on_api(ApiKey::PRODUCE).times(2).error(ErrorCode::NOT_LEADER_OR_FOLLOWER),
            200 => cluster.on_api(ApiKey::PRODUCE).times(1).disconnect(),
            300 => cluster.on_api(ApiKey::PRODUCE).times(3).error(ErrorCode::NOT_ENOUGH_REPLICAS),
            _ => {}
        }
        if index % 20 == 0 {
            tokio::task::yield_now().await;
        }
    }
    producer.flush().await?;
    assert_eq!(cluster.values("numbers"), texts);
    Ok(())
}

#[tokio::test]
async fn keys_go_where_the_java_client_sends_them() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("keyed", 12).start().await;
    let producer = Producer::connect(&cluster).await?;
    for key in ["alice", "bob", "carol", "dave"] {
        let written = producer.send(ProducerRecord::to("keyed").key(key).value("x")).await?;
        let expected = millstream_protocol::partition_for_key(key.as_bytes(), 12);
        assert_eq!(Some(written.topic_partition.partition), expected, "{key}");
    }
    Ok(())
}

#[tokio::test]
async fn every_codec_is_read_back() -> Result<(), Error> {
    let cluster = TestCluster::start().await;
    for codec in [Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
        let topic = format!("with-{}", codec.name());
        let producer = Producer::builder(&cluster).compression_type(codec).build().await?;
        let texts: Vec<String> = (0..500).map(|number| format!("value number {number}")).collect();
        producer
            .enqueue_all(texts.iter().map(|text| ProducerRecord::to(&topic).value(text).partition(0)))
            .await?
            .await?;
        assert_eq!(values(&cluster, &topic, 500).await, texts, "{topic}");
    }
    Ok(())
}

#[tokio::test]
async fn without_acknowledgements_there_are_no_offsets() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    for acks in [Acks::None, Acks::Leader] {
        let producer = Producer::builder(&cluster).acks(acks).build().await?;
        let written = producer.send(ProducerRecord::to("t").value("x")).await?;
        assert_eq!(written.offset.is_none(), acks == Acks::None);
    }
    cluster.wait_for_records("t", 2).await;
    Ok(())
}

#[tokio::test]
async fn a_record_that_is_too_large_is_refused_at_once_and_the_others_go() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let producer = Producer::builder(&cluster).max_request_size(2_000).build().await?;
    let large = vec![b'x'; 3_000];
    let error = producer.send(ProducerRecord::to("t").value(&large)).await.expect_err("too large");
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(
        error.to_string().contains("topic `t`") && error.to_string().contains("max.request.size (2000)"),
        "{error}"
    );
    producer.send(ProducerRecord::to("t").value("small")).await?;
    Ok(())
}

#[tokio::test]
async fn a_batch_that_the_broker_finds_too_large_is_split() -> Result<(), Error> {
    let cluster = TestCluster::builder().config("message.max.bytes", "1000").topic("t", 1).start().await;
    let producer = Producer::builder(&cluster).linger(Duration::from_millis(50)).build().await?;
    let texts: Vec<String> = (0..100).map(|number| format!("a value of some length, number {number:05}")).collect();
    let deliveries = producer.enqueue_all(texts.iter().map(|text| ProducerRecord::to("t").value(text))).await?;
    for (index, outcome) in deliveries.each().await.into_iter().enumerate() {
        assert_eq!(
            outcome?.offset,
            Some(Offset::new(i64::try_from(index).expect("small"))),
            "each half has its own offsets"
        );
    }
    assert_eq!(cluster.values("t"), texts);
    Ok(())
}

#[tokio::test]
async fn a_full_buffer_refuses_who_does_not_wait_and_lets_in_who_does() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let producer = Producer::builder(&cluster).buffer_memory(20_000).batch_size(2_000).build().await?;
    producer.partition_count("t").await?;
    let value = vec![b'x'; 500];
    let mut refused = None;
    for _ in 0..1_000 {
        if let Err(error) = producer.try_enqueue(ProducerRecord::to("t").value(&value)) {
            refused = Some(error);
            break;
        }
    }
    let error = refused.expect("the driver had no turn, so the buffer filled");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    assert!(error.is_retriable());
    for _ in 0..200 {
        drop(producer.enqueue(ProducerRecord::to("t").value(&value)).await?);
    }
    producer.space().await;
    producer.flush().await
}

#[tokio::test]
async fn a_topic_that_is_not_known_yet_can_be_tried_again() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 2).start().await;
    let producer = Producer::connect(&cluster).await?;
    let record = ProducerRecord::to("t").value("x");
    let error = producer.try_enqueue(record).expect_err("nobody has asked for the topic");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    let delivery = loop {
        match producer.try_enqueue(record) {
            Ok(delivery) => break delivery,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    delivery.await.map(drop)
}

#[tokio::test]
async fn trying_tells_in_the_end_that_a_topic_is_refused() -> Result<(), Error> {
    let cluster = TestCluster::start().await;
    let producer = Producer::connect(&cluster).await?;
    let record = ProducerRecord::to("not a topic").value("x");
    let refused = loop {
        let error = producer.try_enqueue(record).expect_err("there can be no such topic");
        if error.kind() != ErrorKind::WouldBlock {
            break error;
        }
        producer.space().await;
    };
    assert_eq!(refused.code(), Some(ErrorCode::INVALID_TOPIC_EXCEPTION));
    assert!(refused.to_string().starts_with("write a record to topic `not a topic`: "), "{refused}");
    Ok(())
}

#[tokio::test]
async fn a_dropped_producer_still_sends_what_it_took() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let producer = Producer::builder(&cluster)
        .linger(Duration::from_secs(60))
        .delivery_timeout(Duration::from_secs(120))
        .build()
        .await?;
    for value in ["a", "b", "c"] {
        drop(producer.enqueue(ProducerRecord::to("t").value(value)).await?);
    }
    drop(producer);
    assert_eq!(values(&cluster, "t", 3).await, ["a", "b", "c"]);
    Ok(())
}

#[tokio::test]
async fn a_closed_producer_takes_no_records() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let producer = Producer::connect(&cluster).await?;
    let other = producer.clone();
    drop(other.enqueue(ProducerRecord::to("t").value("before")).await?);
    producer.close(PATIENCE).await?;
    let error = other.send(ProducerRecord::to("t").value("after")).await.expect_err("closed");
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(error.is_fatal());
    assert_eq!(cluster.values("t"), ["before"]);
    Ok(())
}

#[tokio::test]
async fn leaders_that_move_are_followed() -> Result<(), Error> {
    let cluster = TestCluster::builder().brokers(3).topic("t", 1).start().await;
    let producer = Producer::builder(&cluster).linger(Duration::ZERO).build().await?;
    for number in 0..30 {
        cluster.move_leader(("t", 0), 1 + number % 3);
        producer.send(ProducerRecord::to("t").value(&number.to_string())).await?;
    }
    let expected: Vec<String> = (0..30).map(|number| number.to_string()).collect();
    assert_eq!(cluster.values("t"), expected);
    Ok(())
}

#[tokio::test]
async fn a_broker_that_crashes_and_comes_back_loses_nothing() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let producer = Producer::connect(&cluster).await?;
    producer.send(ProducerRecord::to("t").value("before")).await?;
    cluster.crash(1);
    let delivery = producer.enqueue(ProducerRecord::to("t").value("during")).await?;
    cluster.restart(1);
    delivery.await?;
    producer.send(ProducerRecord::to("t").value("after")).await?;
    assert_eq!(cluster.values("t"), ["before", "during", "after"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn records_of_different_partitions_share_requests() -> Result<(), Error> {
    let cluster = TestCluster::builder().in_memory().topic("t", 50).start().await;
    let producer = Producer::builder(&cluster).linger(Duration::from_millis(100)).build().await?;
    let before = cluster.requests().count(ApiKey::PRODUCE);
    let deliveries =
        producer.enqueue_all((0..50).map(|partition| ProducerRecord::to("t").value("x").partition(partition))).await?;
    deliveries.await?;
    let requests = cluster.requests().count(ApiKey::PRODUCE) - before;
    assert!(requests <= 3, "{requests} requests for 50 partitions of one broker");
    Ok(())
}

#[tokio::test]
async fn a_client_is_shared_by_its_roles() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let client = Client::builder(cluster.bootstrap_servers()).client_id("shared").build().await?;
    let first = client.producer().build().await?;
    let second = Producer::builder(&client).build().await?;
    first.send(ProducerRecord::to("t").value("1")).await?;
    second.send(ProducerRecord::to("t").value("2")).await?;
    assert_eq!(cluster.values("t"), ["1", "2"]);
    Ok(())
}
