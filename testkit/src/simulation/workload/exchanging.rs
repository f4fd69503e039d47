//! Transactions that read what others write: two clients, each of which writes to a partition of its own and to one that both write to, and reads
//! the other's within the same transaction; the first reads the common one, too. What one reads of another's transaction it reads after that
//! one's commit, so that they never depend on each other in a circle.
//!
//! Where a client goes on is kept beside it, as by an application that keeps its positions itself; it outlives the process.

use super::producing::{BURST, outcome};
use super::seams::{BUFFER, buffer_memory, hand_out, resolve, with_fetch_memory};
use super::stage::{Life, Scribe, Stage, pause, until_good};
use crate::checkers::{Ended, Event, TransactionId};
use crate::simulation::{Random, SimulatedProcess};
use millstream_client::runtime::{BoxFuture, timeout_at};
use millstream_client::{
    Client, CommitFailure, Consumer, Error, IsolationLevel, OffsetReset, OffsetSpec, ProducerRecord, RawTransactions,
    TransactionalProducer,
};
use millstream_protocol::{Offset, TopicPartition};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

pub(super) const TOPIC: &str = "exchanged";
/// Each has a partition of its own, and there is one more.
pub(super) const PARTITIONS: i32 = 3;
pub(super) const EXCHANGERS: usize = 2;
const COMMON: i32 = 2;
/// A burst, where memory is short, is more than a poll brings, and is to be read as fast as it is written.
const MOST_POLLS: usize = 50;

pub(super) async fn run(stage: Stage, random: Random) {
    let parts = (0..EXCHANGERS).map(|index| {
        let (stage, random) = (stage.clone(), random.fork(800 + index as u64));
        Box::pin(async move {
            let places = Places::of(index);
            let body = |process, life: usize| -> BoxFuture<()> {
                let (stage, random, places) = (stage.clone(), random.fork(life as u64), places.clone());
                Box::pin(async move { exchange(stage, random, process, places).await })
            };
            stage.supervise(index, host(index), body).await;
        }) as BoxFuture<()>
    });
    let parts = parts.collect();
    super::reading::beside(&stage, &[TOPIC], &random, parts).await;
}

/// Its host, and its transactional id.
pub(super) fn host(index: usize) -> String {
    format!("exchanger-{index}")
}

/// What a client writes to and reads from.
#[derive(Debug, Clone)]
struct Places {
    id: String,
    own: TopicPartition,
    /// Where to go on, in each that it reads.
    next: Arc<Mutex<BTreeMap<TopicPartition, Offset>>>,
}
impl Places {
    fn of(index: usize) -> Self {
        let (own, read) = if index == 0 { (0, vec![1, COMMON]) } else { (1, vec![0]) };
        let next = read.into_iter().map(|partition| (TopicPartition::new(TOPIC, partition), Offset::new(0))).collect();
        Self { id: host(index), own: TopicPartition::new(TOPIC, own), next: Arc::new(Mutex::new(next)) }
    }
    fn next(&self) -> BTreeMap<TopicPartition, Offset> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    fn go_on(&self, read: BTreeMap<TopicPartition, Offset>) {
        self.next.lock().unwrap_or_else(PoisonError::into_inner).extend(read);
    }
}

/// Exchanges until it is time to end and all of the others' is read.
async fn exchange(stage: Stage, mut random: Random, process: SimulatedProcess, places: Places) {
    let runtime = process.runtime();
    let connect = || process.client().request_timeout(Duration::from_secs(5)).build();
    let mut has_all = false;
    while !has_all && !stage.has_had_its_time() {
        let Some(client) = until_good(&*runtime, &stage, connect).await else { return };
        let make = || producer(&stage, client.clone(), &places.id);
        let Some(producer) = until_good(&*runtime, &stage, make).await else { return };
        let make = || consumer(&stage, client.clone());
        let Some(mut consumer) = until_good(&*runtime, &stage, make).await else { return };
        let scribe = Scribe::new(&stage);
        scribe.note(Event::MemoryLimit(BUFFER));
        scribe.holds(&process);
        let life = Life(scribe.clone());
        consumer.assign(places.next().into_keys());
        let mut exchanger = Exchanger { scribe, process: process.clone(), producer, consumer, places: places.clone() };
        exchanger.go_back();
        while !has_all && !stage.has_had_its_time() && exchanger.turn(&mut random).await.is_ok() {
            has_all = stage.is_written() && exchanger.has_all();
        }
        drop(life);
        let _ = exchanger.producer.close(Duration::from_secs(5)).await;
    }
}

struct Exchanger {
    scribe: Scribe,
    process: SimulatedProcess,
    producer: RawTransactions,
    consumer: Consumer,
    places: Places,
}

impl Exchanger {
    /// One transaction. An error: the clients are to be made anew.
    async fn turn(&mut self, random: &mut Random) -> Result<(), Error> {
        let id = TransactionId::from(self.scribe.stage.number());
        self.producer.ready().await?;
        self.producer.begin()?;
        let mut sends = Sends::default();
        let sent = self.send(id, &mut sends, random).await;
        let done = match sent {
            Ok(()) => self.read(id).await,
            Err(error) => Err(error),
        };
        self.scribe.note(Event::Ending { transaction: id, commit: done.is_ok() });
        let (outcome, ended) = self.end(done.is_ok()).await;
        sends.resolved().await;
        self.scribe.ended(id, outcome, ended.as_ref().err());
        match done {
            Ok(read) if outcome != Ended::Aborted => self.places.go_on(read),
            _ => self.go_back(),
        }
        pause(&*self.process.runtime(), random, Duration::from_secs(1)).await;
        ended
    }
    /// Sends a record to its own partition and perhaps one to the common one; or many, where memory is short.
    async fn send(&self, id: TransactionId, sends: &mut Sends, random: &mut Random) -> Result<(), Error> {
        let stage = &self.scribe.stage;
        if stage.is_over() {
            return Ok(());
        }
        let bursts = stage.case.is_tight() && random.one_in(8);
        for _ in 0..if bursts { BURST } else { 1 } {
            self.enqueue(id, &self.places.own, sends, random.below(300)).await?;
        }
        if random.one_in(2) {
            self.enqueue(id, &TopicPartition::new(TOPIC, COMMON), sends, random.below(300)).await?;
        }
        if random.one_in(2) {
            sends.resolved().await;
        }
        Ok(())
    }
    async fn enqueue(
        &self,
        id: TransactionId,
        place: &TopicPartition,
        sends: &mut Sends,
        padding: usize,
    ) -> Result<(), Error> {
        let (value, bytes) = self.scribe.send(place, Some(id), padding);
        let record = ProducerRecord::to(TOPIC).value(&bytes).partition(place.partition);
        let delivery = self.producer.enqueue(record).await;
        let delivery = delivery.inspect_err(|error| self.scribe.note(outcome(value, Err(error.clone()))))?;
        self.scribe.note(Event::Taken { value });
        let resolved = resolve(self.scribe.clone(), value, delivery);
        let (done, is_done) = oneshot::channel();
        self.process.spawn(async move {
            resolved.await;
            let _ = done.send(());
        });
        sends.0.push(is_done);
        Ok(())
    }
    /// Waits a moment for records of the others, and takes what comes with them; says where they end.
    async fn read(&mut self, id: TransactionId) -> Result<BTreeMap<TopicPartition, Offset>, Error> {
        let mut read = self.poll(id, Duration::from_secs(1)).await?;
        for _ in 0..MOST_POLLS {
            let more = self.poll(id, Duration::from_millis(50)).await?;
            if more.is_empty() {
                break;
            }
            read.extend(more);
        }
        Ok(read)
    }
    async fn poll(&mut self, id: TransactionId, wait: Duration) -> Result<BTreeMap<TopicPartition, Offset>, Error> {
        let runtime = self.process.runtime();
        let limit = runtime.now() + wait;
        match timeout_at(&*runtime, limit, self.consumer.poll()).await {
            None => Ok(BTreeMap::new()),
            Some(Ok(records)) => {
                hand_out(&self.scribe, &records, id);
                Ok(records.next_offsets().iter().map(|(partition, next)| (partition.clone(), next.offset)).collect())
            }
            Some(Err(error)) => {
                // It has let go of what it had of the partition.
                let partition = error.topic_partition().cloned();
                partition.into_iter().for_each(|partition| self.scribe.note(Event::Sought { partition }));
                Err(error)
            }
        }
    }
    async fn end(&self, commit: bool) -> (Ended, Result<(), Error>) {
        if !commit {
            return (Ended::Aborted, self.producer.abort().await);
        }
        match self.producer.commit().await {
            Ok(()) => (Ended::Committed, Ok(())),
            Err(CommitFailure::NotCommitted(_)) => (Ended::Aborted, self.producer.abort().await),
            Err(failure) => (Ended::Unknown, Err(failure.into_error())),
        }
    }
    /// Reads on where the last transaction that counts ended.
    fn go_back(&mut self) {
        for (partition, next) in self.places.next() {
            self.scribe.note(Event::Sought { partition: partition.clone() });
            let _ = self.consumer.seek(partition, OffsetSpec::At(next));
        }
    }
    fn has_all(&self) -> bool {
        let (broker, positions) = (&self.scribe.stage.handle, self.consumer.positions());
        self.places.next().keys().all(|partition| {
            let (topic, index) = (partition.topic.as_str(), partition.partition.get());
            let end = broker.with_broker(|broker| broker.span(topic, index)).map_or(0, |(_, end)| end);
            positions.of(partition).is_some_and(|position| position.offset.get() >= end)
        })
    }
}

/// Sends of a transaction that are not resolved, as far as is known.
#[derive(Debug, Default)]
struct Sends(Vec<oneshot::Receiver<()>>);
impl Sends {
    async fn resolved(&mut self) {
        for send in self.0.drain(..) {
            let _ = send.await;
        }
    }
}

async fn producer(stage: &Stage, client: Client, id: &str) -> Result<RawTransactions, Error> {
    let builder = client.producer().batch_size(2000).buffer_memory(buffer_memory(stage));
    let builder = builder.delivery_timeout(Duration::from_secs(30)).max_block(Duration::from_secs(10));
    builder.build_transactional(id).await.map(TransactionalProducer::raw)
}
async fn consumer(stage: &Stage, client: Client) -> Result<Consumer, Error> {
    with_fetch_memory(stage, client.consumer())
        .isolation_level(IsolationLevel::ReadCommitted)
        .auto_offset_reset(OffsetReset::Earliest)
        .fetch_max_wait(Duration::from_millis(500))
        .build()
        .await
}
