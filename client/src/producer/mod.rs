//! Sends records.

mod builder;
mod delivery;
mod driver;
mod engine;
mod failure;
mod identity;
mod values;

pub use builder::ProducerBuilder;
pub use delivery::{Deliveries, Delivery, RecordMetadata};
pub use values::{Acks, Compression, Partitioner};

#[cfg(test)]
pub(crate) use builder::ProducerOptions;
pub(crate) use engine::Engine;
pub(crate) use failure::error_of;
pub(crate) use identity::init_producer_id;

use crate::{ClientSource, Error, ProducerRecord, Properties};
use std::sync::Arc;
use std::time::Duration;

/// Sends records. Cheap to clone, and meant to be shared.
///
/// Three ways, by what the caller waits for: [`send`](Self::send) for the acknowledgement, [`enqueue`](Self::enqueue) for
/// buffer space, [`try_enqueue`](Self::try_enqueue) for nothing. None keeps or copies more than the encoded record.
///
/// ```no_run
/// # async fn produce() -> Result<(), millstream_client::Error> {
/// use millstream_client::{Producer, ProducerRecord};
/// let producer = Producer::connect("localhost:9092").await?;
/// let written = producer.send(ProducerRecord::to("orders").key("alice").value("12 apples")).await?;
/// println!("{} at {:?}", written.topic_partition, written.offset);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Producer(Arc<Handle>);

/// What all clones own together. Dropping it lets the driver send what is left, and end.
#[derive(Debug)]
struct Handle(Arc<Engine>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.begin_close();
    }
}

impl Producer {
    /// Starts with where to connect: an address, a `ClientBuilder`, or a `&Client` to share.
    pub fn builder(client: impl Into<ClientSource>) -> ProducerBuilder {
        ProducerBuilder::new(client.into())
    }
    /// Starts with a properties file's keys.
    pub fn from_properties(properties: &Properties) -> ProducerBuilder {
        properties
            .iter()
            .fold(ProducerBuilder::new(ClientSource::unset()), |builder, (key, value)| builder.set(key, value))
    }
    /// Connects with every default.
    ///
    /// # Errors
    ///
    /// As [`ProducerBuilder::build`].
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn connect(client: impl Into<ClientSource> + Send) -> Result<Self, Error> {
        Self::builder(client).build().await
    }
    pub(crate) fn start(engine: Arc<Engine>) -> Self {
        Self(Arc::new(Handle(engine)))
    }

    /// Sends a record and waits until it is acknowledged.
    ///
    /// # Errors
    ///
    /// When the record can never be sent, was refused, or was not acknowledged within `delivery.timeout.ms`; see
    /// [`Error::is_in_doubt`].
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits for space, nothing is sent; after that the record is sent all the same.
    pub async fn send(&self, record: ProducerRecord<'_>) -> Result<RecordMetadata, Error> {
        self.enqueue(record).await?.await
    }
    /// Waits for buffer space only; the [`Delivery`] waits for the acknowledgement.
    ///
    /// # Errors
    ///
    /// When the record can never be sent, or there is no space, or no such topic, within `max.block.ms`.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the record is not sent.
    pub async fn enqueue(&self, record: ProducerRecord<'_>) -> Result<Delivery, Error> {
        self.engine().enqueue(&record, 0).await
    }
    /// Waits for nothing. For code that is not async; [`space`](Self::space) tells when to try again.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](crate::ErrorKind::WouldBlock) when the buffer is full or the topic's partitions are not known yet
    /// (they are asked for); a broker's code when brokers refuse the topic, or have not known it for half a minute; otherwise when the
    /// record can never be sent.
    pub fn try_enqueue(&self, record: ProducerRecord<'_>) -> Result<Delivery, Error> {
        self.engine().try_enqueue(&record, 0)
    }
    /// Waits until something that made [`try_enqueue`](Self::try_enqueue) refuse has changed: memory was given back, or a
    /// topic became known. Returns at once when there is memory and no topic is asked for, and after a moment when a topic stays
    /// unknown, since [`try_enqueue`](Self::try_enqueue) tells in the end that it does not exist.
    ///
    /// # Cancel safety
    ///
    /// It takes nothing, so dropping it loses nothing.
    pub async fn space(&self) {
        self.engine().space().await;
    }
    /// [`enqueue`](Self::enqueue) for many, in order. Stops at the first that can never be sent; those before it are sent.
    ///
    /// # Errors
    ///
    /// That first one's.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, some of the first records are sent and the rest are not.
    pub async fn enqueue_all<'a, I>(&self, records: I) -> Result<Deliveries, Error>
    where
        I: IntoIterator<Item = ProducerRecord<'a>> + Send,
        I::IntoIter: Send,
    {
        self.engine().enqueue_all(records, 0).await
    }
    /// Waits until everything enqueued before this call has been acknowledged or has failed.
    ///
    /// # Errors
    ///
    /// The first failure of a record since the last flush, whether anybody looked at its [`Delivery`] or not.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the records still go at once.
    pub async fn flush(&self) -> Result<(), Error> {
        self.engine().flush().await
    }
    /// How many partitions the topic has.
    ///
    /// # Errors
    ///
    /// When the cluster does not say within `max.block.ms`.
    ///
    /// # Cancel safety
    ///
    /// It changes nothing.
    pub async fn partition_count(&self, topic: &str) -> Result<usize, Error> {
        self.engine().partition_count(topic).await
    }
    /// How many partitions the topic has, if that is known already; otherwise it is asked for.
    #[must_use]
    pub fn known_partition_count(&self, topic: &str) -> Option<usize> {
        self.engine().known_partition_count(topic)
    }
    /// Flushes and closes, for all clones; what is left after `within` fails. Dropping instead flushes in the background.
    ///
    /// # Errors
    ///
    /// The first failure of a record since the last flush.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the producer goes on closing in the background.
    pub async fn close(self, within: Duration) -> Result<(), Error> {
        self.engine().close(within).await
    }

    fn engine(&self) -> &Engine {
        &self.0.0
    }
}
