//! Produce: one batch (magic 2) per partition. `acks=all` is answered when all in-sync replicas have it.
//!
//! Versions 3 to 13. Left out: message formats before magic 2, as in Kafka 4.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call, Closing};
use crate::broker::log::Appended;
use crate::broker::log::batch::Batch;
use crate::broker::producing::records::{RecordRules, accept, check_codec_known};
use crate::broker::producing::waits::Unreplicated;
use crate::broker::producing::{Refusal, accepted, first_flaw};
use crate::broker::topics::PartitionKey;
use crate::broker::topics::topic::Topic;
use crate::broker::transactions::transaction::Identity;
use millstream_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use millstream_protocol::messages::produce_response::{
    LeaderIdAndEpoch, NodeEndpoint, PartitionProduceResponse, TopicProduceResponse,
};
use millstream_protocol::messages::{ProduceRequest, ProduceResponse};
use millstream_protocol::{ApiKey, Decompressor, ErrorCode};
use std::collections::BTreeSet;
use std::time::Duration;

/// From this version on a leader is named to those who asked somebody else (KIP-951).
const HINTS_SINCE: i16 = 10;
/// From this version on clients know TRANSACTION_ABORTABLE (KIP-890).
const ABORTABLE_SINCE: i16 = 11;
/// From this version on writing to a partition adds it to the transaction (KIP-890).
const ADDS_SINCE: i16 = 12;
const IDS_SINCE: i16 = 13;
const ALL: i16 = -1;

/// What a partition may have to remember of a batch's producer.
const EACH_PRODUCER: usize = 256;

pub(super) struct Produce;

/// A batch that is in its leader's log.
struct Written {
    key: PartitionKey,
    appended: Appended,
    /// How far followers must be for it to be acknowledged, and the term it was written in.
    until: i64,
    leader_epoch: i32,
}

impl Handler for Produce {
    type Request = ProduceRequest;
    const MOST_BYTES: usize = usize::MAX;
    fn handle(broker: &mut Broker, call: &Call, request: ProduceRequest) -> Answer<ProduceResponse> {
        if let Some(sentence) = first_flaw(&request) {
            let code = ErrorCode::CORRUPT_MESSAGE;
            return match request.acks {
                0 => Answer::Close(unheard(code)),
                _ => Answer::Reply(refuse_all(&request, &Refusal::from(code).with_message(sentence))),
            };
        }
        let mut hints = BTreeSet::new();
        let mut left = Vec::new();
        let mut responses = Vec::with_capacity(request.topic_data.len());
        let enlisted = enlisted(broker, &request);
        for (topic_index, topic) in request.topic_data.iter().enumerate() {
            let mut partition_responses = Vec::with_capacity(topic.partition_data.len());
            for (partition_index, data) in topic.partition_data.iter().enumerate() {
                let written = write(broker, call, &request, topic, data);
                if let (Ok(written), ALL) = (&written, request.acks) {
                    let Written { key, until, leader_epoch, .. } = *written;
                    left.push(Unreplicated { topic_index, partition_index, key, until, leader_epoch });
                }
                partition_responses.push(answer(broker, call, topic, data.index, written, &mut hints));
            }
            responses.push(TopicProduceResponse {
                name: topic.name.clone(),
                topic_id: topic.topic_id,
                partition_responses,
                ..TopicProduceResponse::default()
            });
        }
        if enlisted < self::enlisted(broker, &request) {
            broker.keep_transaction(request.transactional_id.as_deref().unwrap_or_default());
        }
        let node_endpoints = endpoints(broker, call, &hints);
        let response = ProduceResponse { responses, node_endpoints, ..ProduceResponse::default() };
        left.retain(|each| broker.replicated(each, call.node) != Some(Ok(())));
        match request.acks {
            // Nobody listens, so that an error can only be told by hanging up.
            0 => first_error(&response).map_or(Answer::Silence, |code| Answer::Close(unheard(code))),
            _ if left.is_empty() => Answer::Reply(response),
            _ => {
                let patience = Duration::from_millis(u64::from(request.timeout_ms.max(0).unsigned_abs()));
                broker.wait_produce(call, response, left, broker.now + patience);
                Answer::Later
            }
        }
    }
    fn refuse(request: &ProduceRequest, code: ErrorCode) -> ProduceResponse {
        refuse_all(request, &code.into())
    }
}

fn refuse_all(request: &ProduceRequest, refusal: &Refusal) -> ProduceResponse {
    let partition = |data: &PartitionProduceData| refusal.clone().answer(data.index, -1);
    let topic = |topic: &TopicProduceData| TopicProduceResponse {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partition_responses: topic.partition_data.iter().map(partition).collect(),
        ..TopicProduceResponse::default()
    };
    ProduceResponse { responses: request.topic_data.iter().map(topic).collect(), ..ProduceResponse::default() }
}
fn first_error(response: &ProduceResponse) -> Option<ErrorCode> {
    let partitions = response.responses.iter().flat_map(|topic| &topic.partition_responses);
    partitions.map(|partition| ErrorCode::new(partition.error_code)).find(|code| *code != ErrorCode::NONE)
}
/// Why a connection ends on which records came that nobody wants to be told of.
pub(super) fn unheard(code: ErrorCode) -> Closing {
    Closing::refused(format!("{}, which its producer cannot be told, as it asked for no answer (acks=0)", code.name()))
}

fn write(
    broker: &mut Broker,
    call: &Call,
    request: &ProduceRequest,
    asked: &TopicProduceData,
    data: &PartitionProduceData,
) -> Result<Written, Refusal> {
    if broker.has_partition_faults() {
        let name = find(broker, call, asked)?.name.clone();
        broker.partition_fault(ApiKey::PRODUCE, call, &name, data.index)?;
    }
    let topic = find(broker, call, asked)?;
    let partition = topic.partition(data.index).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    let records = data.records.clone().into_bytes().unwrap_or_default();
    let batch = Batch::parse_if(&records, |batch| check_codec_known(batch, call.version))?;
    if !matches!(request.acks, -1..=1) {
        return Err(ErrorCode::INVALID_REQUIRED_ACKS.into());
    }
    if topic.is_internal() {
        return Err(ErrorCode::INVALID_TOPIC_EXCEPTION.into());
    }
    partition.check_leader(call.node, -1)?;
    let (key, leader_epoch) = ((topic.id, data.index), partition.leader_epoch);
    let rules = RecordRules::of(topic, data.index);
    if batch.is_transactional() {
        admit(broker, call, request, &batch, key)?;
    }
    check_replicas(broker, request, key)?;
    let now = broker.now.as_millis();
    let batch = accept(batch, now, &rules, &mut Decompressor::new())?.apart_from(|| size(request));
    broker.check_record_room(batch.weight() + EACH_PRODUCER)?;
    let append_time = rules.has_append_time().then_some(now);
    let count = batch.next_offset() - batch.base_offset;
    let appended = broker.append(key, batch, append_time).map_err(Refusal::of_log)?;
    Ok(Written { key, appended, until: appended.base_offset + count, leader_epoch })
}
/// How many bytes the records of a request have: batches that are kept share its buffer.
fn size(request: &ProduceRequest) -> usize {
    request.topic_data.iter().flat_map(|topic| &topic.partition_data).map(|data| data.records.len()).sum()
}
fn find<'b>(broker: &'b Broker, call: &Call, asked: &TopicProduceData) -> Result<&'b Topic, ErrorCode> {
    if call.version >= IDS_SINCE {
        return broker.topics.find_id(asked.topic_id).ok_or(ErrorCode::UNKNOWN_TOPIC_ID);
    }
    broker.topics.find(asked.name.as_str()).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
}
fn check_replicas(broker: &Broker, request: &ProduceRequest, key: PartitionKey) -> Result<(), Refusal> {
    let topic = broker.topics.find_id(key.0).filter(|_| request.acks == ALL);
    let Some((topic, partition)) = topic.and_then(|topic| Some((topic, topic.partition(key.1)?))) else {
        return Ok(());
    };
    let has_enough = partition.has_enough(topic.min_isr(broker.in_sync_rules()));
    if has_enough { Ok(()) } else { Err(Refusal::of_log(ErrorCode::NOT_ENOUGH_REPLICAS)) }
}
/// How many partitions the request's transaction has.
fn enlisted(broker: &Broker, request: &ProduceRequest) -> usize {
    request.transactional_id.as_deref().map_or(0, |id| broker.enlisted(id))
}
fn adds_partitions(broker: &Broker, call: &Call) -> bool {
    call.version >= ADDS_SINCE && broker.features.transaction_version() >= 2
}
fn admit(
    broker: &mut Broker,
    call: &Call,
    request: &ProduceRequest,
    batch: &Batch,
    key: PartitionKey,
) -> Result<(), Refusal> {
    let id = request.transactional_id.as_deref().ok_or(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED)?;
    let identity = Identity { id: batch.producer_id, epoch: batch.producer_epoch };
    let adds = adds_partitions(broker, call);
    if !adds && !broker.settings.verifies_partitions {
        return Ok(());
    }
    if let Some(partition) = broker.topics.find_id_mut(key.0).and_then(|topic| topic.partition_mut(key.1)) {
        let producers = &mut partition.log.producers;
        // The coordinator is not asked, and adds nothing, for a batch that the log is not to take anyhow.
        if producers.is_past(identity.id, identity.epoch) {
            return Err(ErrorCode::INVALID_PRODUCER_EPOCH.into());
        }
        if producers.is_open(identity.id, identity.epoch) {
            return Ok(());
        }
        producers.begin_verification(batch, adds);
    }
    broker.admit_transactional(id, identity, key, adds).map_err(|code| match code {
        ErrorCode::PRODUCER_FENCED => ErrorCode::INVALID_PRODUCER_EPOCH.into(),
        ErrorCode::CONCURRENT_TRANSACTIONS if call.version < ADDS_SINCE => ErrorCode::NOT_ENOUGH_REPLICAS.into(),
        ErrorCode::INVALID_TXN_STATE if call.version >= ABORTABLE_SINCE => ErrorCode::TRANSACTION_ABORTABLE.into(),
        ErrorCode::INVALID_TXN_STATE => Refusal::from(code).with_message("Partition was not added to the transaction"),
        other => Refusal::from(other),
    })
}

impl Broker {
    /// Appends a batch to its leader's log, lets followers fetch it, and wakes whoever waits for it.
    pub(crate) fn append(
        &mut self,
        key: PartitionKey,
        batch: Batch,
        append_time: Option<i64>,
    ) -> Result<Appended, ErrorCode> {
        let partition = self.topics.find_id_mut(key.0).and_then(|topic| topic.partition_mut(key.1));
        let partition = partition.ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
        let leader_epoch = partition.leader_epoch;
        let appended = partition.log.append(batch, leader_epoch, append_time)?;
        self.replicate(key);
        Ok(appended)
    }
}

fn answer(
    broker: &Broker,
    call: &Call,
    topic: &TopicProduceData,
    index: i32,
    written: Result<Written, Refusal>,
    hints: &mut BTreeSet<i32>,
) -> PartitionProduceResponse {
    let partition = find(broker, call, topic).ok().and_then(|topic| topic.partition(index));
    let start = partition.map_or(-1, |partition| partition.log.start());
    let refusal = match written {
        Ok(written) => return accepted(index, written.appended, start),
        Err(refusal) => refusal,
    };
    let code = refusal.code;
    let mut response = refusal.answer(index, start);
    if code == ErrorCode::NOT_LEADER_OR_FOLLOWER
        && call.version >= HINTS_SINCE
        && let Some(partition) = partition
    {
        response.current_leader = LeaderIdAndEpoch {
            leader_id: partition.leader_id(),
            leader_epoch: partition.leader_epoch,
            ..LeaderIdAndEpoch::default()
        };
        hints.insert(partition.leader_id());
    }
    response
}
fn endpoints(broker: &Broker, call: &Call, hints: &BTreeSet<i32>) -> Vec<NodeEndpoint> {
    let nodes = broker.nodes.up().filter(|node| hints.contains(&node.id.get()));
    nodes
        .map(|node| NodeEndpoint {
            node_id: node.id.get(),
            host: node.host(call.listener),
            port: node.port(call.listener),
            rack: node.rack.clone(),
            ..NodeEndpoint::default()
        })
        .collect()
}
