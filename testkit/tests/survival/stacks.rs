//! Errors and lost answers, one after the other.

use super::{memory, read, reader, send, within};
use millstream_client::{Consumer, Error, Producer};
use millstream_protocol::messages::{HeartbeatRequest, ProduceRequest};
use millstream_protocol::{ApiKey, ErrorCode};
use millstream_testkit::faults::{Effect, FaultPlan, FaultStep, Then};
use std::time::Duration;
use tokio::time::Instant;

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn every_retriable_stack_is_climbed_and_the_record_arrives_once() -> Result<(), Error> {
    let cluster = memory().start().await;
    let producer = Producer::connect(&cluster).await?;
    let second = Duration::from_secs(1);
    let steps = [
        FaultStep::error(ErrorCode::NOT_LEADER_OR_FOLLOWER).rtt(second),
        FaultStep::error(ErrorCode::NOT_ENOUGH_REPLICAS).times(2),
        FaultStep::new(Effect::Disconnect),
        FaultStep::new(Effect::Silence),
        FaultStep::new(Effect::Delay(second)),
    ];
    cluster.add_faults(FaultPlan::new(ApiKey::PRODUCE, steps)).expect("it can be");
    within(10 * MINUTE, send(&producer, "a")).await?;
    cluster.assert_faults_used();
    assert_eq!(cluster.values("t"), ["a"]);
    cluster.requests().expect::<ProduceRequest>().exactly(6);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_makes_no_duplicate() -> Result<(), Error> {
    let cluster = memory().start().await;
    let producer = Producer::connect(&cluster).await?;
    for then in [Then::Disconnect, Then::Silence, Then::Delay(Duration::from_secs(45))] {
        cluster.on::<ProduceRequest>().apply_then(then);
        within(10 * MINUTE, send(&producer, "a")).await?;
    }
    cluster.assert_faults_used();
    assert_eq!(cluster.values("t"), ["a", "a", "a"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_record_arrives_while_its_predecessor_is_held() -> Result<(), Error> {
    let cluster = memory().start().await;
    let producer = Producer::connect(&cluster).await?;
    let parked = cluster.on::<ProduceRequest>().park();
    let first = producer.enqueue(millstream_client::ProducerRecord::to("t").value("a")).await?;
    parked.arrived().await;
    assert!(cluster.values("t").is_empty());
    parked.release();
    first.await?;
    assert_eq!(cluster.values("t"), ["a"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn corrupt_records_are_told_of_and_the_next_read_is_whole() -> Result<(), Error> {
    let cluster = memory().start().await;
    send(&Producer::connect(&cluster).await?, "a").await?;
    cluster.on::<millstream_protocol::messages::FetchRequest>().corrupt_records();
    let mut consumer = reader(&cluster).await?;
    let error = within(MINUTE, read(&mut consumer, 1)).await.expect_err("the checksum is wrong");
    assert!(error.to_string().contains("corrupt"), "{error}");
    consumer.seek(("t", 0), millstream_protocol::Offset::new(0))?;
    assert_eq!(within(MINUTE, read(&mut consumer, 1)).await?, ["a"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_group_outlives_coordinators_that_move_and_heartbeats_that_fail() -> Result<(), Error> {
    let cluster = memory().brokers(3).start().await;
    let producer = Producer::connect(&cluster).await?;
    let mut consumer = Consumer::builder(&cluster)
        .auto_offset_reset(millstream_client::OffsetReset::Earliest)
        .group_id("g")
        .topics(["t"])
        .build()
        .await?;
    send(&producer, "a").await?;
    assert_eq!(within(MINUTE, read(&mut consumer, 1)).await?, ["a"]);
    for node in [1, 2, 3] {
        cluster.move_coordinator("g", node);
        cluster.on::<HeartbeatRequest>().group("g").times(2).error(ErrorCode::COORDINATOR_NOT_AVAILABLE);
        let before = Instant::now();
        // Heartbeats need somebody who waits for the application's polls; time passes only then.
        let waited = tokio::time::timeout(Duration::from_secs(30), read(&mut consumer, 1)).await;
        assert!(waited.is_err() && before.elapsed() >= Duration::from_secs(30));
        send(&producer, "b").await?;
        assert_eq!(within(MINUTE, read(&mut consumer, 1)).await?, ["b"]);
    }
    cluster.assert_faults_used();
    within(MINUTE, consumer.close(Duration::from_secs(30))).await
}
