//! Producers and open transactions.

use super::per_item::{PerItem, judged, shared_code};
use super::{brokers, text};
use crate::client::{Call, Client, Target};
use crate::{Error, ErrorKind};
use millstream_client_core::cluster::CoordinatorKey;
use millstream_protocol::messages::describe_producers_request::TopicRequest;
use millstream_protocol::messages::describe_producers_response::ProducerState;
use millstream_protocol::messages::describe_transactions_response::TransactionState as Described;
use millstream_protocol::messages::{
    DescribeProducersRequest, DescribeProducersResponse, DescribeTransactionsRequest, DescribeTransactionsResponse,
    InitProducerIdRequest, InitProducerIdResponse, ListTransactionsRequest, ListTransactionsResponse,
};
use millstream_protocol::{ErrorCode, Offset, ProducerEpoch, ProducerId, Timestamp, TopicPartition};
use std::collections::BTreeMap;

/// What a transaction is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "Kafka's names")]
pub enum TransactionState {
    Empty,
    Ongoing,
    PrepareCommit,
    PrepareAbort,
    CompleteCommit,
    CompleteAbort,
    PrepareEpochFence,
    Dead,
    /// One that this client does not know.
    Unknown,
}
/// A transactional id's line in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransactionListing {
    /// The id.
    pub transactional_id: String,
    /// Its producer's id.
    pub producer_id: ProducerId,
    /// What its transaction is doing.
    pub state: TransactionState,
}
/// A transaction as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransactionDescription {
    /// Its producer's transactional id.
    pub transactional_id: String,
    /// Its producer's id.
    pub producer_id: ProducerId,
    /// Its producer's epoch.
    pub producer_epoch: ProducerEpoch,
    /// What it is doing.
    pub state: TransactionState,
    /// Since when it is open, if it is.
    pub open_since: Option<Timestamp>,
    /// What it has written to.
    pub partitions: Vec<TopicPartition>,
}
/// A producer that a partition remembers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProducerDescription {
    /// Its id.
    pub producer_id: ProducerId,
    /// Its epoch; the answer has room for more than an epoch's range, so this is the raw number.
    pub producer_epoch: i32,
    /// The sequence number of its last record.
    pub last_sequence: i32,
    /// When it last wrote.
    pub last_timestamp: Timestamp,
    /// The first offset of its open transaction, if it has one here.
    pub open_transaction_start: Option<Offset>,
}

/// Producers and open transactions.
#[derive(Debug, Clone, Copy)]
pub struct Transactions<'a> {
    client: &'a Client,
}

impl<'a> Transactions<'a> {
    pub(super) const fn of(client: &'a Client) -> Self {
        Self { client }
    }

    /// All transactional ids, in order.
    ///
    /// # Errors
    ///
    /// When a broker could not be asked: its transactions would be missing.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn list(&self) -> Result<Vec<TransactionListing>, Error> {
        let mut found = BTreeMap::new();
        for node in brokers::all(self.client).await? {
            let call = Call::new("list transactions", Target::Node(node));
            let code = |answer: &ListTransactionsResponse| ErrorCode::new(answer.error_code);
            let all = |_| ListTransactionsRequest::default();
            let reply = self.client.call::<ListTransactionsRequest>(call, all, code).await?;
            judged(reply.body.error_code, None, "list transactions").map_err(|error| error.at(node))?;
            for each in &reply.body.transaction_states {
                let transactional_id = each.transactional_id.as_str().to_owned();
                let producer_id = ProducerId::new(each.producer_id.0);
                let state = state(&each.transaction_state);
                let listing = TransactionListing { transactional_id: transactional_id.clone(), producer_id, state };
                found.insert(transactional_id, listing);
            }
        }
        Ok(found.into_values().collect())
    }

    /// Transactions as they are.
    ///
    /// # Errors
    ///
    /// Only for single ids: each answer tells. An id that no coordinator knows is `TRANSACTIONAL_ID_NOT_FOUND`.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn describe<I>(&self, ids: I) -> Result<PerItem<String, TransactionDescription>, Error>
    where
        I: IntoIterator<Item: Into<String>> + Send,
    {
        let ids: Vec<String> = ids.into_iter().map(Into::into).collect();
        let mut answers = PerItem::new();
        for id in ids {
            let answer = self.describe_one(&id).await;
            answers.insert(id, answer);
        }
        Ok(answers)
    }
    async fn describe_one(&self, id: &str) -> Result<TransactionDescription, Error> {
        let operation = format!("describe transaction `{id}`");
        let call = Call::new(operation.as_str(), coordinator(id));
        let asked = text(id);
        let request =
            move |_| DescribeTransactionsRequest::default().with_transactional_ids(vec![asked.clone().into()]);
        let code = |answer: &DescribeTransactionsResponse| {
            shared_code(answer.transaction_states.iter().map(|each| each.error_code))
        };
        let reply = self.client.call::<DescribeTransactionsRequest>(call, request, code).await?;
        let found = reply.body.transaction_states.first();
        let found = found.ok_or_else(|| Error::new(ErrorKind::Malformed, &operation).reason("the answer is empty"))?;
        judged(found.error_code, None, &operation)?;
        Ok(described(found))
    }

    /// Fences the producers of these ids, which aborts what they have open.
    ///
    /// # Errors
    ///
    /// Only for single ids: each answer tells.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, some may be fenced and others not.
    pub async fn fence<I>(&self, ids: I) -> Result<PerItem<String, ()>, Error>
    where
        I: IntoIterator<Item: Into<String>> + Send,
    {
        let ids: Vec<String> = ids.into_iter().map(Into::into).collect();
        let mut answers = PerItem::new();
        for id in ids {
            let answer = self.fence_one(&id).await;
            answers.insert(id, answer);
        }
        Ok(answers)
    }
    async fn fence_one(&self, id: &str) -> Result<(), Error> {
        let operation = format!("fence the producers of transactional id `{id}`");
        let call = Call::new(operation.as_str(), coordinator(id));
        let asked = text(id);
        // A timeout is asked for; nothing is ever open under it.
        let request = move |_| {
            InitProducerIdRequest::default()
                .with_transactional_id(Some(asked.clone().into()))
                .with_transaction_timeout_ms(FENCING_TIMEOUT_MS)
                .with_producer_id((-1).into())
                .with_producer_epoch(-1)
        };
        let code = |answer: &InitProducerIdResponse| ErrorCode::new(answer.error_code);
        let reply = self.client.call::<InitProducerIdRequest>(call, request, code).await?;
        judged(reply.body.error_code, None, &operation)
    }

    /// The producers that partitions remember, and whether they have a transaction open there (KIP-664).
    ///
    /// # Errors
    ///
    /// Only for single partitions: each answer tells.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn describe_producers<I>(
        &self,
        partitions: I,
    ) -> Result<PerItem<TopicPartition, Vec<ProducerDescription>>, Error>
    where
        I: IntoIterator<Item = TopicPartition> + Send,
    {
        let partitions: Vec<_> = partitions.into_iter().collect();
        let mut answers = PerItem::new();
        for partition in partitions {
            let answer = self.producers_of(&partition).await;
            answers.insert(partition, answer);
        }
        Ok(answers)
    }
    async fn producers_of(&self, partition: &TopicPartition) -> Result<Vec<ProducerDescription>, Error> {
        const OPERATION: &str = "describe the producers";
        let call = Call::new(OPERATION, Target::Leader(partition.clone()));
        let asked = partition.clone();
        let request = move |_| {
            let topic = TopicRequest::default()
                .with_name(text(asked.topic.as_str()).into())
                .with_partition_indexes(vec![asked.partition.get()]);
            DescribeProducersRequest::default().with_topics(vec![topic])
        };
        let code = |answer: &DescribeProducersResponse| {
            shared_code(answer.topics.iter().flat_map(|topic| &topic.partitions).map(|each| each.error_code))
        };
        let reply = self.client.call::<DescribeProducersRequest>(call, request, code).await?;
        let found = reply.body.topics.iter().flat_map(|topic| &topic.partitions).next();
        let found = found.ok_or_else(|| Error::new(ErrorKind::Malformed, OPERATION).reason("the answer is empty"))?;
        judged(found.error_code, found.error_message.as_deref(), OPERATION)
            .map_err(|error| error.about(partition.clone()))?;
        Ok(found.active_producers.iter().map(producer).collect())
    }
}

/// `transaction.timeout.ms` of the InitProducerId that fences.
const FENCING_TIMEOUT_MS: i32 = 60_000;

fn coordinator(id: &str) -> Target {
    Target::Coordinator(CoordinatorKey::Transaction(id.to_owned()))
}

fn state(name: &str) -> TransactionState {
    match name {
        "Empty" => TransactionState::Empty,
        "Ongoing" => TransactionState::Ongoing,
        "PrepareCommit" => TransactionState::PrepareCommit,
        "PrepareAbort" => TransactionState::PrepareAbort,
        "CompleteCommit" => TransactionState::CompleteCommit,
        "CompleteAbort" => TransactionState::CompleteAbort,
        "PrepareEpochFence" => TransactionState::PrepareEpochFence,
        "Dead" => TransactionState::Dead,
        _ => TransactionState::Unknown,
    }
}

fn described(found: &Described) -> TransactionDescription {
    let partitions = found.topics.iter().flat_map(|topic| {
        topic.partitions.iter().map(|partition| TopicPartition::new(topic.topic.as_str(), *partition))
    });
    TransactionDescription {
        transactional_id: found.transactional_id.as_str().to_owned(),
        producer_id: ProducerId::new(found.producer_id.0),
        producer_epoch: ProducerEpoch::new(found.producer_epoch),
        state: state(&found.transaction_state),
        open_since: Some(found.transaction_start_time_ms).filter(|time| *time >= 0).map(Timestamp::from_millis),
        partitions: partitions.collect(),
    }
}

fn producer(found: &ProducerState) -> ProducerDescription {
    ProducerDescription {
        producer_id: ProducerId::new(found.producer_id.0),
        producer_epoch: found.producer_epoch,
        last_sequence: found.last_sequence,
        last_timestamp: Timestamp::from_millis(found.last_timestamp),
        open_transaction_start: Some(found.current_txn_start_offset).filter(|offset| *offset >= 0).map(Offset::new),
    }
}
