//! Our own client under everything that a cluster can be made to do wrong. Most of it runs in memory under a paused clock: what would take
//! minutes takes milliseconds.

mod answers;
mod links;
mod moves;
mod stacks;

use millstream_client::{Consumer, Error, Producer, ProducerRecord};
use millstream_testkit::{TestCluster, TestClusterBuilder};
use std::future::Future;
use std::time::Duration;

/// A cluster in memory with one topic of one partition.
fn memory() -> TestClusterBuilder {
    TestCluster::builder().in_memory().seed(7).topic("t", 1)
}
async fn send(producer: &Producer, value: &str) -> Result<(), Error> {
    producer.send(ProducerRecord::to("t").value(value)).await.map(drop)
}
/// The next records' values, as many as are wanted.
async fn read(consumer: &mut Consumer, count: usize) -> Result<Vec<String>, Error> {
    let mut values = Vec::new();
    while values.len() < count {
        let records = consumer.poll().await?;
        values.extend(
            records.iter().map(|record| String::from_utf8_lossy(record.value().unwrap_or_default()).into_owned()),
        );
    }
    Ok(values)
}
async fn reader(cluster: &TestCluster) -> Result<Consumer, Error> {
    let mut consumer =
        Consumer::builder(cluster).auto_offset_reset(millstream_client::OffsetReset::Earliest).build().await?;
    consumer.assign([("t", 0)]);
    Ok(consumer)
}
/// What takes longer than any timeout of the client hangs.
async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(limit, future).await {
        Ok(output) => output,
        Err(_) => panic!("nothing came of it within {limit:?}"),
    }
}
