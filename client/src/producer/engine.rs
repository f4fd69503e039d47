//! What a producer's callers and its driver share.

use super::builder::ProducerOptions;
use super::{Deliveries, Delivery, Partitioner, driver, error_of};
use crate::runtime::{after, timeout_at};
use crate::{Client, Error, ErrorKind, ProducerRecord};
use millstream_client_core::backoff::Random;
use millstream_client_core::cluster::{Creation, Image, Topic};
use millstream_client_core::produce::{
    Accumulator, AccumulatorOptions, AppendError, BatchHandle, Failure, RecordFields, Sender, SenderOptions, Shard,
    TopicShards, TransactionNumber,
};
use millstream_protocol::hash::HashSet;
use millstream_protocol::record::BatchBuilder;
use millstream_protocol::{Headers, TopicName};
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};

/// What a producer's callers and its driver share.
pub(crate) struct Engine {
    pub(crate) client: Client,
    pub(crate) accumulator: Arc<Accumulator>,
    sender: Mutex<Sender>,
    partitioner: Option<Arc<dyn Partitioner>>,
    max_block: Duration,
    max_record_bytes: usize,
    /// The driver has something to look at.
    pub(super) wake: Arc<Notify>,
    /// Memory was given back, or a topic became known.
    pub(super) space: Notify,
    /// Who waits for memory, in order. A lock that is held across an await on purpose: it is the queue itself.
    queue: tokio::sync::Mutex<()>,
    /// A request came back.
    pub(crate) landed: Notify,
    pub(crate) closing: AtomicBool,
    pub(super) ended: watch::Sender<bool>,
    /// Topics that callers who do not wait have asked for.
    wanted: Mutex<HashSet<TopicName>>,
    transactional_id: Option<String>,
    seed: u64,
}

/// Why a record was not taken.
pub(crate) enum Refusal {
    UnknownTopic,
    Full,
    Final(Error),
}

impl Engine {
    pub(crate) fn start(
        client: Client,
        accumulator: AccumulatorOptions,
        sender: SenderOptions,
        partitioner: Option<Arc<dyn Partitioner>>,
        options: &ProducerOptions,
    ) -> Result<Arc<Self>, Error> {
        let wake = Arc::new(Notify::new());
        let waker = Arc::clone(&wake);
        let accumulator = Accumulator::new(accumulator, move || waker.notify_one())
            .map_err(|error| Error::new(ErrorKind::Config, "start a producer").reason(&error).because(error))?;
        let accumulator = Arc::new(accumulator);
        let runtime = Arc::clone(client.runtime());
        let transactional_id = sender.transactional_id.clone();
        let sender = Sender::new(sender, Arc::clone(&accumulator), Random::new(runtime.seed()));
        let engine = Arc::new(Self {
            client,
            accumulator,
            sender: Mutex::new(sender),
            partitioner,
            max_block: options.max_block,
            max_record_bytes: options.max_request_size,
            wake,
            space: Notify::new(),
            queue: tokio::sync::Mutex::new(()),
            landed: Notify::new(),
            closing: AtomicBool::new(false),
            ended: watch::Sender::new(false),
            wanted: Mutex::default(),
            transactional_id,
            seed: runtime.seed(),
        });
        // The driver ends by itself when the last handle is gone and what is left is sent or has expired.
        runtime.spawn(Box::pin(driver::run(Arc::clone(&engine)))).detach();
        Ok(engine)
    }

    /// The sender. Never held across an await.
    pub(crate) fn sender(&self) -> MutexGuard<'_, Sender> {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(crate) fn wake_driver(&self) {
        self.wake.notify_one();
    }

    // --- taking records

    /// Takes a record if there is room for it now.
    pub(crate) fn append(
        &self,
        record: &ProducerRecord<'_>,
        transaction: TransactionNumber,
    ) -> Result<Delivery, Refusal> {
        static NO_HEADERS: Headers = Headers::new();
        let topic = self.accumulator.topic(record.topic).ok_or(Refusal::UnknownTopic)?;
        let timestamp = record.timestamp.unwrap_or_else(|| self.client.runtime().wall_clock());
        let headers = record.headers.unwrap_or(&NO_HEADERS);
        let fields = RecordFields { key: record.key, value: record.value, headers, timestamp };
        let shard = self.choose(&topic, record, &fields)?;
        self.check_size(record, &fields)?;
        match self.accumulator.append(shard, &fields, transaction, || self.client.now()) {
            Ok(appended) => Ok(Delivery::new(appended.handle, appended.index, timestamp)),
            Err(AppendError::Full) => Err(Refusal::Full),
            Err(AppendError::Closed(failure)) => Err(Refusal::Final(error_of(&failure, shard.partition()))),
            Err(AppendError::Unfit(why)) => Err(Refusal::Final(
                Error::new(ErrorKind::TooLarge, "write a record").about(shard.partition().clone()).reason(why),
            )),
            Err(other) => {
                Err(Refusal::Final(Error::new(ErrorKind::Misuse, "write a record").reason(format_args!("{other:?}"))))
            }
        }
    }
    pub(crate) fn try_enqueue(
        &self,
        record: &ProducerRecord<'_>,
        transaction: TransactionNumber,
    ) -> Result<Delivery, Error> {
        self.append(record, transaction).map_err(|refusal| self.would_block(refusal, record.topic))
    }
    pub(crate) async fn enqueue(
        &self,
        record: &ProducerRecord<'_>,
        transaction: TransactionNumber,
    ) -> Result<Delivery, Error> {
        match self.append(record, transaction) {
            Ok(delivery) => Ok(delivery),
            Err(Refusal::Final(error)) => Err(error),
            Err(refusal) => self.enqueue_slowly(record, transaction, refusal).await,
        }
    }
    pub(crate) async fn enqueue_all<'a, I>(
        &self,
        records: I,
        transaction: TransactionNumber,
    ) -> Result<Deliveries, Error>
    where
        I: IntoIterator<Item = ProducerRecord<'a>> + Send,
        I::IntoIter: Send,
    {
        let mut deliveries = Deliveries::default();
        for record in records {
            deliveries.push(self.enqueue(&record, transaction).await?);
        }
        Ok(deliveries)
    }

    async fn enqueue_slowly(
        &self,
        record: &ProducerRecord<'_>,
        transaction: TransactionNumber,
        mut refusal: Refusal,
    ) -> Result<Delivery, Error> {
        let deadline = self.client.now() + self.max_block;
        loop {
            match refusal {
                Refusal::Final(error) => return Err(error),
                Refusal::UnknownTopic => drop(self.know_topic(record.topic, deadline).await?),
                Refusal::Full => return self.enqueue_in_turn(record, transaction, deadline).await,
            }
            match self.append(record, transaction) {
                Ok(delivery) => return Ok(delivery),
                Err(next) => refusal = next,
            }
        }
    }
    /// Waits for memory behind those who came before.
    async fn enqueue_in_turn(
        &self,
        record: &ProducerRecord<'_>,
        transaction: TransactionNumber,
        deadline: Instant,
    ) -> Result<Delivery, Error> {
        let _starving = Starving::begin(&self.accumulator);
        let runtime = &**self.client.runtime();
        let turn = timeout_at(runtime, deadline, self.queue.lock()).await;
        let Some(_turn) = turn else { return Err(self.out_of_memory(record.topic)) };
        loop {
            let mut space = std::pin::pin!(self.space.notified());
            space.as_mut().enable();
            match self.append(record, transaction) {
                Ok(delivery) => return Ok(delivery),
                Err(Refusal::Full) => {}
                Err(refusal) => return Err(self.would_block(refusal, record.topic)),
            }
            if timeout_at(runtime, deadline, space).await.is_none() {
                return Err(self.out_of_memory(record.topic));
            }
        }
    }
    fn choose<'t>(
        &self,
        topic: &'t TopicShards,
        record: &ProducerRecord<'_>,
        fields: &RecordFields<'_>,
    ) -> Result<&'t Arc<Shard>, Refusal> {
        let own = || self.partitioner.as_ref().and_then(|partitioner| partitioner.partition(record, topic.len()));
        let Some(partition) = record.partition.or_else(own) else {
            return topic.choose(fields).ok_or(Refusal::UnknownTopic);
        };
        topic.shard(partition).ok_or_else(|| {
            let reason = format!(
                "topic `{}` has {} partition(s), counted from 0: there is no {partition}",
                record.topic,
                topic.len()
            );
            Refusal::Final(Error::new(ErrorKind::Misuse, "write a record").reason(reason))
        })
    }
    fn check_size(&self, record: &ProducerRecord<'_>, fields: &RecordFields<'_>) -> Result<(), Refusal> {
        let bytes = BatchBuilder::upper_bound(fields.key, fields.value, fields.headers);
        if bytes <= self.max_record_bytes {
            return Ok(());
        }
        let limit = self.max_record_bytes;
        let reason =
            format!("a record of about {bytes} bytes for topic `{}` is over max.request.size ({limit})", record.topic);
        Err(Refusal::Final(Error::new(ErrorKind::TooLarge, "write a record").reason(reason)))
    }
    fn would_block(&self, refusal: Refusal, topic: &str) -> Error {
        let reason = match refusal {
            Refusal::Final(error) => return error,
            Refusal::Full => "the buffer is full (buffer.memory)",
            Refusal::UnknownTopic => {
                self.want_topic(topic);
                if let Some(code) = self.client.hub().verdict(topic) {
                    return Error::topic(code, format!("write a record to topic `{topic}`"));
                }
                "the topic's partitions are not known yet"
            }
        };
        Error::new(ErrorKind::WouldBlock, format!("write a record to topic `{topic}`")).reason(reason)
    }
    fn out_of_memory(&self, topic: &str) -> Error {
        let reason =
            "no buffer space within max.block.ms; brokers are slower than the senders, or buffer.memory is too small";
        Error::new(ErrorKind::TimedOut, format!("write a record to topic `{topic}`")).reason(reason)
    }

    // --- topics

    async fn know_topic(&self, name: &str, deadline: Instant) -> Result<Arc<TopicShards>, Error> {
        let name = TopicName::from(name);
        let topic = self.client.hub().topic(&name, Creation::Allowed, deadline).await?;
        Ok(self.set_topic(&topic))
    }
    pub(super) fn set_topic(&self, topic: &Topic) -> Arc<TopicShards> {
        let has_leader = |index: usize| topic.partitions.get(index).is_some_and(|partition| partition.leader.is_some());
        self.wanted().remove(&topic.name);
        self.accumulator.set_topic(&topic.name, topic.partitions.len(), has_leader, self.seed)
    }
    pub(crate) async fn partition_count(&self, topic: &str) -> Result<usize, Error> {
        match self.known_partition_count(topic) {
            Some(count) => Ok(count),
            None => Ok(self.know_topic(topic, self.client.now() + self.max_block).await?.len()),
        }
    }
    pub(crate) fn known_partition_count(&self, topic: &str) -> Option<usize> {
        let known = self.accumulator.topic(topic).map(|topic| topic.len());
        if known.is_none() {
            self.want_topic(topic);
        }
        known
    }
    /// Asks for a topic without waiting; the driver sets it when the cluster has described it.
    fn want_topic(&self, name: &str) {
        let name = TopicName::from(name);
        self.client.hub().use_topic(&name, Creation::Allowed);
        self.wanted().insert(name.clone());
        // It may be known already, for another role of the client.
        let image = self.client.hub().image();
        if let Some(topic) = image.topic(name.as_str()).filter(|topic| !topic.partitions.is_empty()) {
            self.set_topic(topic);
        }
    }
    /// The cluster's picture changed: partitions may have come, leaders may have moved.
    pub(super) fn handle_image(&self, image: &Image) {
        let mut names = self.accumulator.topic_names();
        names.extend(self.wanted().iter().cloned());
        for topic in names.iter().filter_map(|name| image.topic(name.as_str())) {
            if !topic.partitions.is_empty() {
                self.set_topic(topic);
            }
        }
        self.space.notify_waiters();
    }
    fn wanted(&self) -> MutexGuard<'_, HashSet<TopicName>> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(super) fn transactional_id(&self) -> Option<&str> {
        self.transactional_id.as_deref()
    }

    // --- waiting and ending

    pub(crate) async fn space(&self) {
        let space = self.space.notified();
        if !self.accumulator.has_room() {
            return space.await;
        }
        if !self.wanted().is_empty() {
            // Woken when the topic is known. One that does not exist wakes nobody, and the caller has to learn that, too.
            let until = self.client.now() + UNKNOWN_TOPIC_PAUSE;
            timeout_at(&**self.client.runtime(), until, space).await;
        }
    }
    /// Waits until all that was taken before is resolved.
    pub(crate) async fn settle(&self) {
        for batch in self.accumulator.flush() {
            wait_for(&batch).await;
        }
    }
    pub(crate) async fn flush(&self) -> Result<(), Error> {
        self.settle().await;
        let failure = self.sender().take_first_failure();
        failure.map_or(Ok(()), |(partition, failure)| Err(error_of(&failure, &partition)))
    }
    /// No more records are taken; the driver sends what is there and ends.
    pub(crate) fn begin_close(&self) {
        self.accumulator.close(&Arc::new(Failure::Closed), false);
        self.closing.store(true, Ordering::Release);
        drop(self.accumulator.flush());
        self.wake_driver();
    }
    pub(crate) async fn close(&self, within: Duration) -> Result<(), Error> {
        let deadline = after(self.client.now(), within);
        self.begin_close();
        let mut ended = self.ended.subscribe();
        let settled = ended.wait_for(|ended| *ended);
        if timeout_at(&**self.client.runtime(), deadline, settled).await.is_none() {
            self.sender().fail_all(&Arc::new(Failure::Closed));
            self.wake_driver();
        }
        let failure = self.sender().take_first_failure();
        failure.map_or(Ok(()), |(partition, failure)| Err(error_of(&failure, &partition)))
    }
}

/// Counts a caller among those who wait for memory.
struct Starving<'a>(&'a Accumulator);
impl<'a> Starving<'a> {
    fn begin(accumulator: &'a Accumulator) -> Self {
        accumulator.begin_starving();
        Self(accumulator)
    }
}
impl Drop for Starving<'_> {
    fn drop(&mut self) {
        self.0.end_starving();
    }
}

async fn wait_for(batch: &BatchHandle) {
    poll_fn(|cx| batch.poll_all(cx)).await;
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("accumulator", &self.accumulator).finish_non_exhaustive()
    }
}

/// How long [`Engine::space`] waits for a topic that stays unknown.
const UNKNOWN_TOPIC_PAUSE: Duration = Duration::from_millis(50);
