//! A reader that reads all partitions of some topics from their beginning, and at last everything.

use super::seams::{with_backoff, with_fetch_memory};
use super::stage::{CATCH_UP, HEALING, Scribe, Stage, client_in_rack, until_good};
use crate::checkers::Event;
use crate::simulation::{Random, SimulatedProcess};
use millstream_client::runtime::{BoxFuture, sleep_until, timeout_at};
use millstream_client::{Client, Consumer, Error, IsolationLevel, OffsetReset, OffsetSpec};
use millstream_protocol::{Offset, TopicPartition};
use std::collections::BTreeMap;
use std::time::Duration;

/// Reads beside what writes, and on until all is read; notes when the last fault has healed and when all is read.
pub(super) async fn beside(stage: &Stage, topics: &[&str], random: &Random, writing: Vec<BoxFuture<()>>) {
    let (written, is_written) = tokio::sync::watch::channel(false);
    let reader = stage.handle.start_process("reader");
    let (done, is_done) = tokio::sync::oneshot::channel();
    let topics = topics.iter().map(|topic| (*topic).to_owned()).collect();
    let (own, random) = (stage.clone(), random.fork(77));
    let process = reader.clone();
    reader.spawn(async move {
        let scribe = Scribe::new(&own);
        let read = Reader { scribe, process, topics, next: BTreeMap::new() };
        read.run(random, is_written).await;
        let _ = done.send(());
    });
    stage.all(writing).await;
    stage.sleep_until(stage.trouble() + HEALING).await;
    let scribe = Scribe::new(stage);
    scribe.note(Event::Healed);
    written.send_replace(true);
    let deadline = stage.instant(stage.handle.now() + CATCH_UP);
    if timeout_at(&*stage.runtime, deadline, is_done).await.is_some() {
        stage.lock().set_read_whole();
        scribe.note(Event::CaughtUp);
    }
    reader.kill();
}

struct Reader {
    scribe: Scribe,
    process: SimulatedProcess,
    topics: Vec<String>,
    /// Where to go on.
    next: BTreeMap<TopicPartition, Offset>,
}

impl Reader {
    async fn run(mut self, mut random: Random, is_written: tokio::sync::watch::Receiver<bool>) {
        let runtime = self.process.runtime();
        loop {
            let process = self.process.clone();
            let stage = self.scribe.stage.clone();
            let connect =
                || with_backoff(&stage, client_in_rack(&process)).request_timeout(Duration::from_secs(8)).build();
            let Some(client) = until_good(&*runtime, &stage, connect).await else { return };
            let lives = random.between(Duration::from_secs(60), stage.trouble());
            let until = self.scribe.stage.handle.now() + lives;
            let make = || consumer(&stage, client.clone());
            let Some(mut consumer) = until_good(&*runtime, &stage, make).await else { return };
            self.scribe.holds(&self.process);
            if self.read(&mut consumer, until, &is_written).await {
                return;
            }
            drop(consumer);
        }
    }
    /// Reads with one consumer for a while; true when there is no more to read.
    async fn read(
        &mut self,
        consumer: &mut Consumer,
        until: Duration,
        is_written: &tokio::sync::watch::Receiver<bool>,
    ) -> bool {
        let runtime = self.process.runtime();
        let partitions = self.partitions();
        consumer.assign(partitions.iter().cloned());
        for partition in &partitions {
            self.scribe.note(Event::Sought { partition: partition.clone() });
            let next = self.next.get(partition).copied().unwrap_or(Offset::new(0));
            let _ = consumer.seek(partition.clone(), OffsetSpec::At(next));
        }
        while self.scribe.stage.handle.now() < until && partitions.len() == self.partitions().len() {
            let limit = runtime.now() + Duration::from_secs(2);
            match timeout_at(&*runtime, limit, consumer.poll()).await {
                None => {}
                Some(Ok(records)) => {
                    self.scribe.polled(&records, None);
                    for (partition, next) in records.next_offsets().iter() {
                        self.next.insert(partition.clone(), next.offset);
                    }
                }
                Some(Err(error)) => self.get_over(consumer, &error).await,
            }
            if *is_written.borrow() && self.has_all(consumer) {
                return true;
            }
        }
        false
    }
    /// Goes on where it was, after a moment: a batch that is corrupt will be whole again.
    async fn get_over(&mut self, consumer: &mut Consumer, error: &Error) {
        let runtime = self.process.runtime();
        // It has let go of what it had of the partition.
        let partition = error.topic_partition();
        partition.into_iter().for_each(|partition| self.scribe.note(Event::Sought { partition: partition.clone() }));
        sleep_until(&*runtime, runtime.now() + Duration::from_millis(500)).await;
        let Some(partition) = partition else { return };
        self.scribe.note(Event::Sought { partition: partition.clone() });
        let next = self.next.get(partition).copied().unwrap_or(Offset::new(0));
        let _ = consumer.seek(partition.clone(), OffsetSpec::At(next));
    }
    /// All that there are by now.
    fn partitions(&self) -> Vec<TopicPartition> {
        let of = |topic: &String| {
            let count = self.scribe.stage.partitions(topic);
            (0..count).map(|partition| TopicPartition::new(topic.as_str(), partition)).collect::<Vec<_>>()
        };
        self.topics.iter().flat_map(of).collect()
    }
    fn has_all(&self, consumer: &Consumer) -> bool {
        let positions = consumer.positions();
        self.partitions().iter().all(|partition| {
            let (topic, index) = (partition.topic.as_str(), partition.partition.get());
            let span = self.scribe.stage.handle.with_broker(|broker| broker.span(topic, index));
            let end = span.map_or(0, |(_, end)| end);
            positions.of(partition).is_some_and(|position| position.offset.get() >= end)
        })
    }
}

async fn consumer(stage: &Stage, client: Client) -> Result<Consumer, Error> {
    with_fetch_memory(stage, client.consumer())
        .isolation_level(IsolationLevel::ReadCommitted)
        .auto_offset_reset(OffsetReset::Earliest)
        .fetch_max_wait(Duration::from_secs(3))
        .build()
        .await
}
