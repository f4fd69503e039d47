//! A leader that is gone, and another one that is there.

use super::{cluster, lead};
use millstream_client::{Error, Producer, ProducerRecord};
use millstream_testkit::Way;
use std::time::Duration;
use tokio::time::Instant;

const PARTITIONS: usize = 100;

// What waits behind a batch that failed with its connection is refused without another one. A batch that goes to the old leader once more before
// its client has heard of the new one may still wait there for `socket.connection.setup.timeout.ms`.
#[tokio::test(start_paused = true)]
async fn a_new_leader_has_in_order_what_never_left_for_the_old_one() -> Result<(), Error> {
    let cluster = cluster(PARTITIONS).await;
    let producer = Producer::builder(&cluster).linger(Duration::ZERO).build().await?;
    let all = || 0..i32::try_from(PARTITIONS).expect("few");
    let record = |partition, value| ProducerRecord::to("t").partition(partition).value(value);
    producer.enqueue_all(all().map(|partition| record(partition, "first"))).await?.await?;
    // Far more than a connection takes while nobody reads.
    cluster.link(1).stall(Way::Both);
    let large = "x".repeat(10_000);
    let written = producer.enqueue_all(all().map(|partition| record(partition, large.as_str()))).await?;
    tokio::time::sleep(Duration::from_millis(10)).await;
    let waiting = producer.enqueue(record(0, "last")).await?;
    tokio::time::sleep(Duration::from_millis(10)).await;
    // It is gone, and connections to it do not even fail.
    lead(&cluster, PARTITIONS, 2);
    let gone = Instant::now();
    cluster.link(1).reset();
    written.await?;
    waiting.await?;
    assert!(gone.elapsed() < Duration::from_secs(60), "it took {:?}", gone.elapsed());
    let own = cluster.records("t").into_iter().filter(|record| record.topic_partition.partition.get() == 0);
    let values: Vec<_> = own.filter_map(|record| record.value).collect();
    assert_eq!(values, ["first", &large, "last"], "and the order is kept");
    Ok(())
}
