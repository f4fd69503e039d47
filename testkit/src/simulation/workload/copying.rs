//! Transactional copy: what a producer writes is consumed, transformed and produced by members of a group, and a reader of committed
//! records reads both topics.

use super::producing::write;
use super::seams::{hand_out, with_fetch_memory};
use super::sending::{Open, send_at_once, send_each};
use super::stage::{Life, SESSION_TIMEOUT, Scribe, Stage, pause, until_good};
use crate::checkers::{Ended, Event, TransactionId};
use crate::simulation::{Random, SimulatedProcess};
use millstream_client::runtime::{BoxFuture, sleep_until, timeout_at};
use millstream_client::{
    Client, Consumer, Error, IsolationLevel, OffsetReset, OffsetSpec, Polled, Records, TransactionalProducer,
};
use millstream_protocol::{Offset, TopicPartition};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) const INPUT: &str = "in";
pub(super) const OUTPUT: &str = "out";
pub(super) const PARTITIONS: i32 = 2;
pub(super) const COPIERS: usize = 2;
pub(super) const GROUP: &str = "copy";

pub(super) async fn run(stage: Stage, random: Random) {
    let mut parts: Vec<BoxFuture<()>> = Vec::new();
    for index in 0..COPIERS {
        let (stage, random) = (stage.clone(), random.fork(200 + index as u64));
        parts.push(Box::pin(async move {
            let body = |process, life: usize| -> BoxFuture<()> {
                let (stage, random) = (stage.clone(), random.fork(life as u64));
                Box::pin(async move { copy(stage, random, process, index).await })
            };
            stage.supervise(index, format!("copier-{index}"), body).await;
        }));
    }
    let (own, writing) = (stage.clone(), random.fork(300));
    parts.push(Box::pin(async move {
        let process = own.handle.start_process("producer-0");
        write(own, writing, process, INPUT).await;
    }));
    super::reading::beside(&stage, &[INPUT, OUTPUT], &random, parts).await;
}

/// The id of a copier's producer: the same in each of its lives.
pub(super) fn transactional_id(index: usize) -> String {
    format!("copier-{index}")
}

/// Copies until everything that was written is copied.
async fn copy(stage: Stage, mut random: Random, process: SimulatedProcess, index: usize) {
    let runtime = process.runtime();
    let connect = || process.client().request_timeout(Duration::from_secs(5)).default_api_timeout(API_TIMEOUT).build();
    while !is_done(&stage) {
        let Some(client) = until_good(&*runtime, &stage, connect).await else { return };
        let make = || client.producer().build_transactional(transactional_id(index));
        let Some(producer) = until_good(&*runtime, &stage, make).await else { return };
        let make = || consumer(&stage, client.clone());
        let Some(consumer) = until_good(&*runtime, &stage, make).await else { return };
        let scribe = Scribe::new(&stage);
        scribe.holds(&process);
        let life = Life(scribe.clone());
        let mut copier = Copier { scribe, process: process.clone(), producer, consumer, next: BTreeMap::new() };
        while !is_done(&stage) && copier.turn(&mut random).await.is_ok() {}
        drop(life);
        let Copier { producer, consumer, .. } = copier;
        let _ = consumer.close(Duration::from_secs(5)).await;
        let _ = producer.close(Duration::from_secs(5)).await;
    }
}

/// Whether everything is copied, and the trouble is over.
fn is_done(stage: &Stage) -> bool {
    stage.is_done(GROUP, INPUT)
}

struct Copier {
    scribe: Scribe,
    process: SimulatedProcess,
    producer: TransactionalProducer,
    consumer: Consumer,
    next: BTreeMap<TopicPartition, Offset>,
}

impl Copier {
    /// One poll, and one transaction if it brought records. An error: both are to be made anew.
    async fn turn(&mut self, random: &mut Random) -> Result<(), Error> {
        let runtime = self.process.runtime();
        let limit = runtime.now() + Duration::from_secs(2);
        match timeout_at(&*runtime, limit, self.consumer.poll_event()).await {
            None => Ok(()),
            Some(Ok(polled)) => self.handle(polled, random).await,
            Some(Err(error)) => {
                sleep_until(&*runtime, runtime.now() + Duration::from_millis(500)).await;
                let partition = error.topic_partition().cloned().ok_or(error)?;
                let next = self.next.get(&partition).copied();
                self.scribe.note(Event::Sought { partition: partition.clone() });
                next.map_or(Ok(()), |next| self.consumer.seek(partition, OffsetSpec::At(next)).or(Ok(())))
            }
        }
    }
    async fn handle(&mut self, polled: Polled, random: &mut Random) -> Result<(), Error> {
        match polled {
            Polled::Records(records) => self.transact(records, random).await,
            Polled::Assigned(partitions) => {
                let (group, generation) = (Some(GROUP.to_owned()), self.consumer.group_metadata().generation);
                self.scribe.note(Event::Assigned { group, generation, partitions });
                Ok(())
            }
            Polled::Revoking(revocation) => {
                // Whether the group waits for it is not known here: it commits nothing now.
                self.scribe.note(Event::Lost { partitions: revocation.partitions().to_vec() });
                revocation.finish();
                Ok(())
            }
            Polled::Lost(partitions) => {
                self.scribe.note(Event::Lost { partitions });
                Ok(())
            }
            _ => Ok(()),
        }
    }
    async fn transact(&mut self, records: Records, random: &mut Random) -> Result<(), Error> {
        let id = TransactionId::from(self.scribe.stage.number());
        hand_out(&self.scribe, &records, id);
        let outcome = self.copy(&records, id, random).await;
        match outcome {
            Ok(Ended::Committed) => {
                for (partition, next) in records.next_offsets().iter() {
                    self.next.insert(partition.clone(), next.offset);
                }
                Ok(())
            }
            Ok(_) => {
                self.rewind(&records);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
    /// An error: whether it is committed is not known, or this producer is over.
    async fn copy(&mut self, records: &Records, id: TransactionId, random: &mut Random) -> Result<Ended, Error> {
        let runtime = self.process.runtime();
        let transaction = self.producer.begin();
        let open = Open { transaction: &transaction, id, topic: OUTPUT };
        let mut sent = if random.one_in(2) {
            send_at_once(&self.scribe, open, records).await
        } else {
            send_each(&self.scribe, open, records).await
        };
        if sent.is_ok() && random.one_in(4) {
            pause(&*runtime, random, Duration::from_secs(3)).await;
        }
        if sent.is_ok() {
            let group = self.consumer.group_metadata();
            sent = transaction.send_offsets(&records.next_offsets(), &group).await;
        }
        let commits = sent.is_ok() && !random.one_in(8);
        self.scribe.note(Event::Ending { transaction: id, commit: commits });
        let ended = if commits { transaction.commit().await } else { transaction.abort().await };
        let outcome = match &ended {
            Ok(()) if commits => Ended::Committed,
            Ok(()) => Ended::Aborted,
            Err(error) if commits && error.is_in_doubt() => Ended::Unknown,
            Err(_) => Ended::Aborted,
        };
        self.scribe.ended(id, outcome, ended.as_ref().err());
        match ended {
            Err(error) if error.is_fatal() || error.is_in_doubt() || !commits => Err(error),
            _ => Ok(outcome),
        }
    }
    fn rewind(&mut self, records: &Records) {
        self.consumer.rewind(records);
        for partition in records.partitions() {
            self.scribe.note(Event::Sought { partition: partition.topic_partition().clone() });
        }
    }
}

/// How long an operation may take, retries included.
const API_TIMEOUT: Duration = Duration::from_secs(20);

async fn consumer(stage: &Stage, client: Client) -> Result<Consumer, Error> {
    with_fetch_memory(stage, client.consumer())
        .group_id(GROUP)
        .topics([INPUT])
        .isolation_level(IsolationLevel::ReadCommitted)
        .auto_offset_reset(OffsetReset::Earliest)
        .enable_auto_commit(false)
        .session_timeout(SESSION_TIMEOUT)
        .fetch_max_wait(Duration::from_secs(2))
        .build()
        .await
}
