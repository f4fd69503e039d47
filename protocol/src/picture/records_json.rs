//! Record batches as JSON: the header's fields by Kafka's names, keys and values in base64.

use super::json::Json;
use super::records::MOST_INFLATED;
use crate::guard::{Value, Visit};
use crate::record::{BatchHeader, CrcCheck, DecodedBatch, RecordError, RecordView, TimestampType, batches};
use crate::{Compression, Decompressor};
use bytes::Bytes;

/// Writes all whole batches, and how many bytes are left over.
pub(super) fn write(buffer: &[u8], json: &mut Json) -> Result<(), RecordError> {
    let mut found = batches(Bytes::copy_from_slice(buffer));
    let mut decompressor = Decompressor::with_limit(MOST_INFLATED);
    json.open_struct();
    json.field("batches", 0);
    json.open_array(0);
    for batch in found.by_ref() {
        let batch = batch?;
        let decoded = batch.decode(&mut decompressor, CrcCheck::Check)?;
        write_batch(&decoded, batch.size(), json);
    }
    json.close_array();
    int(json, "leftOver", i64::try_from(found.left_over()).unwrap_or(i64::MAX));
    json.close_struct();
    Ok(())
}

/// Bytes of whole batches.
pub(super) fn length(buffer: &[u8]) -> Result<usize, RecordError> {
    batches(Bytes::copy_from_slice(buffer)).try_fold(0, |length, batch| Ok(length + batch?.size()))
}

fn write_batch(decoded: &DecodedBatch, size: usize, json: &mut Json) {
    let header = decoded.header();
    json.open_struct();
    int(json, "baseOffset", header.base_offset);
    int(json, "lastOffset", header.last_offset());
    int(json, "magic", header.magic.into());
    int(json, "size", i64::try_from(size).unwrap_or(i64::MAX));
    put(json, "codec", Value::Text(header.compression().map_or("unknown", Compression::name).as_bytes()));
    put(json, "timestampType", Value::Text(timestamp_type(header).as_bytes()));
    int(json, "maxTimestamp", header.max_timestamp);
    int(json, "crc", header.crc.into());
    if header.magic >= 2 {
        write_magic_2(header, json);
    }
    json.field("records", 0);
    json.open_array(decoded.len());
    decoded.iter().for_each(|record| write_record(&record, json));
    json.close_array();
    json.close_struct();
}

fn write_magic_2(header: &BatchHeader, json: &mut Json) {
    int(json, "partitionLeaderEpoch", header.leader_epoch.into());
    int(json, "baseTimestamp", header.base_timestamp);
    int(json, "producerId", header.producer_id);
    int(json, "producerEpoch", header.producer_epoch.into());
    int(json, "baseSequence", header.base_sequence.into());
    put(json, "transactional", Value::Bool(header.is_transactional()));
    put(json, "control", Value::Bool(header.is_control()));
    if let Some(at) = header.delete_horizon() {
        int(json, "deleteHorizonMs", at.as_millis());
    }
}

fn write_record(record: &RecordView<'_>, json: &mut Json) {
    json.open_struct();
    int(json, "offset", record.offset.get());
    int(json, "timestamp", record.timestamp.as_millis());
    put(json, "key", record.key.map_or(Value::Null, Value::Bytes));
    put(json, "value", record.value.map_or(Value::Null, Value::Bytes));
    json.field("headers", 0);
    json.open_array(record.headers.len());
    for header in record.headers.iter() {
        json.open_struct();
        put(json, "key", Value::Text(header.name.as_bytes()));
        put(json, "value", header.value.map_or(Value::Null, Value::Bytes));
        json.close_struct();
    }
    json.close_array();
    json.close_struct();
}

fn timestamp_type(header: &BatchHeader) -> &'static str {
    match header.timestamp_type() {
        TimestampType::CreateTime => "CreateTime",
        TimestampType::LogAppendTime => "LogAppendTime",
        TimestampType::None => "NoTimestampType",
    }
}

fn int(json: &mut Json, name: &'static str, value: i64) {
    put(json, name, Value::Int(value));
}

fn put(json: &mut Json, name: &'static str, value: Value<'_>) {
    json.field(name, 0);
    json.put(value);
}
