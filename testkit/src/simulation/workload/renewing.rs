//! A topic that is deleted and made anew now and then, one who writes to it and one who reads it. Its records are lost with it, so nobody
//! counts them; but both go on with the new one.

use super::pair::Pair;
use super::stage::{HEALING, Stage};
use crate::checkers::{Checker, Violation};
use crate::simulation::SimulatedProcess;
use millstream_client::runtime::{BoxFuture, Runtime, sleep_until, timeout_at};
use millstream_client::{Consumer, Error, Producer, ProducerRecord};
use std::time::Duration;

pub(super) const TOPIC: &str = "renewed";
pub(super) const PARTITIONS: i32 = 2;

pub(super) fn run(stage: Stage) -> BoxFuture<()> {
    let process = stage.handle.start_process("renewer");
    Box::pin(async move { write_and_read(&stage, &process).await })
}

async fn write_and_read(stage: &Stage, process: &SimulatedProcess) {
    let runtime = process.runtime();
    let pair = Pair::connect(stage, process, Duration::from_secs(2)).await;
    let Some(Pair { producer, mut consumer }) = pair else { return };
    consumer.assign((0..PARTITIONS).map(|partition| (TOPIC, partition)));
    while !stage.is_over() {
        let _ = send(&producer).await;
        let _ = timeout_at(&*runtime, runtime.now() + Duration::from_secs(4), consumer.poll()).await;
        sleep_until(&*runtime, runtime.now() + Duration::from_secs(4)).await;
    }
    let until = stage.trouble() + HEALING + Duration::from_secs(90);
    let (mut is_written, mut is_read) = (false, false);
    while stage.handle.now() < until && !(is_written && is_read) {
        is_written |= send(&producer).await.is_ok();
        is_read |= polls(&*runtime, &mut consumer).await;
    }
    if !(is_written && is_read) {
        let text = format!("the topic `{TOPIC}`, which was made anew: written {is_written}, read {is_read}");
        stage.violate(Violation::new(Checker::K17, "liveness", text));
    }
}

async fn send(producer: &Producer) -> Result<(), Error> {
    producer.send(ProducerRecord::to(TOPIC).value("new").partition(0)).await.map(drop)
}
async fn polls(runtime: &dyn Runtime, consumer: &mut Consumer) -> bool {
    let polled = timeout_at(runtime, runtime.now() + Duration::from_secs(3), consumer.poll()).await;
    polled.is_some_and(|polled| polled.is_ok())
}
