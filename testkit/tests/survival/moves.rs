//! Brokers that crash, stand still and hide; what moves between them; topics made anew; markers that are held.

use super::{memory, read, reader, send, within};
use millstream_client::{Error, Producer, ProducerRecord};
use std::time::Duration;
use tokio::time::Instant;

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn records_arrive_through_crashes_pauses_and_moves() -> Result<(), Error> {
    let cluster = memory().brokers(3).start().await;
    let producer = Producer::connect(&cluster).await?;
    let mut consumer = reader(&cluster).await?;
    let mut sent = Vec::new();
    for round in 0..3 {
        for step in 0..6 {
            match step {
                0 => cluster.move_leader(("t", 0), round + 1),
                1 => cluster.crash(round + 1),
                2 => cluster.restart(round + 1),
                3 => cluster.bump_leader_epoch(("t", 0)),
                4 => cluster.hide(2),
                _ => cluster.show(2),
            }
            let value = format!("{round}-{step}");
            within(5 * MINUTE, send(&producer, &value)).await?;
            sent.push(value);
        }
    }
    assert_eq!(cluster.values("t"), sent);
    assert_eq!(within(5 * MINUTE, read(&mut consumer, sent.len())).await?, sent);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_stands_still_for_a_while_loses_nothing() -> Result<(), Error> {
    let cluster = memory().start().await;
    let producer = Producer::connect(&cluster).await?;
    send(&producer, "a").await?;
    cluster.pause(1);
    let sending = send(&producer, "b");
    tokio::pin!(sending);
    assert!(tokio::time::timeout(Duration::from_secs(50), &mut sending).await.is_err());
    cluster.resume(1);
    within(MINUTE, sending).await?;
    assert_eq!(cluster.values("t"), ["a", "b"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_topic_made_anew_is_written_from_its_start() -> Result<(), Error> {
    let cluster = memory().start().await;
    let producer = Producer::connect(&cluster).await?;
    send(&producer, "old").await?;
    cluster.recreate_topic("t");
    within(5 * MINUTE, send(&producer, "new")).await?;
    assert_eq!(cluster.values("t"), ["new"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_commit_waits_for_markers_that_are_held() -> Result<(), Error> {
    let cluster = memory().start().await;
    let mut producer = Producer::builder(&cluster).build_transactional("x").await?;
    let transaction = producer.begin();
    transaction.send(ProducerRecord::to("t").value("a")).await?;
    cluster.hold_transaction_markers();
    transaction.commit().await?;
    assert!(cluster.values("t").is_empty(), "no marker, no record for those who read what is committed");
    let next = async {
        let transaction = producer.begin();
        transaction.send(ProducerRecord::to("t").value("b")).await?;
        transaction.commit().await
    };
    tokio::pin!(next);
    assert!(tokio::time::timeout(Duration::from_secs(10), &mut next).await.is_err(), "the next one has to wait");
    cluster.release_transaction_markers();
    within(MINUTE, next).await?;
    assert_eq!(cluster.values("t"), ["a", "b"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn sessions_run_out_when_time_is_moved_on() -> Result<(), Error> {
    let cluster = memory().start().await;
    let before = Instant::now();
    cluster.advance(Duration::from_secs(3_600)).await;
    assert!(before.elapsed() >= Duration::from_secs(3_600));
    Ok(())
}
