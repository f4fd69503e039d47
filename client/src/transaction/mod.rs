//! All or nothing across partitions.

mod end;
mod offsets;
mod partitions;
mod raw;

pub use end::CommitFailure;
pub use raw::RawTransactions;

pub(crate) use partitions::{add_partitions_request, added_code};

use crate::producer::Engine;
use crate::runtime::timeout_at;
use crate::{Deliveries, Error, ErrorKind, GroupMetadata, Offsets, ProducerRecord, RecordMetadata};
use millstream_client_core::produce::TransactionNumber;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A producer whose every send is inside a transaction: outside one there is no method that sends.
///
/// ```no_run
/// # async fn move_money() -> Result<(), millstream_client::Error> {
/// use millstream_client::{Producer, ProducerRecord};
/// let mut producer = Producer::builder("localhost:9092").build_transactional("transfers-0").await?;
/// let transaction = producer.begin();
/// transaction.enqueue(ProducerRecord::to("accounts").key("alice").value("-5")).await?;
/// transaction.enqueue(ProducerRecord::to("accounts").key("bob").value("+5")).await?;
/// transaction.commit().await
/// # }
/// ```
#[derive(Debug)]
pub struct TransactionalProducer(RawTransactions);

impl TransactionalProducer {
    pub(crate) async fn start(engine: Arc<Engine>, transactional_id: String, timeout: Duration) -> Result<Self, Error> {
        Ok(Self(RawTransactions::start(engine, transactional_id, timeout).await?))
    }
    /// Opens a transaction: one at a time, as the borrow says. It asks no broker, so what is wrong with the producer
    /// (a newer instance fenced it) shows at the first await inside.
    pub fn begin(&mut self) -> Transaction<'_> {
        Transaction { raw: &self.0, number: AtomicU64::new(0), ended: false, _producer: std::marker::PhantomData }
    }
    /// The steps one by one, without a borrow that ties them together: for runtimes that commit as a state machine.
    #[must_use]
    pub fn raw(self) -> RawTransactions {
        self.0
    }
    /// Closes; see [`Producer::close`](crate::Producer::close).
    ///
    /// # Errors
    ///
    /// The first failure of a record since the last flush.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the producer goes on closing in the background.
    pub async fn close(self, within: Duration) -> Result<(), Error> {
        self.0.close(within).await
    }
}

/// An open transaction. Dropping it aborts, in the background; the next `begin` waits for that.
#[derive(Debug)]
#[must_use = "a transaction that is dropped is aborted"]
pub struct Transaction<'p> {
    raw: &'p RawTransactions,
    /// Its number; 0 until the first await inside.
    number: AtomicU64,
    ended: bool,
    _producer: std::marker::PhantomData<&'p mut TransactionalProducer>,
}

impl Transaction<'_> {
    /// As [`Producer::send`](crate::Producer::send).
    ///
    /// # Errors
    ///
    /// As there; the transaction can only be aborted then.
    ///
    /// # Cancel safety
    ///
    /// As there.
    pub async fn send(&self, record: ProducerRecord<'_>) -> Result<RecordMetadata, Error> {
        let number = self.begun().await?;
        self.raw.engine().enqueue(&record, number).await?.await
    }
    /// Waits for buffer space only. There is no acknowledgement to keep: a record that fails makes the commit fail.
    ///
    /// # Errors
    ///
    /// When the record can never be sent, or there is no space, or no such topic, within `max.block.ms`.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the record is not sent.
    pub async fn enqueue(&self, record: ProducerRecord<'_>) -> Result<(), Error> {
        let number = self.begun().await?;
        self.raw.engine().enqueue(&record, number).await.map(drop)
    }
    /// [`enqueue`](Self::enqueue) for many, in order.
    ///
    /// # Errors
    ///
    /// The first one's that can never be sent.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, some of the first records are in the transaction and the rest are not.
    pub async fn enqueue_all<'a, I>(&self, records: I) -> Result<(), Error>
    where
        I: IntoIterator<Item = ProducerRecord<'a>> + Send,
        I::IntoIter: Send,
    {
        let number = self.begun().await?;
        let deliveries: Deliveries = self.raw.engine().enqueue_all(records, number).await?;
        drop(deliveries);
        Ok(())
    }
    /// Makes consumed offsets part of it (KIP-447: the group's generation is checked by the broker).
    ///
    /// # Errors
    ///
    /// [`Rebalanced`](ErrorKind::Rebalanced) when the group has moved on, and others by the broker's word. The transaction
    /// stays open.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the offsets may or may not be part of it.
    pub async fn send_offsets(&self, offsets: &Offsets, group: &GroupMetadata) -> Result<(), Error> {
        self.begun().await?;
        self.raw.send_offsets(offsets, group).await
    }
    /// Flushes, then makes all of it visible at once.
    ///
    /// # Errors
    ///
    /// When a record failed, the broker refused or a newer producer took over, the transaction is aborted. When no answer came
    /// within `default.api.timeout.ms` the error `is_in_doubt`, and the commit is tried on in the background; the next
    /// transaction waits for that.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the commit goes on in the background.
    pub async fn commit(mut self) -> Result<(), Error> {
        self.ended = true;
        if self.number.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        let client = &self.raw.engine().client;
        match timeout_at(&**client.runtime(), client.api_deadline(), self.raw.commit()).await {
            Some(Ok(())) => Ok(()),
            Some(Err(CommitFailure::Fenced(error) | CommitFailure::Unknown(error))) => Err(error),
            Some(Err(CommitFailure::NotCommitted(error))) => {
                self.raw.abort().await?;
                Err(error)
            }
            None => Err(self.raw.unknown("commit")),
        }
    }
    /// Makes none of it visible.
    ///
    /// # Errors
    ///
    /// When a newer producer took over, or no answer came within `default.api.timeout.ms`; the abort is tried on in the
    /// background then.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the abort goes on in the background.
    pub async fn abort(mut self) -> Result<(), Error> {
        self.ended = true;
        if self.number.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        let client = &self.raw.engine().client;
        let aborted = timeout_at(&**client.runtime(), client.api_deadline(), self.raw.abort()).await;
        aborted.unwrap_or_else(|| Err(Error::new(ErrorKind::TimedOut, self.raw.operation("abort"))))
    }

    /// The transaction's number; opens it if this is its first use, after the one before has ended.
    async fn begun(&self) -> Result<TransactionNumber, Error> {
        match self.number.load(Ordering::Relaxed) {
            0 => {
                self.raw.ready().await?;
                // Two first uses at once: the second finds it open.
                let number = self.raw.begin_or_join()?;
                self.number.store(number, Ordering::Relaxed);
                Ok(number)
            }
            number => Ok(number),
        }
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.ended && self.number.load(Ordering::Relaxed) != 0 {
            self.raw.abort_in_background();
        }
    }
}
