//! One who writes and one who reads, beside a workload: of a topic whose records nobody counts.

use super::stage::{Stage, until_good};
use crate::simulation::SimulatedProcess;
use millstream_client::{Client, Consumer, Error, OffsetReset, Producer};
use std::time::Duration;

/// A producer and a consumer of one client.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) producer: Producer,
    pub(super) consumer: Consumer,
}

impl Pair {
    /// Both, as soon as the cluster lets them; none if it is time to end before.
    pub(super) async fn connect(stage: &Stage, process: &SimulatedProcess, fetch_max_wait: Duration) -> Option<Self> {
        let runtime = process.runtime();
        let connect = || process.client().request_timeout(Duration::from_secs(5)).build();
        let client = until_good(&*runtime, stage, connect).await?;
        let producer = until_good(&*runtime, stage, || producer(client.clone())).await?;
        let consumer = until_good(&*runtime, stage, || consumer(client.clone(), fetch_max_wait)).await?;
        Some(Self { producer, consumer })
    }
}

async fn producer(client: Client) -> Result<Producer, Error> {
    client.producer().delivery_timeout(Duration::from_secs(10)).max_block(Duration::from_secs(5)).build().await
}
async fn consumer(client: Client, fetch_max_wait: Duration) -> Result<Consumer, Error> {
    client.consumer().auto_offset_reset(OffsetReset::Earliest).fetch_max_wait(fetch_max_wait).build().await
}
