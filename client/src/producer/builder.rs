//! Options of a producer.

use super::{Acks, Compression, Engine, Partitioner, Producer};
use crate::config::{ConfigError, options};
use crate::{ClientSource, Error, TransactionalProducer};
use millstream_client_core::produce::{AccumulatorOptions, SenderOptions};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Options of a producer.
#[derive(Clone)]
#[must_use = "a builder does nothing until it is built"]
pub struct ProducerBuilder {
    source: ClientSource,
    options: ProducerOptions,
    partitioner: Option<Arc<dyn Partitioner>>,
    problem: Option<ConfigError>,
}

options! { ProducerBuilder, ProducerOptions {
    /// When a record counts as written.
    "acks" => acks(Acks): Acks = Acks::All, "all";
    /// Keeps order and writes once through retries. Needs `acks` of all.
    "enable.idempotence" => enable_idempotence(bool): Option<bool> = None, "true, unless `acks` is less than all";
    /// How batches are compressed.
    "compression.type" => compression_type(Compression): Compression = Compression::None, "none";
    /// How hard gzip tries: 1 to 9.
    "compression.gzip.level" => compression_gzip_level(i32): Option<i32> = None, "the codec's own";
    /// How hard lz4 tries.
    "compression.lz4.level" => compression_lz4_level(i32): Option<i32> = None, "the codec's own";
    /// How hard zstd tries.
    "compression.zstd.level" => compression_zstd_level(i32): Option<i32> = None, "the codec's own";
    /// How long an open batch waits for company.
    "linger.ms" => linger(Duration): Duration = Duration::from_millis(5), "5 ms";
    /// How full a batch may become, in bytes.
    "batch.size" => batch_size(usize): usize = 1_000_000, "1 MB; a batch goes when full or when linger is over", positive;
    /// What all batches not yet acknowledged may take, in bytes; senders wait for it.
    "buffer.memory" => buffer_memory(usize): usize = 64 << 20, "64 MiB", positive;
    /// How large one record may be, in bytes, before compression.
    "max.request.size" => max_request_size(usize): usize = 1 << 20, "1 MiB", positive;
    /// How long a sender waits for space and metadata.
    "max.block.ms" => max_block(Duration): Duration = Duration::from_secs(60), "1 min";
    /// From the call to success or failure, retries included.
    "delivery.timeout.ms" => delivery_timeout(Duration): Duration = Duration::from_secs(120), "2 min", positive_duration;
    /// How many requests may be under way to one broker. Order is kept through retries up to five.
    "max.in.flight.requests.per.connection" => max_in_flight_requests_per_connection(usize): usize = 5, "5", positive;
    /// How long a transaction may stay open before the broker aborts it.
    "transaction.timeout.ms" => transaction_timeout(Duration): Duration = Duration::from_secs(60), "1 min", positive_duration;
}}

impl ProducerBuilder {
    /// Kafka's keys of a producer's own options, which [`set`](Self::set) takes besides the client's.
    pub const KEYS: &'static [&'static str] = ProducerOptions::KEYS;

    pub(crate) fn new(source: ClientSource) -> Self {
        Self { source, options: ProducerOptions::default(), partitioner: None, problem: None }
    }
    /// Sets an option by Kafka's key, the client's own included. What is wrong with it comes out of `build`.
    pub fn set(mut self, key: &str, value: &str) -> Self {
        let set = self.options.set_text(key, value).unwrap_or_else(|| self.source.set(key, value));
        self.problem = self.problem.or(set.err());
        self
    }
    /// Chooses partitions.
    ///
    /// Kafka's key: `partitioner.class`. Default: murmur2 of the key as in Java; without one, a partition for some bytes, then
    /// another (KIP-794).
    pub fn partitioner(mut self, partitioner: impl Partitioner) -> Self {
        self.partitioner = Some(Arc::new(partitioner));
        self
    }
    /// Connects.
    ///
    /// # Errors
    ///
    /// When an option cannot be, or no broker answers.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn build(self) -> Result<Producer, Error> {
        Ok(Producer::start(self.engine(None).await?))
    }
    /// Connects as the one producer of this transactional id, and fences older ones. Key: `transactional.id`.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), and when the cluster refuses the transactional id.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, an older producer of this id may have been fenced.
    pub async fn build_transactional(
        self,
        transactional_id: impl Into<String> + Send,
    ) -> Result<TransactionalProducer, Error> {
        let transactional_id = transactional_id.into();
        let timeout = self.options.transaction_timeout;
        let engine = self.engine(Some(transactional_id.clone())).await?;
        TransactionalProducer::start(engine, transactional_id, timeout).await
    }

    async fn engine(self, transactional_id: Option<String>) -> Result<Arc<Engine>, Error> {
        if let Some(problem) = self.problem {
            return Err(problem.into());
        }
        self.options.check()?;
        let idempotent = self.options.idempotence(transactional_id.is_some())?;
        let client = self.source.connect().await?;
        let request_timeout = client.options().request_timeout;
        let accumulator = self.options.accumulator(transactional_id.is_some());
        let mut sender = self.options.sender(idempotent, transactional_id);
        sender.request_timeout = request_timeout;
        sender.retry_backoff = client.options().retry_backoff;
        sender.retry_backoff_max = client.options().retry_backoff_max;
        if self.options.delivery_timeout < self.options.linger + request_timeout {
            let problem = "must be at least linger.ms and request.timeout.ms together";
            return Err(ConfigError::new("delivery.timeout.ms", problem).into());
        }
        Engine::start(client, accumulator, sender, self.partitioner, &self.options)
    }
}

impl ProducerOptions {
    fn idempotence(&self, transactional: bool) -> Result<bool, ConfigError> {
        let wanted = self.enable_idempotence.unwrap_or(self.acks == Acks::All) || transactional;
        let problem = match (wanted, self.acks) {
            (true, acks) if acks != Acks::All => "needs acks of all",
            (true, _) if self.max_in_flight_requests_per_connection > 5 => {
                "needs max.in.flight.requests.per.connection of at most 5"
            }
            _ if transactional && self.enable_idempotence == Some(false) => "is what transactions stand on",
            _ => return Ok(wanted),
        };
        Err(ConfigError::new("enable.idempotence", problem))
    }
    fn accumulator(&self, transactional: bool) -> AccumulatorOptions {
        let mut options = AccumulatorOptions::default();
        options.batch_size = self.batch_size;
        options.buffer_memory = self.buffer_memory;
        options.compression = self.compression_type;
        options.compression_level = match self.compression_type {
            Compression::Gzip => self.compression_gzip_level,
            Compression::Lz4 => self.compression_lz4_level,
            Compression::Zstd => self.compression_zstd_level,
            _ => None,
        };
        options.transactional = transactional;
        options
    }
    fn sender(&self, idempotent: bool, transactional_id: Option<String>) -> SenderOptions {
        let mut options = SenderOptions::default();
        options.acks = self.acks.code();
        options.idempotent = idempotent;
        options.transactional_id = transactional_id;
        options.linger = self.linger;
        options.max_in_flight = self.max_in_flight_requests_per_connection;
        options.delivery_timeout = self.delivery_timeout;
        options.max_request_bytes = options.max_request_bytes.max(self.max_request_size);
        options
    }
}

impl fmt::Debug for ProducerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProducerBuilder").field("options", &self.options).finish_non_exhaustive()
    }
}
