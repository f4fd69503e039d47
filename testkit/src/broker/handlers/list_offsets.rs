//! ListOffsets: earliest (−2), latest (−1), newest timestamp (−3), the first record not older than a time. Earliest local (−4) and latest
//! tiered (−5) are answered as without tiered storage.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::log::batch::Batch;
use crate::broker::log::{Isolation, Log};
use millstream_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use millstream_protocol::messages::list_offsets_response::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
use millstream_protocol::messages::{ListOffsetsRequest, ListOffsetsResponse};
use millstream_protocol::record::{CrcCheck, batches};
use millstream_protocol::{Decompressor, ErrorCode};

/// From this version on answers name the epoch.
const EPOCHS_SINCE: i16 = 4;
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const NEWEST_TIMESTAMP: i64 = -3;
const EARLIEST_LOCAL: i64 = -4;
const LATEST_TIERED: i64 = -5;

pub(super) struct ListOffsets;

/// An offset and the timestamp of its record, if that was asked for.
type Found = (i64, i64);

impl Handler for ListOffsets {
    type Request = ListOffsetsRequest;
    fn handle(broker: &mut Broker, call: &Call, request: ListOffsetsRequest) -> Answer<ListOffsetsResponse> {
        let isolation = Isolation::from(request.isolation_level);
        let answer = |topic: &ListOffsetsTopic| {
            let partitions = topic.partitions.iter().map(|asked| match find(broker, call, topic, asked, isolation) {
                Ok(response) => response,
                Err(code) => refused(asked.partition_index, code),
            });
            ListOffsetsTopicResponse::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
        };
        Answer::Reply(ListOffsetsResponse::default().with_topics(request.topics.iter().map(answer).collect()))
    }
    fn refuse(request: &ListOffsetsRequest, code: ErrorCode) -> ListOffsetsResponse {
        let topic = |topic: &ListOffsetsTopic| {
            let partitions = topic.partitions.iter().map(|asked| refused(asked.partition_index, code));
            ListOffsetsTopicResponse::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
        };
        ListOffsetsResponse::default().with_topics(request.topics.iter().map(topic).collect())
    }
}

fn refused(index: i32, code: ErrorCode) -> ListOffsetsPartitionResponse {
    ListOffsetsPartitionResponse::default()
        .with_partition_index(index)
        .with_error_code(code.get())
        .with_timestamp(-1)
        .with_offset(-1)
}
fn find(
    broker: &Broker,
    call: &Call,
    topic: &ListOffsetsTopic,
    asked: &ListOffsetsPartition,
    isolation: Isolation,
) -> Result<ListOffsetsPartitionResponse, ErrorCode> {
    let partition = broker.topics.find(&topic.name.0).and_then(|topic| topic.partition(asked.partition_index));
    let partition = partition.ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    partition.check_leader(call.node, asked.current_leader_epoch)?;
    let log = &partition.log;
    let (offset, timestamp) = match asked.timestamp {
        LATEST => (log.bound(isolation), -1),
        EARLIEST | EARLIEST_LOCAL => (log.start(), -1),
        NEWEST_TIMESTAMP => newest(log),
        LATEST_TIERED => (-1, -1),
        timestamp if timestamp < 0 => return Err(ErrorCode::UNSUPPORTED_VERSION),
        timestamp => first_since(log, timestamp, isolation),
    };
    let leader_epoch = match asked.timestamp {
        _ if offset < 0 || call.version < EPOCHS_SINCE => -1,
        LATEST => partition.leader_epoch,
        _ => log.epoch_at(offset),
    };
    let response = ListOffsetsPartitionResponse::default().with_partition_index(asked.partition_index);
    Ok(response.with_timestamp(timestamp).with_offset(offset).with_leader_epoch(leader_epoch))
}

fn newest(log: &Log) -> Found {
    // Of equals the first, as Kafka has it.
    let batch = log
        .batches()
        .filter(|batch| !batch.is_control())
        .reduce(|newest, batch| if batch.max_timestamp > newest.max_timestamp { batch } else { newest });
    batch.and_then(|batch| record_since(batch, batch.max_timestamp, log.start())).unwrap_or((-1, -1))
}
fn first_since(log: &Log, timestamp: i64, isolation: Isolation) -> Found {
    let mut candidates =
        log.batches_below(isolation).filter(|batch| batch.max_timestamp >= timestamp && !batch.is_control());
    candidates.find_map(|batch| record_since(batch, timestamp, log.start())).unwrap_or((-1, -1))
}
/// The first record of a batch that is not older.
fn record_since(batch: &Batch, timestamp: i64, start: i64) -> Option<Found> {
    let decoded = batches(batch.bytes().clone()).next()?.ok()?.decode(&mut Decompressor::new(), CrcCheck::Skip).ok()?;
    let found = decoded.iter().find(|record| record.timestamp.as_millis() >= timestamp && record.offset.get() >= start);
    found.map(|record| (record.offset.get(), record.timestamp.as_millis()))
}
