//! A group with churn: members come and go, are killed and stand still, while producers write; each commits what it has read.

use super::producing::write;
use super::seams::{with_fetch_memory, with_session};
use super::stage::{Life, Scribe, Stage, client_in_rack, pause, until_good};
use crate::checkers::Event;
use crate::simulation::{Random, SimulatedProcess};
use millstream_client::runtime::{BoxFuture, sleep_until, timeout_at};
use millstream_client::{
    Assignor, Client, Consumer, Error, GroupProtocol, IsolationLevel, OffsetAndMetadata, OffsetReset, OffsetSpec,
    Offsets, Polled,
};
use millstream_protocol::{Offset, TopicPartition};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) const TOPIC: &str = "shared";
pub(super) const PARTITIONS: i32 = 4;
pub(super) const MEMBERS: usize = 3;
pub(super) const GROUP: &str = "members";

pub(super) async fn run(stage: Stage, random: Random) {
    let mut parts: Vec<BoxFuture<()>> = Vec::new();
    let assignors = if random.fork(5).one_in(2) { vec![Assignor::CooperativeSticky] } else { vec![Assignor::Range] };
    for index in 0..MEMBERS {
        let (stage, random, assignors) = (stage.clone(), random.fork(400 + index as u64), assignors.clone());
        parts.push(Box::pin(async move {
            let body = |process, life: usize| -> BoxFuture<()> {
                let (stage, random, assignors) = (stage.clone(), random.fork(life as u64), assignors.clone());
                Box::pin(async move { be_member(stage, random, process, index, assignors).await })
            };
            stage.supervise(index, format!("member-{index}"), body).await;
        }));
    }
    let (own, writing) = (stage.clone(), random.fork(500));
    parts.push(Box::pin(async move {
        let process = own.handle.start_process("producer-0");
        write(own, writing, process, TOPIC).await;
    }));
    super::reading::beside(&stage, &[TOPIC], &random, parts).await;
}

/// Is a member now and then; the last one stays until all is consumed.
async fn be_member(
    stage: Stage,
    mut random: Random,
    process: SimulatedProcess,
    index: usize,
    assignors: Vec<Assignor>,
) {
    let runtime = process.runtime();
    let connect = || client_in_rack(&process).request_timeout(Duration::from_secs(5)).build();
    while !is_done(&stage) {
        let Some(client) = until_good(&*runtime, &stage, connect).await else { return };
        // Now and then a static member, which keeps its partitions over a restart.
        let instance = random.one_in(4).then(|| format!("member-{index}"));
        let make = || consumer(&stage, client.clone(), instance.clone(), assignors.clone());
        let Some(consumer) = until_good(&*runtime, &stage, make).await else { return };
        let until = stage.handle.now() + random.between(Duration::from_secs(20), stage.trouble() / 3);
        let scribe = Scribe::new(&stage);
        scribe.holds(&process);
        let life = Life(scribe.clone());
        let mut member = Member { scribe, process: process.clone(), consumer, next: BTreeMap::new() };
        while !is_done(&stage)
            && (stage.handle.now() < until || stage.is_over())
            && member.turn(&mut random).await.is_ok()
        {}
        let Member { consumer, .. } = member;
        drop(life);
        let _ = consumer.close(Duration::from_secs(10)).await;
        if !stage.is_over() {
            pause(&*runtime, &mut random, Duration::from_secs(20)).await;
        }
    }
}

fn is_done(stage: &Stage) -> bool {
    stage.is_done(GROUP, TOPIC)
}

struct Member {
    scribe: Scribe,
    process: SimulatedProcess,
    consumer: Consumer,
    /// Where it has read to, of the partitions that are its own.
    next: BTreeMap<TopicPartition, Offset>,
}

impl Member {
    async fn turn(&mut self, random: &mut Random) -> Result<(), Error> {
        let runtime = self.process.runtime();
        let limit = runtime.now() + Duration::from_secs(2);
        match timeout_at(&*runtime, limit, self.consumer.poll_event()).await {
            None => self.commit().await.map(drop),
            Some(Ok(polled)) => self.handle(polled, random).await,
            Some(Err(error)) => {
                sleep_until(&*runtime, runtime.now() + Duration::from_millis(500)).await;
                let partition = error.topic_partition().cloned().ok_or(error)?;
                self.scribe.note(Event::Sought { partition: partition.clone() });
                let next = self.next.get(&partition).copied();
                next.map_or(Ok(()), |next| self.consumer.seek(partition, OffsetSpec::At(next)).or(Ok(())))
            }
        }
    }
    async fn handle(&mut self, polled: Polled, random: &mut Random) -> Result<(), Error> {
        match polled {
            Polled::Records(records) => {
                self.scribe.polled(&records, None);
                for (partition, next) in records.next_offsets().iter() {
                    self.next.insert(partition.clone(), next.offset);
                }
                if random.one_in(30) {
                    // Longer than `max.poll.interval.ms`: it is thrown out.
                    pause(&*self.process.runtime(), random, Duration::from_secs(40)).await;
                }
                if random.one_in(3) { self.commit().await.map(drop) } else { Ok(()) }
            }
            Polled::Assigned(partitions) => {
                let (group, generation) = (Some(GROUP.to_owned()), self.consumer.group_metadata().generation);
                self.scribe.note(Event::Assigned { group, generation, partitions });
                Ok(())
            }
            Polled::Revoking(revocation) => {
                let partitions = revocation.partitions().to_vec();
                self.scribe.note(Event::Revoking { partitions: partitions.clone() });
                let committed = self.commit().await;
                partitions.iter().for_each(|partition| _ = self.next.remove(partition));
                // A commit that is taken says that the group still waited for this member when it began. Its answer may come when that is over.
                let is_waited_for = matches!(committed, Ok(true));
                self.scribe.note(if is_waited_for {
                    Event::Revoked { partitions }
                } else {
                    Event::Lost { partitions }
                });
                revocation.finish();
                committed.map(drop)
            }
            Polled::Lost(partitions) => {
                partitions.iter().for_each(|partition| _ = self.next.remove(partition));
                self.scribe.note(Event::Lost { partitions });
                Ok(())
            }
            _ => Ok(()),
        }
    }
    /// Commits what is read, and says whether it was taken. That it was not is no reason to stop.
    async fn commit(&mut self) -> Result<bool, Error> {
        let offsets: Offsets =
            self.next.iter().map(|(partition, next)| (partition.clone(), OffsetAndMetadata::from(*next))).collect();
        if offsets.is_empty() {
            return Ok(false);
        }
        match self.consumer.commit_offsets(&offsets).await {
            Ok(()) => {
                for (partition, next) in &self.next {
                    let (group, partition, offset) = (GROUP.to_owned(), partition.clone(), next.get());
                    self.scribe.note(Event::OffsetCommitted { group, partition, offset });
                }
                Ok(true)
            }
            Err(error) if error.is_fatal() => Err(error),
            Err(_) => Ok(false),
        }
    }
}

async fn consumer(
    stage: &Stage,
    client: Client,
    instance: Option<String>,
    assignors: Vec<Assignor>,
) -> Result<Consumer, Error> {
    let builder = with_session(stage, with_fetch_memory(stage, client.consumer()))
        .group_id(GROUP)
        .topics([TOPIC])
        .group_protocol(GroupProtocol::Classic(assignors))
        .isolation_level(IsolationLevel::ReadCommitted)
        .auto_offset_reset(OffsetReset::Earliest)
        .enable_auto_commit(false)
        .max_poll_interval(Duration::from_secs(20))
        .fetch_max_wait(Duration::from_secs(2));
    match instance {
        Some(instance) => builder.group_instance_id(instance).build().await,
        None => builder.build().await,
    }
}
