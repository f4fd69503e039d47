//! `acks=0`: a broker that hangs up is the only sign of an error (P-9).

use super::{cluster, lead};
use millstream_client::{Acks, Error, Producer, ProducerRecord};
use std::time::Duration;

async fn producer(cluster: &millstream_testkit::TestCluster) -> Result<Producer, Error> {
    Producer::builder(cluster).acks(Acks::None).linger(Duration::ZERO).build().await
}

// Nobody waited for an answer, so that nobody learned of the end of the connection: until `metadata.max.age.ms` everything went to the old
// leader, which hung up each time.
#[tokio::test(start_paused = true)]
async fn a_leader_that_hangs_up_is_looked_for_anew() -> Result<(), Error> {
    let cluster = cluster(1).await;
    let producer = producer(&cluster).await?;
    producer.send(ProducerRecord::to("t").value("before")).await?;
    cluster.wait_for_records("t", 1).await;
    lead(&cluster, 1, 2);
    for value in ["lost", "first", "second"] {
        producer.send(ProducerRecord::to("t").value(value)).await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(cluster.values("t"), ["before", "first", "second"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_says_nothing_is_not_waited_for() -> Result<(), Error> {
    let cluster = cluster(1).await;
    let producer = producer(&cluster).await?;
    producer.send(ProducerRecord::to("t").value("0")).await?;
    cluster.link(1).stall(millstream_testkit::Way::ToClient);
    let began = tokio::time::Instant::now();
    for number in 1..100 {
        producer.send(ProducerRecord::to("t").value(&number.to_string())).await?;
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(cluster.values("t").len(), 100);
    Ok(())
}
