//! Copies of records within a transaction: one after the other, or all at once.

use super::producing::outcome;
use super::seams::taken_up;
use super::stage::Scribe;
use crate::checkers::TransactionId;
use millstream_client::{Error, ProducerRecord, RecordRef, Records, Transaction};
use millstream_protocol::TopicPartition;
use std::future::poll_fn;
use std::task::Poll;

/// A transaction that is open, its number for checkers, and the topic that it writes to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open<'t> {
    pub(super) transaction: &'t Transaction<'t>,
    pub(super) id: TransactionId,
    pub(super) topic: &'static str,
}

/// Sends a copy of each record, when the one before it is written.
pub(super) async fn send_each(
    scribe: &Scribe,
    Open { transaction, id, topic }: Open<'_>,
    records: &Records,
) -> Result<(), Error> {
    for record in records.iter() {
        let partition = record.partition();
        let (value, bytes) = scribe.send(&TopicPartition::new(topic, partition), Some(id), 10);
        let delivered = transaction.send(ProducerRecord::to(topic).value(&bytes).partition(partition)).await;
        let done = delivered.as_ref().map(drop).map_err(Clone::clone);
        scribe.note(outcome(value, delivered));
        done?;
    }
    Ok(())
}
/// Sends copies of all records, and waits then.
pub(super) async fn send_at_once(
    scribe: &Scribe,
    Open { transaction, id, topic }: Open<'_>,
    records: &Records,
) -> Result<(), Error> {
    let send = |record: RecordRef<'_>| {
        let partition = record.partition();
        let (value, bytes) = scribe.send(&TopicPartition::new(topic, partition), Some(id), 10);
        async move {
            let delivered = transaction.send(ProducerRecord::to(topic).value(&bytes).partition(partition)).await;
            let done = delivered.as_ref().map(drop).map_err(Clone::clone);
            scribe.note(outcome(value, delivered));
            done
        }
    };
    let sends = taken_up(&scribe.stage, records.iter().map(send).collect());
    all(sends).await.into_iter().collect()
}
/// Waits for all of them, which go on beside each other; each takes its first step in its turn.
async fn all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    poll_fn(move |cx| {
        for (future, output) in waiting.iter_mut().filter(|(_, output)| output.is_none()) {
            if let Poll::Ready(done) = future.as_mut().poll(cx) {
                *output = Some(done);
            }
        }
        let is_done = waiting.iter().all(|(_, output)| output.is_some());
        if is_done { Poll::Ready(waiting.drain(..).filter_map(|(_, output)| output).collect()) } else { Poll::Pending }
    })
    .await
}
