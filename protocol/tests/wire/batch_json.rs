//! Batches as the corpora write them down.

use bytes::Bytes;
use millstream_protocol::record::{
    BatchHeader, ControlKind, ControlRecord, CrcCheck, DecodedBatch, RecordError, RecordView, TimestampType, batches,
};
use millstream_protocol::{Compression, Decompressor};
use serde_json::{Value, json};

/// Keys and values longer than this stand as their length and checksum.
const LONGEST_IN_FULL: usize = 512;

/// All batches of a buffer, and how many bytes belong to one that is cut short.
pub(crate) fn decode(
    records: Bytes,
    decompressor: &mut Decompressor,
) -> Result<(Vec<DecodedBatch>, usize), RecordError> {
    let mut batches = batches(records);
    let decoded =
        batches.by_ref().map(|batch| batch?.decode(decompressor, CrcCheck::Check)).collect::<Result<_, _>>()?;
    Ok((decoded, batches.left_over()))
}

/// A batch as the corpora have it.
pub(crate) fn to_json(batch: &DecodedBatch, size: usize) -> Value {
    let header = batch.header();
    let mut json = json!({
        "base_offset": header.base_offset,
        "last_offset": header.last_offset(),
        "magic": header.magic,
        "size": size,
        "codec": header.compression().map(Compression::name),
        "timestamp_type": timestamp_type(header),
        "max_timestamp": header.max_timestamp,
        "records": batch.iter().map(|record| record_json(header, record)).collect::<Vec<_>>(),
    });
    if header.magic == 2 {
        add_magic_2(&mut json, header);
    }
    json
}

fn add_magic_2(json: &mut Value, header: &BatchHeader) {
    json["crc"] = header.crc.into();
    json["leader_epoch"] = header.leader_epoch.into();
    json["base_timestamp"] = header.base_timestamp.into();
    json["producer_id"] = header.producer_id.into();
    json["producer_epoch"] = header.producer_epoch.into();
    json["base_sequence"] = header.base_sequence.into();
    json["last_sequence"] = header.last_sequence().into();
    json["transactional"] = header.is_transactional().into();
    json["control"] = header.is_control().into();
    json["count"] = header.count.into();
    if let Some(at) = header.delete_horizon() {
        json["delete_horizon_ms"] = at.as_millis().into();
    }
}

fn record_json(header: &BatchHeader, record: RecordView<'_>) -> Value {
    let mut json = json!({
        "offset": record.offset.get(),
        "timestamp": record.timestamp.as_millis(),
        "key": data(record.key),
        "value": data(record.value),
    });
    if header.base_sequence >= 0 {
        let delta = i32::try_from(record.offset.get() - header.base_offset).expect("an int32 on the wire");
        json["sequence"] = header.sequence_at(delta).into();
    }
    if !record.headers.is_empty() {
        json["headers"] = record.headers.iter().map(|header| json!([header.name, header.value.map(hex)])).collect();
    }
    if header.is_control() {
        let control = ControlRecord::read(record.key.unwrap_or_default(), record.value).expect("it was checked");
        json["control_record"] = control_json(control);
    }
    json
}

fn control_json(control: ControlRecord) -> Value {
    let name = match control.kind {
        ControlKind::Abort => "ABORT",
        ControlKind::Commit => "COMMIT",
        ControlKind::LeaderChange => "LEADER_CHANGE",
        ControlKind::SnapshotHeader => "SNAPSHOT_HEADER",
        ControlKind::SnapshotFooter => "SNAPSHOT_FOOTER",
        ControlKind::KraftVersion => "KRAFT_VERSION",
        ControlKind::KraftVoters => "KRAFT_VOTERS",
        _ => "UNKNOWN",
    };
    match control.coordinator_epoch {
        Some(epoch) => json!({ "type": name, "coordinator_epoch": epoch }),
        None => json!({ "type": name }),
    }
}

fn timestamp_type(header: &BatchHeader) -> &'static str {
    match header.timestamp_type() {
        TimestampType::CreateTime => "CreateTime",
        TimestampType::LogAppendTime => "LogAppendTime",
        _ => "NoTimestampType",
    }
}

fn data(bytes: Option<&[u8]>) -> Value {
    match bytes {
        Some(bytes) if bytes.len() > LONGEST_IN_FULL => json!({ "len": bytes.len(), "crc32c": crc32c::crc32c(bytes) }),
        bytes => bytes.map(hex).into(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
