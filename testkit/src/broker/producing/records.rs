//! What a producer's batch must be (Kafka's `ProduceRequest.validateRecords`, `UnifiedLog.append` and `LogValidator`), and what the topic's
//! options make of it.

use super::{Refusal, broken_gzip, fields};
use crate::broker::log::batch::{Batch, ZSTD};
use crate::broker::topics::topic::Topic;
use millstream_protocol::record::{BatchBuilder, DecodedBatch, RecordError, RecordView, TimestampType};
use millstream_protocol::{Compression, Compressor, Decompressor, ErrorCode};

/// From this version of Produce on there is zstd (KIP-110).
const ZSTD_SINCE: i16 = 7;
/// Kafka names no more records than this in the batch's own message.
const NAMED_ERRORS: usize = 3;
/// What a record without a time has.
const NO_TIMESTAMP: i64 = -1;

/// What a topic asks of its records.
#[derive(Debug, Clone)]
pub(crate) struct RecordRules {
    name: String,
    max_message_bytes: usize,
    has_append_time: bool,
    is_compacted: bool,
    before_max_ms: i64,
    after_max_ms: i64,
    codec: Option<Compression>,
    level: Option<i32>,
}
impl RecordRules {
    pub(crate) fn of(topic: &Topic, partition: i32) -> Self {
        let number = |name: &str| topic.config(name).parse().unwrap_or(i64::MAX);
        let codec = codec_named(topic.config("compression.type"));
        Self {
            name: format!("{}-{partition}", topic.name),
            max_message_bytes: topic.max_message_bytes(),
            has_append_time: topic.has_append_time(),
            is_compacted: topic.is_compacted(),
            before_max_ms: number("message.timestamp.before.max.ms"),
            after_max_ms: number("message.timestamp.after.max.ms"),
            level: codec.and_then(|codec| level_of(topic, codec)),
            codec,
        }
    }
    /// Whether records get the broker's time.
    pub(crate) fn has_append_time(&self) -> bool {
        self.has_append_time
    }
}
fn codec_named(name: &str) -> Option<Compression> {
    match name {
        "producer" => None,
        "uncompressed" => Some(Compression::None),
        other => Compression::ALL.into_iter().find(|codec| codec.name() == other),
    }
}
fn level_of(topic: &Topic, codec: Compression) -> Option<i32> {
    let level: i32 = topic.config(&format!("compression.{}.level", codec.name())).parse().ok()?;
    let (least, most) = codec.levels()?;
    (least..=most).contains(&level).then_some(level)
}

/// Checks the batch that a producer sent for a partition, and rewrites it where the topic wants another codec or the producer gave it times
/// that are not its records'.
pub(crate) fn accept(
    batch: Batch,
    now: i64,
    rules: &RecordRules,
    decompressor: &mut Decompressor,
) -> Result<Batch, Refusal> {
    check_header(&batch, rules)?;
    batch.check_crc()?;
    if batch.codec_id() > ZSTD {
        return Err(Refusal::of_log(ErrorCode::UNKNOWN_SERVER_ERROR));
    }
    check_counts(&batch)?;
    let reading = Reading::of(&batch, rules);
    let decoded = match batch.decode(decompressor) {
        Ok(decoded) => decoded,
        Err(error) => {
            let is_inflated = !matches!(error, RecordError::Compression { .. });
            let may_pass = is_inflated && reading == Reading::Skipping;
            let skimmed = may_pass.then(|| fields::skim(&batch, decompressor)).flatten();
            skimmed.ok_or_else(|| Refusal::of_log(code_of(&error, &batch, reading)))?
        }
    };
    let latest = check_records(&decoded, now, rules, reading.name())?;
    match rules.codec {
        Some(codec) if codec.id() != batch.codec_id() => recode(&batch, &decoded, codec, rules),
        _ if rules.has_append_time => Ok(batch),
        _ => Ok(batch.under_create_time(latest)),
    }
}
/// Whether a version of Produce may bring the batch's codec. Kafka looks for zstd in requests of clients that cannot know it, and stumbles
/// there over a codec that nobody knows; in others it does so later.
pub(crate) fn check_codec_known(batch: &Batch, version: i16) -> Result<(), ErrorCode> {
    match batch.codec_id() {
        ZSTD if version < ZSTD_SINCE => Err(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE),
        0..=ZSTD => Ok(()),
        _ if version < ZSTD_SINCE => Err(ErrorCode::UNKNOWN_SERVER_ERROR),
        _ => Ok(()),
    }
}
/// Records that do not inflate are an error of which Kafka knows no more than that something failed.
fn code_of(error: &RecordError, batch: &Batch, reading: Reading) -> ErrorCode {
    match error {
        RecordError::Compression { .. } if batch.codec_id() == Compression::Gzip.id() => {
            broken_gzip::code(batch, reading)
        }
        RecordError::Compression { .. } => ErrorCode::UNKNOWN_SERVER_ERROR,
        _ => ErrorCode::INVALID_RECORD,
    }
}
fn check_header(batch: &Batch, rules: &RecordRules) -> Result<(), Refusal> {
    if batch.base_offset != 0 {
        return Err(Refusal::of_log(ErrorCode::INVALID_RECORD));
    }
    if batch.size() > rules.max_message_bytes {
        return Err(ErrorCode::MESSAGE_TOO_LARGE.into());
    }
    Ok(())
}
fn check_counts(batch: &Batch) -> Result<(), Refusal> {
    let is_dense = batch.count >= 1 && batch.last_offset_delta.checked_add(1) == Some(batch.count);
    if is_dense && !batch.is_control() && (!batch.has_producer() || batch.base_sequence >= 0) {
        return Ok(());
    }
    Err(Refusal::of_log(ErrorCode::INVALID_RECORD))
}

/// How Kafka reads records: those that stay compressed as they are without their keys and values, and tells so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Whole,
    Skipping,
}
impl Reading {
    fn of(batch: &Batch, rules: &RecordRules) -> Self {
        let stays = rules.codec.is_none_or(|codec| codec.id() == batch.codec_id());
        if stays && batch.codec_id() != Compression::None.id() { Self::Skipping } else { Self::Whole }
    }
    fn name(self) -> &'static str {
        match self {
            Self::Whole => "DefaultRecord",
            Self::Skipping => "PartialDefaultRecord",
        }
    }
}
fn describe(record: &RecordView<'_>, name: &str) -> String {
    let unknown = if name == "DefaultRecord" { 0 } else { -1 };
    let size = |part: Option<&[u8]>| part.map_or(unknown, |part| i64::try_from(part.len()).unwrap_or(i64::MAX));
    let (key, value) = (size(record.key), size(record.value));
    let (offset, time) = (record.offset, record.timestamp.as_millis());
    format!("{name}(offset={offset}, timestamp={time}, key={key} bytes, value={value} bytes)")
}
/// Checks the records, and finds the largest time of theirs.
fn check_records(decoded: &DecodedBatch, now: i64, rules: &RecordRules, name: &str) -> Result<i64, Refusal> {
    let sets_append_time = decoded.header().timestamp_type() == TimestampType::LogAppendTime;
    let wrong_key = |record: &RecordView<'_>| {
        let reason = || format!("Compacted topic cannot accept message without key in topic partition {}", rules.name);
        (rules.is_compacted && record.key.is_none()).then(reason)
    };
    let wrong_time = |record: &RecordView<'_>| {
        let time = record.timestamp.as_millis();
        // Under `CreateTime` Kafka asks whether the time is right, and only where there is none whose it is to be.
        if rules.has_append_time || time == NO_TIMESTAMP {
            let reason = || {
                let record = describe(record, name);
                format!(
                    "Invalid timestamp type in message {record}. Producer should not set timestamp type to LogAppendTime."
                )
            };
            return sets_append_time.then(reason);
        }
        let is_wrong = now.saturating_sub(time) > rules.before_max_ms || time.saturating_sub(now) > rules.after_max_ms;
        is_wrong.then(|| {
            let (from, to) = (now.wrapping_sub(rules.before_max_ms), now.wrapping_add(rules.after_max_ms));
            let offset = record.offset;
            format!(
                "Timestamp {time} of message with offset {offset} is out of range. The timestamp should be within [{from}, {to}]"
            )
        })
    };
    let mut errors = Vec::new();
    let mut is_about_time = None;
    let mut latest = NO_TIMESTAMP;
    for (index, record) in (0..).zip(decoded.iter()) {
        latest = latest.max(record.timestamp.as_millis());
        let (key, time) = (wrong_key(&record), wrong_time(&record));
        if let Some(reason) = key.clone().or(time) {
            is_about_time.get_or_insert(key.is_none());
            errors.push((index, reason));
        }
    }
    is_about_time.map_or(Ok(latest), |is_about_time| Err(records_refused(errors, is_about_time)))
}
fn records_refused(errors: Vec<(i32, String)>, is_about_time: bool) -> Refusal {
    if is_about_time {
        let message = "One or more records have been rejected due to invalid timestamp";
        return Refusal::of_log(ErrorCode::INVALID_TIMESTAMP).with_message(message).with_records(errors);
    }
    let named = errors.iter().take(NAMED_ERRORS);
    let named: Vec<String> =
        named.map(|(index, message)| format!("RecordError(batchIndex={index}, message='{message}')")).collect();
    let message = format!(
        "One or more records have been rejected due to {} record errors in total, and only showing the first three errors at most: [{}]",
        errors.len(),
        named.join(", ")
    );
    Refusal::of_log(ErrorCode::INVALID_RECORD).with_message(message).with_records(errors)
}

/// The same records under another codec.
fn recode(batch: &Batch, decoded: &DecodedBatch, codec: Compression, rules: &RecordRules) -> Result<Batch, Refusal> {
    let unusable = |_| Refusal::from(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE);
    let mut compressor = Compressor::new(codec, rules.level).map_err(unusable)?;
    let mut builder = BatchBuilder::with_capacity(decoded.payload().len());
    for record in decoded.iter() {
        let headers = record.headers.to_headers(decoded.payload());
        let appended = builder.append(record.timestamp, record.key, record.value, &headers);
        appended.map_err(|_| Refusal::from(ErrorCode::MESSAGE_TOO_LARGE))?;
    }
    let sealed = builder.seal(&mut compressor).map_err(|_| Refusal::of_log(ErrorCode::UNKNOWN_SERVER_ERROR))?;
    let recoded = Batch::parse(&sealed.into_bytes(&batch.stamp()))?;
    if recoded.size() > rules.max_message_bytes {
        return Err(ErrorCode::MESSAGE_TOO_LARGE.into());
    }
    Ok(recoded)
}
