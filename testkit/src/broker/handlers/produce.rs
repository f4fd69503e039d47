//! Produce: one batch (magic 2) per partition, stored as it is, whatever its codec. Left out: the walk through the records of topics that
//! are not compacted (Kafka finds a malformed record; here the header's checksum and counts must do), re-compression by `compression.type`.
//! Every append is replicated at once, so that no answer waits.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::log::Appended;
use crate::broker::log::batch::{Batch, ZSTD};
use crate::broker::topics::PartitionKey;
use crate::broker::topics::topic::{Partition, Topic};
use crate::broker::transactions::transaction::Identity;
use bytes::Bytes;
use millstream_protocol::Decompressor;
use millstream_protocol::hash::HashSet;
use millstream_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use millstream_protocol::messages::produce_response::{
    BatchIndexAndErrorMessage, LeaderIdAndEpoch, NodeEndpoint, PartitionProduceResponse, TopicProduceResponse,
};
use millstream_protocol::messages::{ProduceRequest, ProduceResponse, StrBytes};
use millstream_protocol::record::{CrcCheck, batches};
use millstream_protocol::{ApiKey, ErrorCode};

/// From this version on a leader is named to those who asked somebody else (KIP-951).
const HINTS_SINCE: i16 = 10;
/// From this version on clients know TRANSACTION_ABORTABLE (KIP-890).
const ABORTABLE_SINCE: i16 = 11;
/// From this version on writing to a partition adds it to the transaction (KIP-890).
const ADDS_SINCE: i16 = 12;
const ZSTD_SINCE: i16 = 7;
const IDS_SINCE: i16 = 13;

pub(super) struct Produce;

/// What a partition's batch came to.
enum Written {
    At(Appended),
    Refused(ErrorCode),
    /// One record is at fault.
    BadRecord(i32, &'static str),
}

impl Handler for Produce {
    type Request = ProduceRequest;
    fn handle(broker: &mut Broker, call: &Call, request: ProduceRequest) -> Answer<ProduceResponse> {
        let is_valid = matches!(request.acks, -1..=1);
        let mut hints = HashSet::default();
        let mut responses = Vec::with_capacity(request.topic_data.len());
        for topic in &request.topic_data {
            let write = |broker: &mut Broker, data: &PartitionProduceData| {
                if is_valid {
                    write(broker, call, &request, topic, data)
                } else {
                    Written::Refused(ErrorCode::INVALID_REQUIRED_ACKS)
                }
            };
            let partitions = topic.partition_data.iter().map(|data| {
                let written = write(broker, data);
                answer(broker, call, topic, data.index, written, &mut hints)
            });
            let partition_responses = partitions.collect();
            responses.push(TopicProduceResponse {
                name: topic.name.clone(),
                topic_id: topic.topic_id,
                partition_responses,
                ..TopicProduceResponse::default()
            });
        }
        match request.acks {
            // Nobody listens, so that an error can only be told by hanging up.
            0 if has_error(&responses) => Answer::Close,
            0 => Answer::Silence,
            _ => Answer::Reply(ProduceResponse {
                responses,
                node_endpoints: endpoints(broker, call, hints),
                ..ProduceResponse::default()
            }),
        }
    }
    fn refuse(request: &ProduceRequest, code: ErrorCode) -> ProduceResponse {
        let topic = |topic: &TopicProduceData| TopicProduceResponse {
            name: topic.name.clone(),
            topic_id: topic.topic_id,
            partition_responses: topic.partition_data.iter().map(|data| refused(data.index, code)).collect(),
            ..TopicProduceResponse::default()
        };
        ProduceResponse { responses: request.topic_data.iter().map(topic).collect(), ..ProduceResponse::default() }
    }
}

fn has_error(responses: &[TopicProduceResponse]) -> bool {
    responses.iter().flat_map(|topic| &topic.partition_responses).any(|partition| partition.error_code != 0)
}
fn refused(index: i32, code: ErrorCode) -> PartitionProduceResponse {
    PartitionProduceResponse {
        index,
        error_code: code.get(),
        base_offset: -1,
        error_message: code.is_error().then(|| StrBytes::from_static_str(code.message())),
        ..PartitionProduceResponse::default()
    }
}

fn write(
    broker: &mut Broker,
    call: &Call,
    request: &ProduceRequest,
    topic: &TopicProduceData,
    data: &PartitionProduceData,
) -> Written {
    match try_write(broker, call, request, topic, data) {
        Ok(written) => written,
        Err(code) => Written::Refused(code),
    }
}
fn try_write(
    broker: &mut Broker,
    call: &Call,
    request: &ProduceRequest,
    asked: &TopicProduceData,
    data: &PartitionProduceData,
) -> Result<Written, ErrorCode> {
    if broker.has_partition_faults() {
        let name = find(broker, call, asked)?.name.clone();
        broker.partition_fault(ApiKey::PRODUCE, call, &name, data.index)?;
    }
    let nodes = &broker.nodes;
    let topic = find(broker, call, asked)?;
    if topic.is_internal() {
        return Err(ErrorCode::INVALID_TOPIC_EXCEPTION);
    }
    let partition = topic.partition(data.index).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    partition.check_leader(call.node, -1)?;
    if request.acks == -1 {
        check_replicas(topic, partition, |id| nodes.is_up(id))?;
    }
    let bytes = data.records.clone().into_bytes().filter(|bytes| !bytes.is_empty()).ok_or(ErrorCode::INVALID_RECORD)?;
    let batch = check_batch(call, topic, &bytes)?;
    if topic.is_compacted()
        && let Some(index) = keyless_record(&bytes)?
    {
        return Ok(Written::BadRecord(index, "Compacted topic cannot accept message without key."));
    }
    let key = (topic.id, data.index);
    let append_time = topic.has_append_time().then_some(broker.now.as_millis());
    if batch.is_transactional() {
        admit(broker, call, request, &batch, key)?;
    }
    broker.append(key, batch, append_time).map(Written::At)
}
fn find<'b>(broker: &'b Broker, call: &Call, asked: &TopicProduceData) -> Result<&'b Topic, ErrorCode> {
    if call.version >= IDS_SINCE {
        return broker.topics.find_id(asked.topic_id).ok_or(ErrorCode::UNKNOWN_TOPIC_ID);
    }
    broker.topics.find(asked.name.as_str()).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
}
fn check_replicas(
    topic: &Topic,
    partition: &Partition,
    is_up: impl Fn(millstream_protocol::NodeId) -> bool,
) -> Result<(), ErrorCode> {
    let in_sync = partition.replicas.iter().filter(|id| is_up(**id)).count();
    let wanted: usize = topic.config("min.insync.replicas").parse().unwrap_or(1);
    // A topic with fewer replicas than that is written all the same, as on Kafka up to 3.9.
    if in_sync < wanted.min(partition.replicas.len()) { Err(ErrorCode::NOT_ENOUGH_REPLICAS) } else { Ok(()) }
}
fn check_batch(call: &Call, topic: &Topic, bytes: &Bytes) -> Result<Batch, ErrorCode> {
    let batch = Batch::parse(bytes)?;
    if bytes.len() > topic.max_message_bytes() {
        return Err(ErrorCode::MESSAGE_TOO_LARGE);
    }
    if batch.is_control() || batch.has_producer() && batch.base_sequence < 0 {
        return Err(ErrorCode::INVALID_RECORD);
    }
    match batch.codec_id() {
        ZSTD if call.version < ZSTD_SINCE => Err(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE),
        0..=ZSTD => Ok(batch),
        _ => Err(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE),
    }
}
/// The first record without a key, which a compacted topic cannot keep.
fn keyless_record(bytes: &Bytes) -> Result<Option<i32>, ErrorCode> {
    let batch =
        batches(bytes.clone()).next().ok_or(ErrorCode::INVALID_RECORD)?.map_err(|_| ErrorCode::CORRUPT_MESSAGE)?;
    let decoded = batch.decode(&mut Decompressor::new(), CrcCheck::Skip).map_err(|_| ErrorCode::INVALID_RECORD)?;
    let found = (0..).zip(decoded.iter()).find(|(_, record)| record.key.is_none()).map(|(index, _)| index);
    Ok(found)
}
fn admit(
    broker: &mut Broker,
    call: &Call,
    request: &ProduceRequest,
    batch: &Batch,
    key: PartitionKey,
) -> Result<(), ErrorCode> {
    let id = request.transactional_id.as_deref().ok_or(ErrorCode::INVALID_REQUEST)?;
    let identity = Identity { id: batch.producer_id, epoch: batch.producer_epoch };
    let adds = call.version >= ADDS_SINCE && broker.features.transaction_version() >= 2;
    broker.admit_transactional(id, identity, key, adds).map_err(|code| match code {
        ErrorCode::PRODUCER_FENCED => ErrorCode::INVALID_PRODUCER_EPOCH,
        ErrorCode::CONCURRENT_TRANSACTIONS if call.version < ADDS_SINCE => ErrorCode::NOT_ENOUGH_REPLICAS,
        ErrorCode::INVALID_TXN_STATE if call.version >= ABORTABLE_SINCE => ErrorCode::TRANSACTION_ABORTABLE,
        other => other,
    })
}

impl Broker {
    /// Appends a batch, and wakes whoever waits for it.
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
        self.wake_fetches(key);
        Ok(appended)
    }
}

fn answer(
    broker: &Broker,
    call: &Call,
    topic: &TopicProduceData,
    index: i32,
    written: Written,
    hints: &mut HashSet<i32>,
) -> PartitionProduceResponse {
    let partition = find(broker, call, topic).ok().and_then(|topic| topic.partition(index));
    let log_start_offset = partition.map_or(-1, |partition| partition.log.start());
    match written {
        Written::At(Appended { base_offset, append_time }) => PartitionProduceResponse {
            index,
            base_offset,
            log_append_time_ms: append_time,
            log_start_offset,
            ..PartitionProduceResponse::default()
        },
        Written::BadRecord(batch_index, reason) => {
            let message = Some(StrBytes::from_static_str(reason));
            let mut response = refused(index, ErrorCode::INVALID_RECORD);
            if call.version >= 8 {
                response.record_errors = vec![BatchIndexAndErrorMessage {
                    batch_index,
                    batch_index_error_message: message,
                    ..BatchIndexAndErrorMessage::default()
                }];
            }
            response
        }
        Written::Refused(code) => {
            let mut response = refused(index, code);
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
    }
}
fn endpoints(broker: &Broker, call: &Call, hints: HashSet<i32>) -> Vec<NodeEndpoint> {
    let nodes = broker.nodes.up().filter(|node| hints.contains(&node.id.get()));
    nodes
        .map(|node| NodeEndpoint {
            node_id: node.id.get(),
            host: node.host(call.listener),
            port: node.port(call.listener),
            ..NodeEndpoint::default()
        })
        .collect()
}
