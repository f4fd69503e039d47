//! Produce, Fetch, ListOffsets, OffsetForLeaderEpoch, DeleteRecords.

use crate::Step;
use crate::chance::Chance;
use crate::ids::{Ids, OWN_PRODUCERS};
use crate::pair::{Kind, Pair};
use bytes::Bytes;
use millstream_protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use millstream_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use millstream_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use millstream_protocol::messages::offset_for_leader_epoch_request::{OffsetForLeaderPartition, OffsetForLeaderTopic};
use millstream_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use millstream_protocol::messages::{
    DeleteRecordsRequest, FetchRequest, FetchResponse, ListOffsetsRequest, OffsetForLeaderEpochRequest, ProduceRequest,
    ProduceResponse, RecordData, StrBytes, TopicName,
};
use millstream_protocol::record::{BatchBuilder, CrcCheck, Stamp, batches};
use millstream_protocol::{
    ApiKey, Compression, Compressor, Decompressor, Headers, ProducerEpoch, ProducerId, Timestamp,
};

/// Topics that [`crate::admin::prepare`] makes, and one that is not there.
pub(crate) const TOPICS: &[&str] =
    &["plain", "compacted", "append-time", "small", "late", "recoded", "plain", "plain", "missing"];

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![
        (ApiKey::PRODUCE, produce),
        (ApiKey::PRODUCE, produce_idempotent),
        (ApiKey::FETCH, fetch),
        (ApiKey::LIST_OFFSETS, list_offsets),
        (ApiKey::OFFSET_FOR_LEADER_EPOCH, offset_for_leader_epoch),
        (ApiKey::DELETE_RECORDS, delete_records),
    ]
}

pub(crate) fn text(value: &str) -> StrBytes {
    StrBytes::from_string(value.to_owned())
}
/// Mostly partitions that there are.
pub(crate) fn partition(chance: &mut Chance) -> i32 {
    *chance.pick(&[0, 0, 0, 1, 1, 2, 7, -1])
}

fn records(chance: &mut Chance, now: i64, stamp: &Stamp) -> Bytes {
    let codec = *chance.pick(&[
        Compression::None,
        Compression::None,
        Compression::Gzip,
        Compression::Snappy,
        Compression::Lz4,
        Compression::Zstd,
    ]);
    let mut builder = BatchBuilder::new();
    let (count, has_keys) = (1 + chance.below(3), chance.below(4) != 0);
    for at in 0..count {
        let far = if chance.once_in(12) { *chance.pick(&[7_200_000, -7_200_000, 90_000_000]) } else { 0 };
        let time = if chance.once_in(20) { -1 } else { now + far + i64::try_from(at).expect("small") };
        let longest = if chance.once_in(10) { 400 } else { 20 };
        let value = "v".repeat(1 + chance.below(longest));
        let key = format!("k{}", chance.below(4));
        let key = has_keys.then_some(key.as_bytes());
        let value = (!chance.once_in(6)).then_some(value.as_bytes());
        builder.append(Timestamp::from_millis(time), key, value, &Headers::new()).expect("it fits");
    }
    let mut compressor = Compressor::new(codec, None).expect("a codec");
    builder.seal(&mut compressor).expect("it compresses").to_bytes(stamp)
}
/// A batch for whoever wants to know why it was refused.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
/// Makes a batch wrong in one of many ways; some leave its checksum right.
fn spoil(chance: &mut Chance, good: &Bytes) -> Bytes {
    let mut bytes = good.to_vec();
    let reseal = |bytes: &mut Vec<u8>| {
        let crc = crc32c::crc32c(&bytes[21..]);
        bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    };
    match chance.below(16) {
        0 => *bytes.last_mut().expect("bytes") ^= 1,
        1 => bytes.truncate(bytes.len() - 1),
        2 => bytes.clear(),
        3 => bytes.extend_from_slice(good),
        4 => bytes[7] = 3,
        5 => bytes[16] = *chance.pick(&[0, 1, 3]),
        6 => {
            bytes[22] |= 0x20;
            reseal(&mut bytes);
        }
        7 => {
            bytes[60] = bytes[60].wrapping_add(1);
            reseal(&mut bytes);
        }
        8 => {
            bytes[22] = (bytes[22] & !7) | *chance.pick(&[5, 6, 7, 1]);
            reseal(&mut bytes);
        }
        9 => {
            bytes[26] = bytes[26].wrapping_add(1);
            reseal(&mut bytes);
        }
        10 => {
            bytes[22] |= 0x08;
            reseal(&mut bytes);
        }
        11 => bytes.extend_from_slice(&[0, 1, 2]),
        12 => bytes.extend_from_slice(&[0; 20]),
        13 => bytes[11] = 13,
        14 => {
            bytes[42] = bytes[42].wrapping_add(9);
            reseal(&mut bytes);
        }
        _ => {
            let at = 61 + chance.below(bytes.len() - 61);
            bytes[at] ^= 0x10;
            reseal(&mut bytes);
        }
    }
    Bytes::from(bytes)
}

pub(crate) fn produce_request(
    topic: &str,
    index: i32,
    acks: i16,
    id: Option<&str>,
    records: &Bytes,
    ids: &Ids,
) -> ProduceRequest {
    let data =
        PartitionProduceData { index, records: RecordData::from(records.clone()), ..PartitionProduceData::default() };
    let topic_data = TopicProduceData {
        name: topic.into(),
        topic_id: ids.topic(topic),
        partition_data: vec![data],
        ..TopicProduceData::default()
    };
    ProduceRequest {
        transactional_id: id.map(text),
        acks,
        timeout_ms: 5000,
        topic_data: vec![topic_data],
        ..ProduceRequest::default()
    }
}
pub(crate) fn tidy_produce(response: &mut ProduceResponse, ids: &mut Ids) {
    for topic in &mut response.responses {
        topic.topic_id = ids.tidy(topic.topic_id);
        for partition in &mut topic.partition_responses {
            partition.log_append_time_ms = partition.log_append_time_ms.min(1);
            partition.error_message = partition.error_message.as_deref().map(without_times);
            for error in &mut partition.record_errors {
                error.batch_index_error_message = error.batch_index_error_message.as_deref().map(without_times);
            }
        }
    }
}
/// A sentence without the times in it.
fn without_times(message: &str) -> StrBytes {
    let mut out = String::new();
    for word in message.split_inclusive(|c: char| !c.is_ascii_digit()) {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        if digits >= 12 { out.extend(word.chars().filter(|c| !c.is_ascii_digit())) } else { out.push_str(word) }
    }
    StrBytes::from_string(out)
}

fn produce(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::PRODUCE);
    let version = chance.version(min, max);
    let (topic, index) = (*chance.pick(TOPICS), partition(chance));
    let good = records(chance, pair.now, &Stamp::plain());
    let bytes = if chance.once_in(3) { spoil(chance, &good) } else { good };
    let acks = *chance.pick(&[-1, -1, -1, 1, 1, 2, -2]);
    pair.carries = hex(&bytes);
    pair.ask(Kind::Writes, version, |ids| produce_request(topic, index, acks, None, &bytes, ids), tidy_produce);
}
/// A producer of the test's own making: its sequences run on, repeat, and leave gaps.
fn produce_idempotent(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::PRODUCE);
    let version = chance.version(min, max);
    let topic = *chance.pick(&["plain", "append-time"]);
    let id = OWN_PRODUCERS + i64::try_from(chance.below(3)).expect("small");
    let epoch = *chance.pick(&[0, 0, 0, 0, 1, 2]);
    let sequence = *chance.pick(&[0, 0, 1, 2, 3, 4, 5, 6, 7, -1, i32::MAX]);
    let mut builder = BatchBuilder::new();
    for _ in 0..*chance.pick(&[1, 1, 2]) {
        builder.append(Timestamp::from_millis(pair.now), None, Some(b"v"), &Headers::new()).expect("it fits");
    }
    let stamp = Stamp::idempotent(ProducerId::new(id), ProducerEpoch::new(epoch), sequence);
    let bytes = builder.seal(&mut Compressor::none()).expect("no codec, no error").to_bytes(&stamp);
    pair.carries = hex(&bytes);
    pair.ask(Kind::Writes, version, |ids| produce_request(topic, 0, -1, None, &bytes, ids), tidy_produce);
}

fn fetch(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::FETCH);
    let version = chance.version(min, max);
    let (topic, index) = (*chance.pick(TOPICS), partition(chance));
    let fetch_offset = *chance.pick(&[0, 0, 1, 2, 5, 10, 20, 1000, -1]);
    let partition = FetchPartition {
        partition: index,
        fetch_offset,
        current_leader_epoch: if version >= 9 { *chance.pick(&[-1, -1, -1, 0, 0, 1, 5]) } else { -1 },
        last_fetched_epoch: if version >= 12 { *chance.pick(&[-1, -1, -1, 0, 3]) } else { -1 },
        partition_max_bytes: *chance.pick(&[1 << 20, 1 << 20, 100, 0]),
        ..FetchPartition::default()
    };
    let isolation_level = *chance.pick(&[0, 1]);
    let max_bytes = *chance.pick(&[1 << 20, 1 << 20, 150]);
    let make = |ids: &Ids| {
        let topic = FetchTopic {
            topic: topic.into(),
            topic_id: ids.topic(topic),
            partitions: vec![partition.clone()],
            ..FetchTopic::default()
        };
        FetchRequest {
            max_wait_ms: 0,
            max_bytes,
            isolation_level,
            topics: vec![topic],
            session_epoch: -1,
            ..FetchRequest::default()
        }
    };
    pair.ask(Kind::Reads, version, make, tidy_fetch);
}
pub(crate) fn tidy_fetch(response: &mut FetchResponse, ids: &mut Ids) {
    for topic in &mut response.responses {
        topic.topic_id = ids.tidy(topic.topic_id);
        for partition in &mut topic.partitions {
            let bytes = partition.records.clone().into_bytes().unwrap_or_default();
            // Kafka names also those that begin after what it sends, as far as the next entry of its index, one for four thousand bytes. Readers
            // look at none of these.
            if let Some(last) = batches(bytes.clone()).map_while(Result::ok).last() {
                let last = last.header().base_offset + i64::from(last.header().last_offset_delta);
                let aborted = partition.aborted_transactions.iter_mut();
                aborted.for_each(|aborted| aborted.retain(|aborted| aborted.first_offset <= last));
            }
            partition.records = RecordData::from(Bytes::from(tell(bytes, ids)));
            for aborted in partition.aborted_transactions.iter_mut().flatten() {
                aborted.producer_id = ids.tidy_producer(aborted.producer_id);
            }
        }
    }
}
/// Batches as text.
fn tell(bytes: Bytes, ids: &mut Ids) -> String {
    let mut told = String::new();
    for batch in batches(bytes).map_while(Result::ok) {
        let header = *batch.header();
        let decoded = batch.decode(&mut Decompressor::new(), CrcCheck::Check).expect("a batch that Kafka stored");
        told += &format!(
            "[{}+{} term {} attributes {} producer {}/{} from {}:",
            header.base_offset,
            header.last_offset_delta,
            header.leader_epoch,
            header.attributes,
            ids.tidy_producer(header.producer_id),
            header.producer_epoch,
            header.base_sequence
        );
        for record in decoded.iter() {
            let show =
                |part: Option<&[u8]>| part.map_or("null".to_owned(), |part| String::from_utf8_lossy(part).into_owned());
            told += &format!(
                " {}={}",
                show(record.key),
                if header.is_control() { "marker".to_owned() } else { show(record.value) }
            );
        }
        told.push(']');
    }
    told
}

fn list_offsets(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::LIST_OFFSETS);
    let version = chance.version(min, max);
    let (topic, index) = (*chance.pick(TOPICS), partition(chance));
    let timestamp =
        *chance.pick(&[-1, -1, -2, -2, -3, -4, -5, -6, -7, 0, pair.now, pair.now + 1, pair.now + 7_200_000, i64::MAX]);
    let asked = ListOffsetsPartition::default()
        .with_partition_index(index)
        .with_timestamp(timestamp)
        .with_current_leader_epoch(if version >= 4 { *chance.pick(&[-1, -1, 0, 4]) } else { -1 });
    let isolation = if version >= 2 { *chance.pick(&[0, 1]) } else { 0 };
    let now = pair.now;
    let topic = ListOffsetsTopic::default().with_name(TopicName(text(topic))).with_partitions(vec![asked]);
    let request = ListOffsetsRequest::default()
        .with_replica_id((-1).into())
        .with_topics(vec![topic])
        .with_isolation_level(isolation);
    pair.ask(
        Kind::Reads,
        version,
        |_| request.clone(),
        |response, _| {
            for partition in response.topics.iter_mut().flat_map(|topic| &mut topic.partitions) {
                // Of the log's own time, or of a marker.
                if topic_has_own_time(&request) || is_of_run(partition.timestamp - now) {
                    partition.timestamp = partition.timestamp.min(1);
                }
            }
        },
    );
}
/// No record is given a time like this.
fn is_of_run(since_start_ms: i64) -> bool {
    (10..7_000_000).contains(&since_start_ms)
}
fn topic_has_own_time(request: &ListOffsetsRequest) -> bool {
    request.topics.iter().any(|topic| topic.name.0.as_str() == "append-time")
}

fn offset_for_leader_epoch(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::OFFSET_FOR_LEADER_EPOCH);
    let version = chance.version(min, max);
    let asked = OffsetForLeaderPartition::default()
        .with_partition(partition(chance))
        .with_current_leader_epoch(*chance.pick(&[-1, 0, 0, 3]))
        .with_leader_epoch(*chance.pick(&[-1, 0, 0, 1, 9]));
    ask_leader_epoch(pair, version, chance.word(TOPICS), asked);
}
pub(crate) fn ask_leader_epoch(pair: &mut Pair, version: i16, topic: &str, asked: OffsetForLeaderPartition) {
    let topic = OffsetForLeaderTopic::default().with_topic(TopicName(text(topic)));
    let request = OffsetForLeaderEpochRequest::default()
        .with_replica_id((-1).into())
        .with_topics(vec![topic.with_partitions(vec![asked])]);
    pair.ask(Kind::Reads, version, |_| request.clone(), |_, _| {});
}

fn delete_records(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::DELETE_RECORDS);
    let version = chance.version(min, max);
    let asked = DeleteRecordsPartition::default()
        .with_partition_index(partition(chance))
        .with_offset(*chance.pick(&[0, 1, 2, 3, 5, -1, -2, 100_000]));
    let topic =
        DeleteRecordsTopic::default().with_name(TopicName(text(chance.word(TOPICS)))).with_partitions(vec![asked]);
    let request = DeleteRecordsRequest::default().with_timeout_ms(5000).with_topics(vec![topic]);
    pair.ask(Kind::Writes, version, |_| request.clone(), |_, _| {});
}
