//! Transactions that read what others write: two clients, each of which writes to a partition of its own and reads the other's within the same
//! transaction. What one reads of another's transaction it reads after that one's commit, so that they never read each other in a circle.

use super::producing::outcome;
use super::seams::hand_out;
use super::stage::{Scribe, Stage, pause, until_good};
use crate::checkers::{Ended, Event, TransactionId};
use crate::simulation::{Random, SimulatedProcess};
use millstream_client::runtime::{BoxFuture, timeout_at};
use millstream_client::{
    Client, Consumer, Error, IsolationLevel, OffsetReset, OffsetSpec, ProducerRecord, TransactionalProducer,
};
use millstream_protocol::{Offset, TopicPartition};
use std::time::Duration;

pub(super) const TOPIC: &str = "exchanged";
/// Each has a partition of its own.
pub(super) const EXCHANGERS: i32 = 2;

pub(super) async fn run(stage: Stage, random: Random) {
    let parts = (0..EXCHANGERS).map(|index| {
        let (stage, random) = (stage.clone(), random.fork(800 + u64::from(index.unsigned_abs())));
        let process = stage.handle.start_process(&host(index));
        Box::pin(async move { exchange(stage, random, process, index).await }) as BoxFuture<()>
    });
    let parts = parts.collect();
    super::reading::beside(&stage, &[TOPIC], &random, parts).await;
}

pub(super) fn host(index: i32) -> String {
    format!("exchanger-{index}")
}

/// Exchanges until it is time to end and all of the other's is read.
async fn exchange(stage: Stage, mut random: Random, process: SimulatedProcess, index: i32) {
    let runtime = process.runtime();
    let (own, other) = (TopicPartition::new(TOPIC, index), TopicPartition::new(TOPIC, (index + 1) % EXCHANGERS));
    let connect = || process.client().request_timeout(Duration::from_secs(5)).build();
    let mut next = Offset::new(0);
    let mut has_all = false;
    while !has_all && !stage.has_had_its_time() {
        let Some(client) = until_good(&*runtime, &stage, connect).await else { return };
        let make = || client.producer().build_transactional(host(index));
        let Some(producer) = until_good(&*runtime, &stage, make).await else { return };
        let make = || consumer(client.clone());
        let Some(mut consumer) = until_good(&*runtime, &stage, make).await else { return };
        consumer.assign([other.clone()]);
        let scribe = Scribe::new(&stage);
        let (own, other) = (own.clone(), other.clone());
        let mut exchanger = Exchanger { scribe, process: process.clone(), producer, consumer, own, other, next };
        exchanger.go_back();
        while !has_all && !stage.has_had_its_time() && exchanger.turn(&mut random).await.is_ok() {
            has_all = stage.is_written() && exchanger.has_all();
        }
        next = exchanger.next;
        let _ = exchanger.producer.close(Duration::from_secs(5)).await;
    }
}

struct Exchanger {
    scribe: Scribe,
    process: SimulatedProcess,
    producer: TransactionalProducer,
    consumer: Consumer,
    own: TopicPartition,
    other: TopicPartition,
    /// Where to go on in the other's.
    next: Offset,
}

impl Exchanger {
    /// One transaction. An error: the clients are to be made anew.
    async fn turn(&mut self, random: &mut Random) -> Result<(), Error> {
        let id = TransactionId::from(self.scribe.stage.number());
        let transaction = self.producer.begin();
        let mut done = Ok(None);
        if !self.scribe.stage.is_over() {
            let (value, bytes) = self.scribe.send(&self.own, Some(id), 10);
            let record = ProducerRecord::to(TOPIC).value(&bytes).partition(self.own.partition);
            let delivered = transaction.send(record).await;
            done = delivered.as_ref().map(|_| None).map_err(Clone::clone);
            self.scribe.note(outcome(value, delivered));
        }
        if done.is_ok() {
            done = poll(&self.scribe, &self.process, &mut self.consumer, id).await;
        }
        self.scribe.note(Event::Ending { transaction: id, commit: done.is_ok() });
        let ended = if done.is_ok() { transaction.commit().await } else { transaction.abort().await };
        let outcome = match &ended {
            Ok(()) if done.is_ok() => Ended::Committed,
            Err(error) if done.is_ok() && error.is_in_doubt() => Ended::Unknown,
            _ => Ended::Aborted,
        };
        self.scribe.note(Event::Ended { transaction: id, outcome });
        match done {
            Ok(next) if outcome != Ended::Aborted => self.next = next.unwrap_or(self.next),
            _ => self.go_back(),
        }
        pause(&*self.process.runtime(), random, Duration::from_secs(1)).await;
        ended
    }
    /// Reads on where the last transaction that counts ended.
    fn go_back(&mut self) {
        self.scribe.note(Event::Sought { partition: self.other.clone() });
        let _ = self.consumer.seek(self.other.clone(), OffsetSpec::At(self.next));
    }
    fn has_all(&self) -> bool {
        let (topic, index) = (self.other.topic.as_str(), self.other.partition.get());
        let span = self.scribe.stage.handle.with_broker(|broker| broker.span(topic, index));
        let position = self.consumer.positions().of(&self.other).map(|position| position.offset.get());
        position.is_some_and(|position| position >= span.map_or(0, |(_, end)| end))
    }
}

/// Waits a moment for records of the other; says where they end, if there are any.
async fn poll(
    scribe: &Scribe,
    process: &SimulatedProcess,
    consumer: &mut Consumer,
    id: TransactionId,
) -> Result<Option<Offset>, Error> {
    let runtime = process.runtime();
    let Some(polled) = timeout_at(&*runtime, runtime.now() + Duration::from_secs(1), consumer.poll()).await else {
        return Ok(None);
    };
    let records = polled?;
    hand_out(scribe, &records, id);
    Ok(records.next_offsets().iter().map(|(_, next)| next.offset).next())
}

async fn consumer(client: Client) -> Result<Consumer, Error> {
    client
        .consumer()
        .isolation_level(IsolationLevel::ReadCommitted)
        .auto_offset_reset(OffsetReset::Earliest)
        .fetch_max_wait(Duration::from_millis(500))
        .build()
        .await
}
