//! Links that are slow, that split, stall, fall silent or break.

use super::{memory, read, reader, send, within};
use millstream_client::{Error, ErrorKind, Producer, ProducerRecord};
use millstream_testkit::{LinkConditions, TestCluster, Way};
use std::time::Duration;
use tokio::time::Instant;

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn latency_takes_its_time_on_a_paused_clock() -> Result<(), Error> {
    let cluster = memory().start().await;
    let producer = Producer::connect(&cluster).await?;
    send(&producer, "warm").await?;
    cluster.link(1).latency(Duration::from_secs(2)).jitter(Duration::from_millis(500));
    let before = Instant::now();
    send(&producer, "a").await?;
    let took = before.elapsed();
    assert!(took >= Duration::from_secs(4) && took < Duration::from_secs(6), "{took:?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_thin_link_takes_time_by_the_byte() -> Result<(), Error> {
    let cluster = memory().start().await;
    let producer = Producer::connect(&cluster).await?;
    send(&producer, "warm").await?;
    cluster.link(1).bandwidth(10_000);
    let before = Instant::now();
    producer.send(ProducerRecord::to("t").value(&"x".repeat(50_000))).await?;
    assert!(before.elapsed() >= Duration::from_secs(5), "{:?}", before.elapsed());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn frames_in_single_bytes_are_read_in_memory() -> Result<(), Error> {
    let cluster = memory().start().await;
    cluster.link(1).split(1);
    frames_are_read(&cluster).await
}

#[tokio::test]
async fn frames_in_single_bytes_are_read_over_tcp() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    cluster.link(1).split(1);
    frames_are_read(&cluster).await
}
async fn frames_are_read(cluster: &TestCluster) -> Result<(), Error> {
    let producer = Producer::connect(cluster).await?;
    for value in ["a", "b", "c"] {
        send(&producer, value).await?;
    }
    assert_eq!(within(MINUTE, read(&mut reader(cluster).await?, 3)).await?, ["a", "b", "c"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_partition_one_way_is_waited_out_without_a_duplicate() -> Result<(), Error> {
    let cluster = memory().start().await;
    let producer = Producer::connect(&cluster).await?;
    send(&producer, "warm").await?;
    for way in [Way::ToClient, Way::ToBroker, Way::Both] {
        cluster.link(1).stall(way);
        let sending = send(&producer, "a");
        tokio::pin!(sending);
        assert!(tokio::time::timeout(MINUTE, &mut sending).await.is_err(), "{way:?} does not bite");
        cluster.link(1).heal();
        within(MINUTE, sending).await?;
    }
    assert_eq!(cluster.values("t"), ["warm", "a", "a", "a"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_partition_for_ever_ends_in_an_error_that_says_so() -> Result<(), Error> {
    let cluster = memory().start().await;
    let producer = Producer::connect(&cluster).await?;
    send(&producer, "warm").await?;
    cluster.link(1).stall(Way::Both);
    let error = within(10 * MINUTE, send(&producer, "a")).await.expect_err("nobody answers");
    assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_reset_costs_nothing_but_a_connection() -> Result<(), Error> {
    let cluster = memory().start().await;
    let producer = Producer::connect(&cluster).await?;
    let mut consumer = reader(&cluster).await?;
    for value in ["a", "b", "c"] {
        send(&producer, value).await?;
        assert_eq!(within(MINUTE, read(&mut consumer, 1)).await?, [value]);
        cluster.link(1).reset();
    }
    assert_eq!(cluster.values("t"), ["a", "b", "c"]);
    Ok(())
}

#[tokio::test]
async fn a_reset_over_tcp_is_survived() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let producer = Producer::connect(&cluster).await?;
    for value in ["a", "b", "c"] {
        send(&producer, value).await?;
        cluster.link(1).reset();
    }
    assert_eq!(cluster.values("t"), ["a", "b", "c"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_the_broker_forgot_is_given_up_and_the_record_arrives_once() -> Result<(), Error> {
    let cluster = memory().start().await;
    let producer = Producer::connect(&cluster).await?;
    send(&producer, "warm").await?;
    cluster.link(1).half_open();
    let before = Instant::now();
    within(5 * MINUTE, send(&producer, "a")).await?;
    assert!(before.elapsed() >= Duration::from_secs(30), "the request timeout tells: {:?}", before.elapsed());
    assert_eq!(cluster.values("t"), ["warm", "a"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn one_client_is_slow_and_another_is_not() -> Result<(), Error> {
    let cluster = memory().start().await;
    let slow = Producer::builder(&cluster).set("client.id", "slow").build().await?;
    let quick = Producer::builder(&cluster).set("client.id", "quick").build().await?;
    send(&slow, "warm").await?;
    send(&quick, "warm").await?;
    let conditions = LinkConditions { latency: Duration::from_secs(3), ..LinkConditions::default() };
    cluster.link(1).client("slow").set(conditions);
    let before = Instant::now();
    send(&quick, "a").await?;
    assert!(before.elapsed() < Duration::from_secs(1), "{:?}", before.elapsed());
    send(&slow, "a").await?;
    assert!(before.elapsed() >= Duration::from_secs(6), "{:?}", before.elapsed());
    Ok(())
}
