//! AddPartitionsToTxn: versions 0 to 3 from clients, 4 and 5 batched from brokers, verification included.
//!
//! Versions 0 to 5. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::bounds::Comer;
use crate::broker::call::{Answer, Call};
use crate::broker::topics::PartitionKey;
use crate::broker::transactions::transaction::{Edition, Identity};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::add_partitions_to_txn_request::{
    AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
};
use millstream_protocol::messages::add_partitions_to_txn_response::{
    AddPartitionsToTxnPartitionResult, AddPartitionsToTxnResult, AddPartitionsToTxnTopicResult,
};
use millstream_protocol::messages::{AddPartitionsToTxnRequest, AddPartitionsToTxnResponse};
use std::collections::{BTreeMap, BTreeSet};

/// From this version on several transactions come in one request.
const BATCHED_SINCE: i16 = 4;

pub(super) struct AddPartitionsToTxn;

impl Handler for AddPartitionsToTxn {
    type Request = AddPartitionsToTxnRequest;
    fn handle(
        broker: &mut Broker,
        call: &Call,
        request: AddPartitionsToTxnRequest,
    ) -> Answer<AddPartitionsToTxnResponse> {
        if call.version >= BATCHED_SINCE {
            let results = request.transactions.iter().map(|transaction| {
                AddPartitionsToTxnResult::default()
                    .with_transactional_id(transaction.transactional_id.clone())
                    .with_topic_results(add(broker, call, transaction))
            });
            let results = results.collect();
            let ids: BTreeSet<_> = request.transactions.iter().map(|each| &each.transactional_id.0).collect();
            ids.into_iter().for_each(|id| broker.keep_transaction(id));
            return Answer::Reply(AddPartitionsToTxnResponse::default().with_results_by_transaction(results));
        }
        let transaction = AddPartitionsToTxnTransaction::default()
            .with_transactional_id(request.v3_and_below_transactional_id)
            .with_producer_id(request.v3_and_below_producer_id)
            .with_producer_epoch(request.v3_and_below_producer_epoch)
            .with_topics(request.v3_and_below_topics);
        let results = add(broker, call, &transaction);
        broker.keep_transaction(&transaction.transactional_id.0);
        Answer::Reply(AddPartitionsToTxnResponse::default().with_results_by_topic_v3_and_below(results))
    }
    fn when_full(_: &Broker, _: &AddPartitionsToTxnRequest) -> Option<ErrorCode> {
        Some(ErrorCode::POLICY_VIOLATION)
    }
    fn comer(broker: &Broker, request: &AddPartitionsToTxnRequest) -> Comer {
        let is_known = match request.transactions.as_slice() {
            [] => broker.transactions.has(&request.v3_and_below_transactional_id.0),
            batched => batched.iter().all(|each| broker.transactions.has(&each.transactional_id.0)),
        };
        Comer::who(is_known)
    }
    fn refuse(request: &AddPartitionsToTxnRequest, code: ErrorCode) -> AddPartitionsToTxnResponse {
        let is_batched = !request.transactions.is_empty();
        AddPartitionsToTxnResponse::default()
            .with_error_code(if is_batched { code.get() } else { 0 })
            .with_results_by_topic_v3_and_below(results(&request.v3_and_below_topics, |_, _| code))
    }
}

fn add(
    broker: &mut Broker,
    call: &Call,
    transaction: &AddPartitionsToTxnTransaction,
) -> Vec<AddPartitionsToTxnTopicResult> {
    let key = |broker: &Broker, topic: &str, partition: i32| -> Option<PartitionKey> {
        let topic = broker.topics.find(topic)?;
        topic.partition(partition).map(|_| (topic.id, partition))
    };
    let all =
        transaction.topics.iter().flat_map(|topic| topic.partitions.iter().map(|partition| (&topic.name, *partition)));
    let known: Option<Vec<PartitionKey>> = all.map(|(topic, partition)| key(broker, &topic.0, partition)).collect();
    let each_once = once(&transaction.topics);
    let Some(known) = known else {
        // One unknown partition stops the others.
        return results(&each_once, |topic, partition| match key(broker, topic, partition) {
            Some(_) => ErrorCode::OPERATION_NOT_ATTEMPTED,
            None => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        });
    };
    let identity = Identity { id: transaction.producer_id.0, epoch: transaction.producer_epoch };
    let id = &transaction.transactional_id.0;
    if !broker.is_transaction_coordinator(call.node, id) {
        return results(&transaction.topics, |_, _| ErrorCode::NOT_COORDINATOR);
    }
    if transaction.verify_only {
        let verified: BTreeMap<PartitionKey, ErrorCode> =
            known.into_iter().map(|key| (key, verify(broker, id, identity, key))).collect();
        let code = |topic: &str, partition: i32| {
            let key = key(broker, topic, partition);
            key.and_then(|key| verified.get(&key)).copied().unwrap_or(ErrorCode::NONE)
        };
        return results(&each_once, code);
    }
    let edition = if call.version >= BATCHED_SINCE { Edition::Second } else { Edition::First };
    let code = broker.enlist_partitions(id, identity, edition, known).err().unwrap_or(ErrorCode::NONE);
    // Version 1 and below do not know PRODUCER_FENCED.
    let code =
        if code == ErrorCode::PRODUCER_FENCED && call.version < 2 { ErrorCode::INVALID_PRODUCER_EPOCH } else { code };
    // Here what comes twice is told twice.
    results(&transaction.topics, |_, _| code)
}
/// The topics with each partition once.
fn once(topics: &[AddPartitionsToTxnTopic]) -> Vec<AddPartitionsToTxnTopic> {
    let once = |topic: &AddPartitionsToTxnTopic| {
        let indexes: BTreeSet<i32> = topic.partitions.iter().copied().collect();
        topic.clone().with_partitions(indexes.into_iter().collect())
    };
    topics.iter().map(once).collect()
}
fn verify(broker: &mut Broker, id: &str, identity: Identity, key: PartitionKey) -> ErrorCode {
    match broker.verify_partition(id, identity, key) {
        Ok(()) => ErrorCode::NONE,
        // Also told to version 4, of whose readers KIP-890 says that they need not know it.
        Err(ErrorCode::INVALID_TXN_STATE) => ErrorCode::TRANSACTION_ABORTABLE,
        Err(code) => code,
    }
}
fn results(
    topics: &[AddPartitionsToTxnTopic],
    code: impl Fn(&str, i32) -> ErrorCode,
) -> Vec<AddPartitionsToTxnTopicResult> {
    let result = |topic: &AddPartitionsToTxnTopic| {
        let partitions = topic.partitions.iter().map(|partition| {
            let code = code(&topic.name.0, *partition);
            AddPartitionsToTxnPartitionResult::default()
                .with_partition_index(*partition)
                .with_partition_error_code(code.get())
        });
        AddPartitionsToTxnTopicResult::default()
            .with_name(topic.name.clone())
            .with_results_by_partition(partitions.collect())
    };
    topics.iter().map(result).collect()
}
