//! What a producer is told, and what writes with it.

use millstream_client::{Acks, Error, Producer, ProducerBuilder, ProducerRecord, RecordMetadata};
use millstream_testkit::TestCluster;
use std::time::Duration;

/// What a producer writes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain(Acks),
    Idempotent,
    Transactional,
}

/// What a producer is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) kind: Kind,
    pub(crate) max_in_flight: usize,
}

/// All that differ in what they promise.
pub(crate) fn all() -> impl Iterator<Item = Settings> {
    let plain = [Acks::None, Acks::Leader, Acks::All].map(Kind::Plain);
    let kinds = plain.into_iter().chain([Kind::Idempotent, Kind::Transactional]);
    kinds.flat_map(|kind| [1, 5].map(|max_in_flight| Settings { kind, max_in_flight }))
}

impl Settings {
    fn builder(self, cluster: &TestCluster) -> ProducerBuilder {
        let builder = Producer::builder(cluster)
            .set("request.timeout.ms", "2000")
            .batch_size(4_000)
            .max_in_flight_requests_per_connection(self.max_in_flight);
        match self.kind {
            Kind::Plain(acks) => builder.acks(acks).enable_idempotence(false),
            Kind::Idempotent | Kind::Transactional => builder,
        }
    }
    /// Writes all of these in this order, with `between` between each two. What became of each.
    pub(crate) async fn write(
        self,
        cluster: &TestCluster,
        values: &[String],
        mut between: impl AsyncFnMut(usize),
    ) -> Result<Vec<Result<RecordMetadata, Error>>, Error> {
        if self.kind == Kind::Transactional {
            return self.write_in_transactions(cluster, values, between).await;
        }
        let producer = self.builder(cluster).build().await?;
        let mut deliveries = Vec::new();
        for (index, value) in values.iter().enumerate() {
            deliveries.push(producer.enqueue(ProducerRecord::to("t").value(value)).await?);
            between(index).await;
        }
        let mut outcomes = Vec::new();
        for delivery in deliveries {
            outcomes.push(delivery.await);
        }
        producer.close(Duration::from_secs(60)).await?;
        Ok(outcomes)
    }
    async fn write_in_transactions(
        self,
        cluster: &TestCluster,
        values: &[String],
        mut between: impl AsyncFnMut(usize),
    ) -> Result<Vec<Result<RecordMetadata, Error>>, Error> {
        let mut producer = self.builder(cluster).build_transactional("tx").await?;
        let numbered: Vec<_> = values.iter().enumerate().collect();
        for part in numbered.chunks(25) {
            let transaction = producer.begin();
            for (index, value) in part {
                transaction.enqueue(ProducerRecord::to("t").value(*value)).await?;
                between(*index).await;
            }
            transaction.commit().await?;
        }
        producer.close(Duration::from_secs(60)).await?;
        Ok(Vec::new())
    }
}
