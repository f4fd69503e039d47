//! Message sets of magic 0 and 1, which brokers kept from before 0.11. Read only.
//!
//! An uncompressed message is a batch of its own. A compressed one is a wrapper: its value holds messages. They are turned into magic 2 records once,
//! so that reading knows one format.

use super::RecordError;
use super::cursor::Slice;
use super::decoded::DecodedBatch;
use super::header::{BEFORE_LENGTH, BatchHeader, TimestampType};
use super::varint::Encoding;
use super::view::{HeadersView, Parts};
use crate::buffers::Buffer;
use crate::compression::{Compression, CompressionError, Decompressor};
use bytes::Bytes;

const CODEC: i8 = 0x07;
/// Bytes of the checksum, which covers what follows it.
const CRC_SIZE: usize = 4;

/// A message without its offset and length.
#[derive(Debug, Clone, Copy)]
struct Message<'a> {
    crc: u32,
    magic: i8,
    attributes: i8,
    timestamp: i64,
    key: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
}

impl<'a> Message<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = Slice::new(bytes);
        let crc = u32::from_be_bytes(rest.array()?);
        let magic = i8::from_be_bytes(rest.array()?);
        let attributes = i8::from_be_bytes(rest.array()?);
        let timestamp = if magic == 0 { -1 } else { i64::from_be_bytes(rest.array()?) };
        let (key, value) = (nullable(&mut rest)?, nullable(&mut rest)?);
        (rest.left() == 0).then_some(Self { crc, magic, attributes, timestamp, key, value })
    }
}

fn nullable<'a>(rest: &mut Slice<'a>) -> Option<Option<&'a [u8]>> {
    match i32::from_be_bytes(rest.array()?) {
        -1 => Some(None),
        length => Some(Some(rest.take(usize::try_from(length).ok()?)?)),
    }
}

/// Reads the header of a message that is all there.
pub(super) fn read_header(bytes: &[u8], at: usize) -> Result<BatchHeader, RecordError> {
    let too_short =
        || RecordError::Length { at, length: i32::try_from(bytes.len() - BEFORE_LENGTH).unwrap_or(i32::MAX) };
    let mut rest = Slice::new(bytes);
    let offset = rest.array().map(i64::from_be_bytes).ok_or_else(too_short)?;
    rest.array::<4>().ok_or_else(too_short)?;
    let crc = rest.array().map(u32::from_be_bytes).ok_or_else(too_short)?;
    let magic = rest.array().map(i8::from_be_bytes).ok_or_else(too_short)?;
    let attributes = rest.array().map(i8::from_be_bytes).ok_or_else(too_short)?;
    let timestamp = if magic == 0 { -1 } else { rest.array().map(i64::from_be_bytes).ok_or_else(too_short)? };
    if !(0..i64::MAX).contains(&offset) {
        return Err(RecordError::Offsets { base_offset: offset, last_offset_delta: 0 });
    }
    // Bits past these mean other things in magic 2.
    let attributes = i16::from(attributes & 0x0f);
    Ok(BatchHeader {
        base_offset: offset,
        magic,
        crc,
        attributes,
        base_timestamp: timestamp,
        max_timestamp: timestamp,
        last_offset_delta: 0,
        count: -1,
        ..BatchHeader::empty()
    })
}

/// Turns a message, or the messages in a wrapper, into a decoded batch.
pub(super) fn decode(
    header: &BatchHeader,
    bytes: &[u8],
    decompressor: &mut Decompressor,
) -> Result<DecodedBatch, RecordError> {
    let malformed = |what| RecordError::Record { base_offset: header.base_offset, index: 0, what };
    let message = bytes
        .get(BEFORE_LENGTH..)
        .and_then(Message::read)
        .ok_or_else(|| malformed("its lengths do not fit together"))?;
    match header.compression() {
        Some(Compression::None) => transcode(header, &[(header.base_offset, message)]),
        Some(codec @ (Compression::Gzip | Compression::Snappy | Compression::Lz4)) => {
            let value = message.value.ok_or_else(|| malformed("a wrapper holds no messages"))?;
            let inflated = inflate(codec, header.magic, value, decompressor);
            let inflated =
                inflated.map_err(|source| RecordError::Compression { base_offset: header.base_offset, source })?;
            transcode(header, &inner(header, &inflated)?)
        }
        _ => Err(RecordError::Codec { base_offset: header.base_offset, id: header.codec_id() }),
    }
}

fn inflate(
    codec: Compression,
    magic: i8,
    value: &[u8],
    decompressor: &mut Decompressor,
) -> Result<Bytes, CompressionError> {
    if magic == 0 && codec == Compression::Lz4 {
        decompressor.decompress_old_lz4(value)
    } else {
        decompressor.decompress(codec, value)
    }
}

/// The messages in a wrapper, with their offsets. Magic 1 counts them from the wrapper's first, and the wrapper bears the last one's.
fn inner<'a>(header: &BatchHeader, inflated: &'a [u8]) -> Result<Vec<(i64, Message<'a>)>, RecordError> {
    let mut rest = Slice::new(inflated);
    let mut messages = Vec::new();
    while rest.left() > 0 {
        let malformed = |what| RecordError::Record { base_offset: header.base_offset, index: messages.len(), what };
        let message = one_inner(header.magic, &mut rest).map_err(malformed)?;
        messages.push(message);
    }
    let malformed = |what| RecordError::Record { base_offset: header.base_offset, index: messages.len(), what };
    let Some(&(last, _)) = messages.last() else { return Err(malformed("a wrapper holds no messages")) };
    if header.magic == 1 {
        let base = header.base_offset.checked_sub(last).ok_or_else(|| malformed("its offset is out of range"))?;
        messages.iter_mut().for_each(|(offset, _)| *offset = offset.wrapping_add(base));
    }
    Ok(messages)
}

fn one_inner<'a>(magic: i8, rest: &mut Slice<'a>) -> Result<(i64, Message<'a>), &'static str> {
    const SHORT: &str = "a message inside the wrapper is cut short";
    let offset = i64::from_be_bytes(rest.array().ok_or(SHORT)?);
    let length = usize::try_from(i32::from_be_bytes(rest.array().ok_or(SHORT)?))
        .map_err(|_| "a message inside the wrapper has a negative length")?;
    let bytes = rest.take(length).ok_or(SHORT)?;
    let message = Message::read(bytes).ok_or("its lengths do not fit together")?;
    if message.magic != magic || message.attributes & CODEC != 0 {
        return Err("a message inside the wrapper is of another format, or a wrapper itself");
    }
    if message.crc != crc32fast::hash(bytes.get(CRC_SIZE..).unwrap_or_default()) {
        return Err("its checksum is wrong");
    }
    Ok((offset, message))
}

fn transcode(header: &BatchHeader, messages: &[(i64, Message<'_>)]) -> Result<DecodedBatch, RecordError> {
    let malformed = |index, what| RecordError::Record { base_offset: header.base_offset, index, what };
    let (Some(&(first, Message { timestamp: base_timestamp, .. })), Some(&(last, _))) =
        (messages.first(), messages.last())
    else {
        return Err(malformed(0, "a wrapper holds no messages"));
    };
    if first < 0 {
        return Err(malformed(0, "its offset is out of range"));
    }
    let mut payload = Buffer::new();
    for (index, (offset, message)) in messages.iter().enumerate() {
        let offset_delta = offset
            .checked_sub(first)
            .and_then(|delta| i32::try_from(delta).ok())
            .ok_or_else(|| malformed(index, "its offset is too far from the first"))?;
        let timestamp_delta = message.timestamp.wrapping_sub(base_timestamp);
        let (key, value, headers) = (message.key, message.value, HeadersView::default());
        Encoding::from(Parts { timestamp_delta, offset_delta, key, value, headers }).put(&mut payload);
    }
    let count = i32::try_from(messages.len()).map_err(|_| malformed(0, "there are too many messages"))?;
    let last_offset_delta = i32::try_from(last.wrapping_sub(first))
        .ok()
        .filter(|delta| *delta >= 0)
        .ok_or_else(|| malformed(0, "offsets run backwards"))?;
    debug_assert!(header.timestamp_type() != TimestampType::None || base_timestamp == -1, "magic 0 has no timestamps");
    let decoded = BatchHeader { base_offset: first, base_timestamp, last_offset_delta, count, ..*header };
    DecodedBatch::check(decoded, payload.freeze())
}
