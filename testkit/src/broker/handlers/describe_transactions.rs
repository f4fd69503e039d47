//! DescribeTransactions: state, holder, partitions, among them those of the offsets topic that the transaction's groups have.
//!
//! Version 0. Left out: nothing.

use super::Handler;
use super::told::tells_too_much;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::topics::PartitionKey;
use crate::broker::transactions::transaction::Transaction;
use millstream_protocol::messages::describe_transactions_response::{TopicData, TransactionState};
use millstream_protocol::messages::{
    DescribeTransactionsRequest, DescribeTransactionsResponse, ProducerId, StrBytes, TopicName, TransactionalId,
};
use millstream_protocol::{ErrorCode, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct DescribeTransactions;

impl Handler for DescribeTransactions {
    type Request = DescribeTransactionsRequest;
    fn handle(
        broker: &mut Broker,
        call: &Call,
        request: DescribeTransactionsRequest,
    ) -> Answer<DescribeTransactionsResponse> {
        if tells_too_much(&request.transactional_ids, |id| {
            broker.transactions.find(&id.0).map_or(0, Transaction::weight)
        }) {
            return Answer::Reply(Self::refuse(&request, ErrorCode::INVALID_REQUEST));
        }
        let states = request.transactional_ids.iter().map(|id| {
            if id.0.is_empty() {
                return refused(id, ErrorCode::INVALID_REQUEST);
            }
            if !broker.is_transaction_coordinator(call.node, &id.0) {
                return refused(id, ErrorCode::NOT_COORDINATOR);
            }
            let found = broker.transactions.find(&id.0);
            found.map_or_else(
                || refused(id, ErrorCode::TRANSACTIONAL_ID_NOT_FOUND),
                |transaction| describe(broker, id, transaction),
            )
        });
        Answer::Reply(DescribeTransactionsResponse::default().with_transaction_states(states.collect()))
    }
    fn refuse(request: &DescribeTransactionsRequest, code: ErrorCode) -> DescribeTransactionsResponse {
        let states = request.transactional_ids.iter().map(|id| refused(id, code));
        DescribeTransactionsResponse::default().with_transaction_states(states.collect())
    }
}

fn refused(id: &TransactionalId, code: ErrorCode) -> TransactionState {
    TransactionState::default().with_transactional_id(id.clone()).with_error_code(code.get())
}
fn describe(broker: &Broker, id: &TransactionalId, transaction: &Transaction) -> TransactionState {
    let mut topics: BTreeMap<StrBytes, Vec<i32>> = BTreeMap::new();
    let of_groups: BTreeSet<PartitionKey> =
        transaction.groups.iter().filter_map(|group| broker.group_partition(group)).collect();
    for (topic, partition) in transaction.partitions.union(&of_groups) {
        if let Some(name) = broker.topics.name_of(*topic) {
            topics.entry(name.clone()).or_default().push(*partition);
        }
    }
    let topics = topics
        .into_iter()
        .map(|(name, partitions)| TopicData::default().with_topic(TopicName(name)).with_partitions(partitions));
    let since = transaction.started.map_or(-1, Timestamp::as_millis);
    TransactionState::default()
        .with_transactional_id(id.clone())
        .with_transaction_state(StrBytes::from_static_str(transaction.state.name()))
        .with_transaction_timeout_ms(i32::try_from(transaction.timeout.as_millis()).unwrap_or(i32::MAX))
        .with_transaction_start_time_ms(since)
        .with_producer_id(ProducerId(transaction.identity.id))
        .with_producer_epoch(transaction.identity.epoch)
        .with_topics(topics.collect())
}
