//! The consumer against the embedded cluster: over loopback, or, where it is about who waits how long, in memory under a paused clock.

mod feeder;
mod groups;
mod reading;
mod runtime;
mod transactions;
mod trouble;

use feeder::Feeder;
use millstream_client::{Consumer, ConsumerBuilder, Error, OffsetReset, Producer, ProducerRecord, Records};
use millstream_testkit::TestCluster;
use std::time::Duration;

/// How long a test waits for what must come.
const SOON: Duration = Duration::from_secs(180);

fn consumer(cluster: &TestCluster) -> ConsumerBuilder {
    Consumer::builder(cluster).auto_offset_reset(OffsetReset::Earliest)
}

/// A cluster in memory with one topic, which has this record in each partition.
async fn memory(partitions: i32, value: &str) -> Result<TestCluster, Error> {
    let count = usize::try_from(partitions).expect("not less than none");
    let cluster = TestCluster::builder().in_memory().topic("t", count).start().await;
    let producer = Producer::connect(&cluster).await?;
    for partition in 0..partitions {
        producer.send(ProducerRecord::to("t").value(value).partition(partition)).await?;
    }
    Ok(cluster)
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, future).await.expect("it comes soon")
}

fn values(records: &Records) -> Vec<String> {
    records.iter().map(|record| text(record.value())).collect()
}

fn text(value: Option<&[u8]>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| String::from_utf8_lossy(value).into_owned())
}

/// Polls until there are so many.
async fn read(consumer: &mut Consumer, count: usize) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    while all.len() < count {
        all.extend(values(&soon(consumer.poll()).await?));
    }
    Ok(all)
}
