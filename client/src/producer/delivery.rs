//! Acknowledgements of records.

use super::error_of;
use crate::Error;
use millstream_client_core::produce::{BatchHandle, Outcome};
use millstream_protocol::{Offset, Timestamp, TopicPartition};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The acknowledgement of one record. Dropping it does not take the record back.
#[derive(Debug)]
#[must_use = "whether the record was written is only known here"]
pub struct Delivery {
    batch: Arc<BatchHandle>,
    index: u32,
    timestamp: Timestamp,
}

impl Delivery {
    pub(super) const fn new(batch: Arc<BatchHandle>, index: u32, timestamp: Timestamp) -> Self {
        Self { batch, index, timestamp }
    }
    /// The partition that was chosen for the record.
    #[must_use]
    pub fn topic_partition(&self) -> &TopicPartition {
        self.batch.partition()
    }
    /// The outcome, if it is known already.
    #[must_use]
    pub fn outcome(&self) -> Option<Result<RecordMetadata, Error>> {
        self.batch.record(self.index).map(|outcome| self.result(outcome))
    }

    fn result(&self, outcome: Outcome) -> Result<RecordMetadata, Error> {
        let partition = self.batch.partition();
        match outcome {
            Ok(written) => Ok(RecordMetadata {
                topic_partition: partition.clone(),
                offset: written.base_offset,
                timestamp: written.log_append_time.unwrap_or(self.timestamp),
            }),
            Err(failure) => Err(error_of(&failure, partition)),
        }
    }
}
impl Future for Delivery {
    type Output = Result<RecordMetadata, Error>;
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = ready!(self.batch.poll_record(cx, self.index));
        Poll::Ready(self.result(outcome))
    }
}

/// The acknowledgements of many records: awaited, all or the first failure.
#[derive(Debug, Default)]
#[must_use = "whether the records were written is only known here"]
pub struct Deliveries {
    each: Vec<Delivery>,
    done: usize,
}
impl Deliveries {
    pub(super) fn push(&mut self, delivery: Delivery) {
        self.each.push(delivery);
    }
    /// How many records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.each.len()
    }
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }
    /// Each record's own outcome, in order.
    ///
    /// # Cancel safety
    ///
    /// Dropping it does not take the records back.
    pub async fn each(self) -> Vec<Result<RecordMetadata, Error>> {
        let mut outcomes = Vec::with_capacity(self.each.len());
        for delivery in self.each {
            outcomes.push(delivery.await);
        }
        outcomes
    }
}
impl Future for Deliveries {
    type Output = Result<(), Error>;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let done = self.done;
            let Some(next) = self.each.get_mut(done) else { return Poll::Ready(Ok(())) };
            ready!(Pin::new(next).poll(cx))?;
            self.done += 1;
        }
    }
}

/// Where a record landed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordMetadata {
    /// The partition.
    pub topic_partition: TopicPartition,
    /// The position; none with [`Acks::None`](crate::Acks::None), or when the broker only knows that it has the record already.
    pub offset: Option<Offset>,
    /// The time that the log keeps for it.
    pub timestamp: Timestamp,
}
