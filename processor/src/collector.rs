//! Where a task's outputs go under at least once: at once, through the lane's producer that is not transactional.

use crate::shared::lock;
use millstream_client::runtime::{Runtime, sleep_until};
use millstream_client::{Error, ErrorKind, Producer, ProducerRecord};
use millstream_processor_core::ProcessorError;
use millstream_processor_core::task::{Collector, OutputRecord};
use millstream_protocol::{Headers, PartitionId, Timestamp, TopicName};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Whether a task is still this process's: outputs pass only while it is.
#[derive(Debug, Clone)]
pub(crate) struct Token(Arc<AtomicBool>);

impl Token {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    pub(crate) fn is_live(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub(crate) fn revoke(&self) {
        self.0.store(false, Ordering::Release);
    }
}

/// A task's outputs on their way to the producer. What finds no room waits here; the task is parked meanwhile, so what waits is at
/// most what one record has sent.
#[derive(Debug)]
pub(crate) struct Outlet {
    producer: Producer,
    /// Whether something waits: what each record asks, without a lock.
    is_waiting: AtomicBool,
    waiting: Mutex<VecDeque<Waiting>>,
    /// Why one that waited cannot be sent: the commit that it belongs to fails.
    failure: Mutex<Option<Error>>,
}

/// An output that found no room.
#[derive(Debug)]
struct Waiting {
    topic: TopicName,
    partition: Option<PartitionId>,
    timestamp: Timestamp,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Headers,
}

impl Outlet {
    pub(crate) fn new(producer: Producer) -> Self {
        Self { producer, is_waiting: AtomicBool::new(false), waiting: Mutex::default(), failure: Mutex::default() }
    }

    /// Hands on what waits, and waits for room meanwhile: part of step 1 of a commit, before the flush.
    pub(crate) async fn drain(&self, runtime: &dyn Runtime) -> Result<(), Error> {
        while !self.try_drain() {
            self.producer.space().await;
            // There may be memory, and a topic that is not known yet: whoever asks for it must get its turn.
            sleep_until(runtime, runtime.now() + LOOK).await;
        }
        lock(&self.failure).take().map_or(Ok(()), Err)
    }

    fn push(&self, record: &OutputRecord<'_>) {
        lock(&self.waiting).push_back(Waiting::new(record));
        self.is_waiting.store(true, Ordering::Release);
    }

    /// Hands on what waits, as far as there is room; true if nothing waits any more.
    fn try_drain(&self) -> bool {
        if !self.is_waiting.load(Ordering::Acquire) {
            return true;
        }
        let mut waiting = lock(&self.waiting);
        while let Some(next) = waiting.front() {
            match self.producer.try_enqueue(next.as_record()) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Ok(_) => {}
                Err(error) => drop(lock(&self.failure).get_or_insert(error)),
            }
            waiting.pop_front();
        }
        self.is_waiting.store(false, Ordering::Release);
        true
    }

    fn send(&self, record: &OutputRecord<'_>) -> Result<(), ProcessorError> {
        match self.producer.try_enqueue(as_record(record)) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.push(record);
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The task's end of its [`Outlet`].
#[derive(Debug)]
pub(crate) struct TaskCollector {
    outlet: Arc<Outlet>,
    token: Token,
}

impl TaskCollector {
    pub(crate) const fn new(outlet: Arc<Outlet>, token: Token) -> Self {
        Self { outlet, token }
    }
}

impl Collector for TaskCollector {
    fn is_ready(&mut self) -> bool {
        self.outlet.try_drain()
    }

    fn partition_count(&mut self, topic: &TopicName) -> Option<usize> {
        self.outlet.producer.known_partition_count(topic.as_str())
    }

    fn send(&mut self, record: OutputRecord<'_>) -> Result<(), ProcessorError> {
        if !self.token.is_live() {
            return Ok(());
        }
        // Order is kept: nothing overtakes what waits.
        if self.outlet.is_waiting.load(Ordering::Acquire) {
            self.outlet.push(&record);
            return Ok(());
        }
        self.outlet.send(&record)
    }
}

impl Waiting {
    fn new(record: &OutputRecord<'_>) -> Self {
        Self {
            topic: record.topic.clone(),
            partition: record.partition,
            timestamp: record.timestamp,
            key: record.key.map(<[u8]>::to_vec),
            value: record.value.map(<[u8]>::to_vec),
            headers: record.headers.clone(),
        }
    }

    fn as_record(&self) -> ProducerRecord<'_> {
        let mut record = ProducerRecord::to(&self.topic).timestamp(self.timestamp).headers(&self.headers);
        (record.key, record.value, record.partition) = (self.key.as_deref(), self.value.as_deref(), self.partition);
        record
    }
}

fn as_record<'a>(output: &OutputRecord<'a>) -> ProducerRecord<'a> {
    let mut record = ProducerRecord::to(output.topic).timestamp(output.timestamp).headers(output.headers);
    (record.key, record.value, record.partition) = (output.key, output.value, output.partition);
    record
}

/// Between two tries to hand on what waits.
const LOOK: Duration = Duration::from_millis(1);
