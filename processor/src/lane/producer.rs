//! A lane's transactional producer, and the options of both of a lane's producers.

use crate::config::{Changes, Options};
use crate::shared::Shared;
use millstream_client::{
    Client, CommitFailure, Error, ErrorKind, GroupMetadata, Offsets, Producer, ProducerBuilder, ProducerRecord,
    RawTransactions,
};
use millstream_processor_core::commit::{Ended, Fact, OffsetsRefused};
use millstream_protocol::{ErrorCode, Offset, TopicPartition};
use std::collections::HashMap;
use std::time::Duration;

/// A lane's transactional producer: step by step, as the lane decides.
#[derive(Debug)]
pub(crate) struct LaneProducer {
    id: String,
    transactions: RawTransactions,
}

/// Why a step before 4 failed.
#[derive(Debug)]
pub(super) enum WriteFailure {
    /// Another producer has the id.
    Fenced(Error),
    /// Something else; the transaction can be aborted.
    Failed(Error),
}

/// Why offsets were not taken.
#[derive(Debug)]
pub(super) struct OffsetsRefusal {
    pub(super) fact: Fact,
    /// What the coordinator said, which the membership wants to know too.
    pub(super) code: Option<ErrorCode>,
}

/// What a lane's producers are made with.
#[derive(Debug)]
pub(crate) struct ProducerOptions<'a> {
    client: &'a Client,
    changes: &'a Changes,
    options: &'a Options,
}

impl<'a> ProducerOptions<'a> {
    pub(crate) const fn new(client: &'a Client, changes: &'a Changes, options: &'a Options) -> Self {
        Self { client, changes, options }
    }

    /// A producer for outputs.
    pub(crate) fn output(&self) -> ProducerBuilder {
        let builder = Producer::builder(self.client).buffer_memory(BUFFER);
        let options = self.changes.producer_options.iter();
        let builder = options.fold(builder, |builder, (key, value)| builder.set(key, value));
        self.changes.producer.as_ref().map_or_else(|| builder.clone(), |change| change(builder.clone()))
    }

    fn transactional(&self) -> ProducerBuilder {
        // What is not written by then is aborted by the broker anyway.
        self.output().transaction_timeout(self.options.transaction_timeout)
    }
}

impl LaneProducer {
    /// Makes the one producer of this id; what an earlier one had open is aborted.
    pub(crate) async fn connect(options: &ProducerOptions<'_>, id: String) -> Result<Self, Error> {
        let transactions = options.transactional().build_transactional(id.clone()).await?.raw();
        Ok(Self { id, transactions })
    }

    /// Makes another one of the same id.
    pub(super) async fn renew(&mut self, shared: &Shared) -> Result<(), Error> {
        let options = ProducerOptions::new(&shared.client, &shared.changes, &shared.options);
        *self = Self::connect(&options, self.id.clone()).await?;
        Ok(())
    }

    /// Opens a transaction.
    pub(super) async fn begin(&self) -> Result<(), WriteFailure> {
        self.transactions.ready().await?;
        Ok(self.transactions.begin()?)
    }

    /// Takes a record into the transaction; waits for room only.
    pub(super) async fn write(&self, record: ProducerRecord<'_>) -> Result<(), WriteFailure> {
        // `written` waits for all acknowledgements.
        drop(self.transactions.enqueue(record).await?);
        Ok(())
    }

    /// Waits until all that was written is acknowledged; gives the offset behind the last record of each partition.
    pub(super) async fn written(&self) -> Result<HashMap<TopicPartition, Offset>, WriteFailure> {
        Ok(self.transactions.flush().await?.into_iter().collect())
    }

    /// Makes offsets part of the transaction; or says how they were refused.
    pub(super) async fn send_offsets(&self, offsets: &Offsets, group: &GroupMetadata) -> Result<(), OffsetsRefusal> {
        let Err(error) = self.transactions.send_offsets(offsets, group).await else { return Ok(()) };
        let code = error.code();
        let fact = match code {
            Some(ErrorCode::ILLEGAL_GENERATION | ErrorCode::REBALANCE_IN_PROGRESS) => {
                tracing::debug!(%error, "the generation is stale");
                Fact::OffsetsRefused(OffsetsRefused::StaleGeneration)
            }
            Some(ErrorCode::UNKNOWN_MEMBER_ID | ErrorCode::FENCED_INSTANCE_ID) => {
                tracing::warn!(%error, "the tasks are somebody else's");
                Fact::OffsetsRefused(OffsetsRefused::UnknownMember)
            }
            _ => WriteFailure::from(error).into_fact("offsets cannot be committed"),
        };
        Err(OffsetsRefusal { fact, code })
    }

    /// Ends the transaction, and waits until the outcome is known.
    pub(super) async fn end(&self) -> Ended {
        match self.transactions.commit().await {
            Ok(()) => Ended::Committed,
            Err(CommitFailure::NotCommitted(error)) => {
                tracing::warn!(%error, "the commit is aborted");
                Ended::NotCommitted
            }
            Err(CommitFailure::Fenced(error)) => {
                tracing::warn!(%error, "fenced while committing: the committed offsets will tell the outcome");
                Ended::Fenced
            }
            Err(_) => Ended::Unknown,
        }
    }

    /// Aborts; true if another producer has the id: the transaction is aborted, or will be.
    pub(super) async fn abort(&self) -> bool {
        let aborted = self.transactions.abort().await;
        aborted.is_err_and(|error| {
            tracing::warn!(%error, "the transaction is left to whoever has its id");
            true
        })
    }

    /// Closes.
    pub(super) async fn close(&self, within: Duration) {
        if let Err(error) = self.transactions.clone().close(within).await {
            tracing::warn!(%error, "a lane's producer did not close cleanly");
        }
    }
}

impl From<Error> for WriteFailure {
    fn from(error: Error) -> Self {
        if error.kind() == ErrorKind::Fenced { Self::Fenced(error) } else { Self::Failed(error) }
    }
}

impl WriteFailure {
    /// Says what happened, and makes it a fact for the lane.
    pub(super) fn into_fact(self, what: &str) -> Fact {
        match self {
            Self::Fenced(error) => {
                tracing::warn!(%error, what, "the lane's producer is fenced");
                Fact::Fenced
            }
            Self::Failed(error) => {
                tracing::warn!(%error, what, "the commit is aborted");
                Fact::Failed
            }
        }
    }
}

/// A process has four producers: buffers are small, so that it stays small.
const BUFFER: usize = 8 << 20;
