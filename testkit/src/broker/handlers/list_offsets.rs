//! ListOffsets: latest (−1), earliest (−2), newest timestamp (−3), the first record not older than a time. Earliest local (−4), latest tiered
//! (−5) and earliest pending upload (−6) are answered as without tiered storage.
//!
//! Versions 1 to 11. Left out: nothing.

use super::{Handler, counted_by};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::log::batch::Batch;
use crate::broker::log::{Isolation, Log};
use crate::broker::topics::partition::Partition;
use millstream_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use millstream_protocol::messages::list_offsets_response::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
use millstream_protocol::messages::{ListOffsetsRequest, ListOffsetsResponse, TopicName};
use millstream_protocol::{Decompressor, ErrorCode};
use std::collections::BTreeMap;

/// From this version on answers name the epoch.
const EPOCHS_SINCE: i16 = 4;
/// From this version on clients know OFFSET_NOT_AVAILABLE (KIP-207).
const NOT_AVAILABLE_SINCE: i16 = 5;
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const NEWEST_TIMESTAMP: i64 = -3;
const EARLIEST_LOCAL: i64 = -4;
const LATEST_TIERED: i64 = -5;
const EARLIEST_PENDING_UPLOAD: i64 = -6;

pub(super) struct ListOffsets;

/// An offset, the timestamp of its record if that was asked for, and the epoch it was written in.
struct Found {
    offset: i64,
    timestamp: i64,
    epoch: Option<i32>,
}
impl Found {
    const NOTHING: Self = Self { offset: -1, timestamp: -1, epoch: None };
}

impl Handler for ListOffsets {
    type Request = ListOffsetsRequest;
    fn handle(broker: &mut Broker, call: &Call, request: ListOffsetsRequest) -> Answer<ListOffsetsResponse> {
        let isolation = Isolation::from(request.isolation_level);
        let answer = |(topic, partitions): (&TopicName, Vec<Asked<'_>>)| {
            let partitions = partitions.into_iter().map(|(asked, times)| {
                let found = if times > 1 {
                    Err(ErrorCode::INVALID_REQUEST)
                } else {
                    find(broker, call, topic, asked, isolation)
                };
                found.unwrap_or_else(|code| refused(asked.partition_index, code))
            });
            ListOffsetsTopicResponse::default().with_name(topic.clone()).with_partitions(partitions.collect())
        };
        Answer::Reply(ListOffsetsResponse::default().with_topics(by_topic(&request).into_iter().map(answer).collect()))
    }
    fn refuse(request: &ListOffsetsRequest, code: ErrorCode) -> ListOffsetsResponse {
        let topic = |topic: &ListOffsetsTopic| {
            let partitions = topic.partitions.iter().map(|asked| refused(asked.partition_index, code));
            ListOffsetsTopicResponse::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
        };
        ListOffsetsResponse::default().with_topics(request.topics.iter().map(topic).collect())
    }
}

/// A partition that is asked for, and how often.
type Asked<'r> = (&'r ListOffsetsPartition, usize);

/// What is asked for, each partition once: one that comes twice, maybe with two times, is refused. Looking a time up reads a batch.
fn by_topic(request: &ListOffsetsRequest) -> BTreeMap<&TopicName, Vec<Asked<'_>>> {
    let mut topics: BTreeMap<&TopicName, Vec<&ListOffsetsPartition>> = BTreeMap::new();
    for topic in &request.topics {
        topics.entry(&topic.name).or_default().extend(&topic.partitions);
    }
    topics.into_iter().map(|(topic, asked)| (topic, once(&asked))).collect()
}
fn once<'r>(asked: &[&'r ListOffsetsPartition]) -> Vec<Asked<'r>> {
    counted_by(asked, |asked| &asked.partition_index).into_iter().map(|(asked, times)| (*asked, times)).collect()
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
    topic: &TopicName,
    asked: &ListOffsetsPartition,
    isolation: Isolation,
) -> Result<ListOffsetsPartitionResponse, ErrorCode> {
    check_timestamp(asked.timestamp, call.version)?;
    let partition = broker.topics.find(&topic.0).and_then(|topic| topic.partition(asked.partition_index));
    let partition = partition.ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    partition.check_leader(call.node, asked.current_leader_epoch)?;
    let Found { offset, timestamp, epoch } = look(partition, asked.timestamp, isolation, call.version)?;
    let leader_epoch = if offset < 0 || call.version < EPOCHS_SINCE { None } else { epoch };
    let response = ListOffsetsPartitionResponse::default().with_partition_index(asked.partition_index);
    Ok(response.with_timestamp(timestamp).with_offset(offset).with_leader_epoch(leader_epoch.unwrap_or(-1)))
}
/// Each version brought another time that is none.
fn check_timestamp(timestamp: i64, version: i16) -> Result<(), ErrorCode> {
    let since = match timestamp {
        LATEST | EARLIEST | 0.. => 0,
        NEWEST_TIMESTAMP => 7,
        EARLIEST_LOCAL => 8,
        LATEST_TIERED => 9,
        EARLIEST_PENDING_UPLOAD => 11,
        _ => i16::MAX,
    };
    if version >= since { Ok(()) } else { Err(ErrorCode::UNSUPPORTED_VERSION) }
}
fn look(partition: &Partition, timestamp: i64, isolation: Isolation, version: i16) -> Result<Found, ErrorCode> {
    let log = &partition.log;
    let at = |offset: i64, epoch: Option<i32>| Found { offset, timestamp: -1, epoch };
    Ok(match timestamp {
        LATEST => {
            check_available(partition, version)?;
            at(log.bound(isolation), log.latest_epoch())
        }
        EARLIEST | EARLIEST_LOCAL => at(log.start(), log.epoch_at(log.start())),
        NEWEST_TIMESTAMP => newest(log),
        LATEST_TIERED | EARLIEST_PENDING_UPLOAD => at(-1, None),
        timestamp => {
            let found = first_since(log, timestamp, isolation);
            if found.offset < 0 {
                check_available(partition, version)?;
            }
            found
        }
    })
}
/// A new leader does not know how far its log is replicated before its own epoch is (KIP-207).
fn check_available(partition: &Partition, version: i16) -> Result<(), ErrorCode> {
    match version {
        _ if partition.log.high_watermark() >= partition.epoch_start => Ok(()),
        NOT_AVAILABLE_SINCE.. => Err(ErrorCode::OFFSET_NOT_AVAILABLE),
        _ => Err(ErrorCode::LEADER_NOT_AVAILABLE),
    }
}

/// Where the newest time is, even if it was deleted and its segment is still there.
fn newest(log: &Log) -> Found {
    log.newest_batch().and_then(|batch| record_since(batch, batch.max_timestamp, 0)).unwrap_or(Found::NOTHING)
}
/// A marker has a time, too.
fn first_since(log: &Log, timestamp: i64, isolation: Isolation) -> Found {
    let mut candidates = log.batches_below(isolation).filter(|batch| batch.max_timestamp >= timestamp);
    candidates.find_map(|batch| record_since(batch, timestamp, log.start())).unwrap_or(Found::NOTHING)
}
/// The first record of a batch that is not older.
fn record_since(batch: &Batch, timestamp: i64, start: i64) -> Option<Found> {
    let decoded = batch.decode(&mut Decompressor::new()).ok()?;
    let found = decoded.iter().find(|record| record.timestamp.as_millis() >= timestamp && record.offset.get() >= start);
    found.map(|record| Found {
        offset: record.offset.get(),
        timestamp: record.timestamp.as_millis(),
        epoch: Some(batch.leader_epoch),
    })
}
