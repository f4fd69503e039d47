//! A topic whose followers lag and then lead, one who writes to it and one who reads it. What the new leader lacks is lost, acknowledged or not,
//! so nobody counts it; but the reader goes back to where the logs part, misses nothing of what lies there now (KIP-320), and both go on.

use super::pair::Pair;
use super::stage::{HEALING, Stage, value_of};
use crate::checkers::{Checker, Violation};
use crate::simulation::SimulatedProcess;
use millstream_client::runtime::{BoxFuture, Runtime, sleep_until, timeout_at};
use millstream_client::{Consumer, Error, Producer, ProducerRecord};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) const TOPIC: &str = "parted";
pub(super) const PARTITIONS: i32 = 1;

pub(super) fn run(stage: Stage) -> BoxFuture<()> {
    let process = stage.handle.start_process("parted");
    Box::pin(async move { write_and_read(&stage, &process).await })
}

async fn write_and_read(stage: &Stage, process: &SimulatedProcess) {
    let runtime = process.runtime();
    let Some(Pair { producer, consumer }) = Pair::connect(stage, process, Duration::from_millis(500)).await else {
        return;
    };
    let mut reader = Reader { consumer, read: BTreeMap::new() };
    reader.consumer.assign([(TOPIC, 0)]);
    while !stage.is_over() {
        // Who waits for it reads too late to have read what is lost.
        let sent = send(stage, &producer);
        let _ = timeout_at(&*runtime, runtime.now() + Duration::from_millis(200), sent).await;
        reader.poll(&*runtime).await;
        sleep_until(&*runtime, runtime.now() + Duration::from_secs(1)).await;
    }
    let until = stage.trouble() + HEALING + Duration::from_secs(90);
    let mut is_written = false;
    while stage.handle.now() < until && !(is_written && reader.missed(stage).is_none()) {
        is_written = is_written || send(stage, &producer).await.is_ok();
        reader.poll(&*runtime).await;
    }
    reader.judge(stage, is_written);
}

async fn send(stage: &Stage, producer: &Producer) -> Result<(), Error> {
    let value = stage.number().to_be_bytes();
    producer.send(ProducerRecord::to(TOPIC).value(&value).partition(0)).await.map(drop)
}

struct Reader {
    consumer: Consumer,
    /// The value that was read last at each offset.
    read: BTreeMap<i64, u64>,
}

impl Reader {
    async fn poll(&mut self, runtime: &dyn Runtime) {
        let polled = timeout_at(runtime, runtime.now() + Duration::from_secs(1), self.consumer.poll()).await;
        match polled {
            Some(Ok(records)) => {
                let read = |record: millstream_client::RecordRef<'_>| {
                    Some((record.offset().get(), value_of(record.value()?)?))
                };
                self.read.extend(records.iter().filter_map(read));
            }
            Some(Err(_)) => sleep_until(runtime, runtime.now() + Duration::from_millis(500)).await,
            None => {}
        }
    }
    /// The first record of the log as it is now that was never read.
    fn missed(&self, stage: &Stage) -> Option<(i64, u64)> {
        let records = stage.handle.records(TOPIC);
        let mut all =
            records.iter().filter_map(|record| Some((record.offset.get(), value_of(record.value.as_ref()?)?)));
        all.find(|(offset, value)| self.read.get(offset) != Some(value))
    }
    fn judge(&self, stage: &Stage, is_written: bool) {
        if !is_written {
            stage.violate(Violation::new(Checker::K17, "liveness", format!("nothing can be written to `{TOPIC}`")));
        }
        if let Some((offset, value)) = self.missed(stage) {
            let read = self.read.get(&offset);
            let text = format!("value {value} lies at {TOPIC}-0@{offset}, where its reader has read {read:?}");
            stage.violate(Violation::new(Checker::K6, "poll-skip", text));
        }
    }
}
