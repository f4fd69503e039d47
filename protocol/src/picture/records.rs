//! Record batches as lines.

use super::lines::{Lines, Origin, counted, data};
use super::opened::{Hints, Log};
use super::outline::{self, Place};
use crate::embedded::{ControlBody, ControlRecordTypeSchema, Embedded};
use crate::guard::Shape;
use crate::record::{Batch, BatchHeader, ControlKind, CrcCheck, DecodedBatch, RecordView, TimestampType, batches};
use crate::{Compression, Decompressor};
use bytes::Bytes;

/// What a batch may inflate to, drawn or as JSON; more is an error in the picture.
pub(super) const MOST_INFLATED: usize = 16 << 20;

/// The fields of a batch's header: name and bytes.
const HEADER: &[(&str, usize)] = &[
    ("baseOffset", 8),
    ("batchLength", 4),
    ("partitionLeaderEpoch", 4),
    ("magic", 1),
    ("crc", 4),
    ("attributes", 2),
    ("lastOffsetDelta", 4),
    ("baseTimestamp", 8),
    ("maxTimestamp", 8),
    ("producerId", 8),
    ("producerEpoch", 2),
    ("baseSequence", 4),
    ("recordCount", 4),
];
/// The same of a message of magic 1; magic 0 has no timestamp.
const MESSAGE: &[(&str, usize)] =
    &[("offset", 8), ("messageSize", 4), ("crc", 4), ("magic", 1), ("attributes", 1), ("timestamp", 8)];

/// Draws the batches of a buffer, up to what is wrong with them.
pub(super) fn draw(buffer: &[u8], origin: Origin, path: &str, hints: Hints<'_>, lines: &mut Lines) {
    let mut found = batches(Bytes::copy_from_slice(buffer));
    let mut decompressor = Decompressor::with_limit(MOST_INFLATED);
    let mut at = 0;
    for index in 0.. {
        let path = join(path, &format!("batch[{index}]"));
        let rest = buffer.get(at..).unwrap_or_default();
        match found.next() {
            None if found.left_over() > 0 => {
                let what = format!("{path}: cut short after {}", counted(rest.len(), "byte"));
                return lines.push(origin.plus(at), rest, &what);
            }
            None => return,
            Some(Err(error)) => return lines.wrong(Some(origin.plus(at)), rest, &error.to_string()),
            Some(Ok(_)) if index == lines.extent.elements() => {
                return lines.note(&format!("{path} and further on: not shown, {}", counted(rest.len(), "byte")));
            }
            Some(Ok(batch)) => {
                Drawing { origin: origin.plus(at), path: &path, hints, lines }.batch(&batch, &mut decompressor);
                at += batch.size();
            }
        }
    }
}

struct Drawing<'a, 'l> {
    origin: Origin,
    path: &'a str,
    hints: Hints<'a>,
    lines: &'l mut Lines,
}

impl Drawing<'_, '_> {
    fn batch(&mut self, batch: &Batch, decompressor: &mut Decompressor) {
        let header = batch.header();
        let fields = match header.magic {
            2 => HEADER,
            1 => MESSAGE,
            _ => MESSAGE.get(..5).unwrap_or(MESSAGE),
        };
        let header_size = self.header(batch, fields);
        if let Err(error) = batch.check_crc() {
            self.lines.wrong(None, &[], &error.to_string());
        }
        let compressed = header.codec_id() != 0;
        if compressed {
            let bytes = batch.bytes().get(header_size..).unwrap_or_default();
            let what = format!("{}: {}, compressed", self.path, counted(bytes.len(), "byte"));
            self.lines.push(self.origin.plus(header_size), bytes, &what);
        }
        match batch.decode(decompressor, CrcCheck::Skip) {
            Err(error) => self.lines.wrong(None, &[], &error.to_string()),
            Ok(decoded) if header.magic == 2 && !compressed => self.records(&decoded, self.origin.plus(header_size)),
            Ok(decoded) => self.records(&decoded, Origin::Inflated(0)),
        }
    }

    /// Returns the header's length.
    fn header(&mut self, batch: &Batch, fields: &[(&str, usize)]) -> usize {
        let mut at = 0;
        for (name, size) in fields {
            let bytes = batch.bytes().get(at..at + size).unwrap_or_default();
            let value = match *name {
                "crc" => format!("{:#010x}", batch.header().crc),
                "attributes" => format!("{}{}", number(bytes), attributes(batch.header())),
                _ => number(bytes).to_string(),
            };
            self.lines.push(self.origin.plus(at), bytes, &format!("{}.{name} = {value}", self.path));
            at += size;
        }
        at
    }

    fn records(&mut self, decoded: &DecodedBatch, payload: Origin) {
        let mut cursor = decoded.cursor();
        for index in 0.. {
            let start = cursor.position();
            let Some(record) = decoded.next(&mut cursor) else { return };
            let path = format!("{}.record[{index}]", self.path);
            if index == self.lines.extent.elements() {
                let left = decoded.len().saturating_sub(index);
                return self.lines.note(&format!("{path} and further on: not shown, {}", counted(left, "record")));
            }
            let bytes = decoded.payload().get(start..cursor.position()).unwrap_or_default();
            let what = format!("{path}: offset {}, timestamp {}", record.offset, record.timestamp.as_millis());
            self.lines.push(payload.plus(start), bytes, &what);
            Record { path, payload, decoded, hints: self.hints, lines: self.lines }.draw(&record);
        }
    }
}

struct Record<'a, 'l> {
    path: String,
    payload: Origin,
    decoded: &'a DecodedBatch,
    hints: Hints<'a>,
    lines: &'l mut Lines,
}

impl Record<'_, '_> {
    fn draw(&mut self, record: &RecordView<'_>) {
        let shapes = self.shapes(record);
        self.part("key", record.key, shapes.map(|(key, _)| key));
        self.part("value", record.value, shapes.and_then(|(_, value)| value));
        for (index, header) in record.headers.iter().enumerate() {
            let value = header.value.map_or_else(|| "null".to_owned(), |value| data(value, self.lines.extent));
            let name = data(header.name.as_bytes(), self.lines.extent);
            let what = format!("{}.headers[{index}] {name} = {value}", self.path);
            self.push(header.value.unwrap_or_default(), &what);
        }
    }

    /// What key and value hold, where the batch or the topic says so.
    fn shapes(&self, record: &RecordView<'_>) -> Option<(&'static Shape, Option<&'static Shape>)> {
        let key = record.key?;
        if self.decoded.header().is_control() {
            let kind = ControlKind::from_id(i16::from_be_bytes(*key.get(2..)?.first_chunk()?));
            return Some((ControlRecordTypeSchema::SCHEMA.shape, ControlBody::shape(kind)));
        }
        self.hints.log().and_then(|log: Log| log.shapes(key)).map(|(key, value)| (key, Some(value)))
    }

    fn part(&mut self, name: &str, bytes: Option<&[u8]>, shape: Option<&'static Shape>) {
        let path = format!("{}.{name}", self.path);
        let Some(bytes) = bytes else { return self.lines.note(&format!("{path} = null")) };
        let Some(shape) = shape else {
            let value = if bytes.is_empty() { "empty".to_owned() } else { data(bytes, self.lines.extent) };
            return self.push(bytes, &format!("{path} = {value}"));
        };
        self.push(bytes, &format!("{path}: {}, {}", counted(bytes.len(), "byte"), shape.name));
        // Keys have one version, after the type; values their version, which the Raft's have as their first field.
        let first = bytes.first_chunk().copied().map_or(0, i16::from_be_bytes);
        let (version, prefix) = match name {
            "key" => (0, 2),
            _ if ControlBody::has_no_prefix(shape) => (first, 0),
            _ => (first, 2),
        };
        let Some(body) = bytes.get(prefix..) else {
            return self.lines.wrong(self.origin_of(bytes), bytes, "too short for a version");
        };
        let origin = self.origin_of(body).unwrap_or(Origin::Inflated(0));
        outline::draw(Place { shape, version, bytes: body, origin, path: &path, hints: self.hints }, self.lines);
    }

    fn push(&mut self, bytes: &[u8], what: &str) {
        match self.origin_of(bytes) {
            Some(origin) => self.lines.push(origin, bytes, what),
            None => self.lines.note(what),
        }
    }
    /// Where a part of the payload is; none for what is empty or a copy.
    fn origin_of(&self, part: &[u8]) -> Option<Origin> {
        let payload = self.decoded.payload();
        let start = part.as_ptr().addr().checked_sub(payload.as_ptr().addr())?;
        (!part.is_empty() && start.checked_add(part.len())? <= payload.len()).then(|| self.payload.plus(start))
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Signed, of up to eight bytes.
fn number(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|byte| *byte >= 0x80);
    bytes.iter().fold(if negative { -1 } else { 0 }, |value, byte| (value << 8) | i64::from(*byte))
}

fn attributes(header: &BatchHeader) -> String {
    let codec = header
        .compression()
        .map_or_else(|| format!("codec {}", header.codec_id()), |codec| codec_name(codec).to_owned());
    let time = match header.timestamp_type() {
        TimestampType::LogAppendTime => Some("LogAppendTime"),
        TimestampType::CreateTime => Some("CreateTime"),
        TimestampType::None => None,
    };
    let flags = [
        time,
        header.is_transactional().then_some("transactional"),
        header.is_control().then_some("control"),
        header.delete_horizon().map(|_| "delete horizon"),
    ];
    let flags = flags.into_iter().flatten().fold(codec, |text, flag| text + ", " + flag);
    format!(" ({flags})")
}

fn codec_name(codec: Compression) -> &'static str {
    if codec == Compression::None { "not compressed" } else { codec.name() }
}
