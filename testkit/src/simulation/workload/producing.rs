//! Producers write while everything goes wrong, and one reader reads all partitions from their beginning.

use super::seams::{BUFFER, buffer_memory, resolve, with_in_flight};
use super::stage::{Scribe, Stage, pause, until_good};
use crate::checkers::Event;
use crate::simulation::{Random, SimulatedProcess};
use millstream_client::runtime::{BoxFuture, timeout_at};
use millstream_client::{Client, Compression, Error, Producer, ProducerRecord};
use millstream_protocol::TopicPartition;
use std::time::Duration;

pub(super) const TOPIC: &str = "written";
pub(super) const PARTITIONS: i32 = 3;
pub(super) const PRODUCERS: usize = 2;
/// How many records there are in a burst, which is more than a producer may hold.
pub(super) const BURST: usize = 150;

pub(super) async fn run(stage: Stage, random: Random) {
    let producers = (0..PRODUCERS).map(|index| {
        let (stage, random) = (stage.clone(), random.fork(100 + index as u64));
        Box::pin(async move {
            let body = |process, life| body(stage.clone(), random.fork(life as u64), process);
            stage.supervise(index, format!("producer-{index}"), body).await;
        }) as BoxFuture<()>
    });
    let beside = [super::renewing::run(stage.clone()), super::parting::run(stage.clone())];
    let writing = producers.chain(beside).collect();
    super::reading::beside(&stage, &[TOPIC], &random, writing).await;
}

fn body(stage: Stage, random: Random, process: SimulatedProcess) -> BoxFuture<()> {
    Box::pin(async move { write(stage, random, process, TOPIC).await })
}

/// Writes to a topic until it is time to end, with one producer after the other.
pub(super) async fn write(stage: Stage, random: Random, process: SimulatedProcess, topic: &str) {
    write_all(stage, random, process, Target { topic, is_keyed: false }).await;
}
/// The same with keys, of which each partition has its own.
pub(super) async fn write_keyed(stage: Stage, random: Random, process: SimulatedProcess, topic: &str) {
    write_all(stage, random, process, Target { topic, is_keyed: true }).await;
}

/// Where to.
#[derive(Debug, Clone, Copy)]
struct Target<'t> {
    topic: &'t str,
    is_keyed: bool,
}

async fn write_all(stage: Stage, mut random: Random, process: SimulatedProcess, target: Target<'_>) {
    let runtime = process.runtime();
    while !stage.is_over() {
        let connect = || process.client().request_timeout(Duration::from_secs(5)).build();
        let Some(client) = until_good(&*runtime, &stage, connect).await else { return };
        let scribe = Scribe::new(&stage);
        let make = || producer(&stage, client.clone(), random.fork(1));
        let Some(producer) = until_good(&*runtime, &stage, make).await else { return };
        scribe.note(Event::MemoryLimit(BUFFER));
        let until = stage.handle.now() + random.between(Duration::from_secs(20), stage.trouble() / 2);
        while !stage.is_over() && stage.handle.now() < until {
            step(&scribe, &producer, &mut random, &process, target).await;
            pause(&*runtime, &mut random, Duration::from_secs(3)).await;
        }
        // What is not sent in time fails, and is resolved by that.
        let _ = producer.close(Duration::from_secs(40)).await;
        pause(&*runtime, &mut random, Duration::from_millis(10)).await;
        scribe.note(Event::Closed);
    }
}

async fn producer(stage: &Stage, client: Client, mut random: Random) -> Result<Producer, Error> {
    let compression = random.choose(&[Compression::None, Compression::Lz4]).copied().unwrap_or(Compression::None);
    let builder = client
        .producer()
        .linger(random.between(Duration::ZERO, Duration::from_millis(50)))
        .batch_size(200 + random.below(4000))
        .buffer_memory(buffer_memory(stage))
        .compression_type(compression)
        .delivery_timeout(random.between(Duration::from_secs(6), Duration::from_secs(40)))
        .max_block(Duration::from_secs(10));
    with_in_flight(stage, builder, 1 + random.below(5)).build().await
}

/// Sends a few records, and waits for them or not.
async fn step(
    scribe: &Scribe,
    producer: &Producer,
    random: &mut Random,
    process: &SimulatedProcess,
    Target { topic, is_keyed }: Target<'_>,
) {
    let runtime = process.runtime();
    let partitions = scribe.stage.partitions(topic);
    let mut deliveries = Vec::new();
    let bursts = scribe.stage.case.is_tight() && random.one_in(8);
    for _ in 0..if bursts { BURST } else { 1 + random.below(6) } {
        let partition = i32::try_from(random.below(usize::try_from(partitions).unwrap_or(1))).unwrap_or(0);
        let place = TopicPartition::new(topic, partition);
        let (value, bytes) = scribe.send(&place, None, random.below(300));
        let key = format!("key-{partition}-{}", random.below(3));
        let record = ProducerRecord::to(topic).value(&bytes).partition(partition);
        let record = if is_keyed { record.key(&key) } else { record };
        match producer.enqueue(record).await {
            Ok(delivery) => {
                scribe.note(Event::Taken { value });
                let resolved = resolve(scribe.clone(), value, delivery);
                let (done, is_done) = tokio::sync::oneshot::channel();
                process.spawn(async move {
                    resolved.await;
                    let _ = done.send(());
                });
                deliveries.push(is_done);
            }
            Err(error) => scribe.note(outcome(value, Err(error))),
        }
    }
    if random.one_in(2) {
        let all = async {
            for delivery in deliveries {
                let _ = delivery.await;
            }
        };
        let _ = timeout_at(&*runtime, runtime.now() + Duration::from_secs(60), all).await;
    }
}

/// What became of a send.
pub(super) fn outcome(value: u64, result: Result<millstream_client::RecordMetadata, Error>) -> Event {
    match result {
        Ok(metadata) => Event::Acked { value, offset: metadata.offset.map(|offset| offset.get()) },
        Err(error) => Event::SendFailed { value, in_doubt: error.is_in_doubt() },
    }
}
