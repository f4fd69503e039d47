//! Message sets of magic 0 and 1, which brokers kept from before 0.11. Read only.
//!
//! An uncompressed message is a batch of its own. A compressed one is a wrapper: its value holds messages. They are turned into magic 2 records once,
//! so that reading knows one format.

use super::RecordError;
use super::batch::CrcCheck;
use super::cursor::Slice;
use super::decoded::DecodedBatch;
use super::header::{BEFORE_LENGTH, BatchHeader, TimestampType};
use super::varint::{Encoding, SLACK};
use super::view::{HeadersView, Parts};
use crate::buffers::Buffer;
use crate::compression::{Compression, CompressionError, Decompressor};
use bytes::Bytes;

const CODEC: i8 = 0x07;
const EMPTY: &str = "a wrapper holds no messages";

/// A message without its offset and length.
#[derive(Debug, Clone, Copy)]
struct Message<'a> {
    crc: u32,
    magic: i8,
    attributes: i8,
    timestamp: i64,
    key: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
    /// What the checksum covers.
    covered: &'a [u8],
}

impl<'a> Message<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = Slice::new(bytes);
        let crc = u32::from_be_bytes(rest.array()?);
        let covered = rest.rest();
        let magic = i8::from_be_bytes(rest.array()?);
        let attributes = i8::from_be_bytes(rest.array()?);
        let timestamp = if magic == 0 { -1 } else { i64::from_be_bytes(rest.array()?) };
        let (key, value) = (nullable(&mut rest)?, nullable(&mut rest)?);
        (rest.left() == 0).then_some(Self { crc, magic, attributes, timestamp, key, value, covered })
    }
}

fn nullable<'a>(rest: &mut Slice<'a>) -> Option<Option<&'a [u8]>> {
    match usize::try_from(i32::from_be_bytes(rest.array()?)) {
        Err(_) => Some(None),
        Ok(length) => Some(Some(rest.take(length)?)),
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
        Some(Compression::None) => {
            let one = std::iter::once(Ok((header.base_offset, message)));
            transcode(header, header.base_offset, &Survey::of(header, one.clone())?, one)
        }
        Some(codec @ (Compression::Gzip | Compression::Snappy | Compression::Lz4)) => {
            let value = message.value.ok_or_else(|| malformed(EMPTY))?;
            let inflated = inflate(codec, header.magic, value, decompressor);
            let inflated =
                inflated.map_err(|source| RecordError::Compression { base_offset: header.base_offset, source })?;
            unwrap(header, &inflated, decompressor.limit())
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

/// Transcodes what a wrapper holds, in two walks: nothing is kept per message. What was inflated and what it becomes may have `limit` bytes together.
///
/// Magic 1 counts offsets from the wrapper's first, and the wrapper bears the last one's.
fn unwrap(header: &BatchHeader, inflated: &[u8], limit: usize) -> Result<DecodedBatch, RecordError> {
    let survey = Survey::of(header, Inner::new(header.magic, inflated, CrcCheck::Check))?;
    if inflated.len().saturating_add(survey.size) > limit {
        return Err(RecordError::TooLarge { base_offset: header.base_offset, limit });
    }
    let first = match header.magic {
        1 => header.base_offset.saturating_sub(i64::from(survey.last_offset_delta)),
        _ => survey.first,
    };
    transcode(header, first, &survey, Inner::new(header.magic, inflated, CrcCheck::Skip))
}

/// The messages in a wrapper, with the offsets that they bear.
struct Inner<'a> {
    magic: i8,
    rest: Slice<'a>,
    crc: CrcCheck,
}

impl<'a> Inner<'a> {
    fn new(magic: i8, inflated: &'a [u8], crc: CrcCheck) -> Self {
        Self { magic, rest: Slice::new(inflated), crc }
    }
    fn one(&mut self) -> Result<(i64, Message<'a>), &'static str> {
        const SHORT: &str = "a message inside the wrapper is cut short";
        let offset = i64::from_be_bytes(self.rest.array().ok_or(SHORT)?);
        let length = usize::try_from(i32::from_be_bytes(self.rest.array().ok_or(SHORT)?))
            .map_err(|_| "a message inside the wrapper has a negative length")?;
        let bytes = self.rest.take(length).ok_or(SHORT)?;
        let message = Message::read(bytes).ok_or("its lengths do not fit together")?;
        if message.magic != self.magic || message.attributes & CODEC != 0 {
            return Err("a message inside the wrapper is of another format, or a wrapper itself");
        }
        if self.crc == CrcCheck::Check && message.crc != crc32fast::hash(message.covered) {
            return Err("its checksum is wrong");
        }
        Ok((offset, message))
    }
}
impl<'a> Iterator for Inner<'a> {
    type Item = Result<(i64, Message<'a>), &'static str>;
    fn next(&mut self) -> Option<Self::Item> {
        (self.rest.left() > 0).then(|| self.one())
    }
}

/// What has to be known of messages before they are transcoded.
struct Survey {
    /// The first one's offset, as it bears it.
    first: i64,
    base_timestamp: i64,
    last_offset_delta: i32,
    count: i32,
    /// Bytes of all of them as magic 2 records.
    size: usize,
}

impl Survey {
    /// Walks all of them, and ends at the first that is malformed.
    fn of<'a>(
        header: &BatchHeader,
        messages: impl Iterator<Item = Result<(i64, Message<'a>), &'static str>>,
    ) -> Result<Self, RecordError> {
        let malformed = |index, what| RecordError::Record { base_offset: header.base_offset, index, what };
        let mut survey: Option<Self> = None;
        for (index, message) in messages.enumerate() {
            let (offset, message) = message.map_err(|what| malformed(index, what))?;
            let survey = survey.get_or_insert(Self::before(offset, message.timestamp));
            survey.add(offset, &message).map_err(|what| malformed(index, what))?;
        }
        let survey = survey.ok_or_else(|| malformed(0, EMPTY))?;
        if survey.last_offset_delta < 0 { Err(malformed(0, "offsets run backwards")) } else { Ok(survey) }
    }
    const fn before(first: i64, base_timestamp: i64) -> Self {
        Self { first, base_timestamp, last_offset_delta: 0, count: 0, size: 0 }
    }
    fn add(&mut self, offset: i64, message: &Message<'_>) -> Result<(), &'static str> {
        self.last_offset_delta = self.delta(offset).ok_or("its offset is too far from the first")?;
        self.count = self.count.checked_add(1).ok_or("there are too many messages")?;
        self.size += self.record(self.last_offset_delta, message).size();
        Ok(())
    }
    fn delta(&self, offset: i64) -> Option<i32> {
        i32::try_from(offset.checked_sub(self.first)?).ok()
    }
    fn record<'a>(&self, offset_delta: i32, message: &Message<'a>) -> Encoding<'a> {
        let timestamp_delta = message.timestamp.wrapping_sub(self.base_timestamp);
        let (key, value, headers) = (message.key, message.value, HeadersView::default());
        Encoding::from(Parts { timestamp_delta, offset_delta, key, value, headers })
    }
}

/// Writes the messages as magic 2 records, once they were surveyed.
fn transcode<'a>(
    header: &BatchHeader,
    base_offset: i64,
    survey: &Survey,
    messages: impl Iterator<Item = Result<(i64, Message<'a>), &'static str>>,
) -> Result<DecodedBatch, RecordError> {
    if base_offset < 0 {
        let what = "its offset is out of range";
        return Err(RecordError::Record { base_offset: header.base_offset, index: 0, what });
    }
    let mut payload = Buffer::with_capacity(survey.size + SLACK);
    for (offset, message) in messages.flatten() {
        // The survey found that all of them have one.
        let Some(delta) = survey.delta(offset) else { break };
        survey.record(delta, &message).put(&mut payload);
    }
    let Survey { base_timestamp, last_offset_delta, count, .. } = *survey;
    debug_assert!(header.timestamp_type() != TimestampType::None || base_timestamp == -1, "magic 0 has no timestamps");
    let decoded = BatchHeader { base_offset, base_timestamp, last_offset_delta, count, ..*header };
    // Messages of old had no headers whose names could need more.
    DecodedBatch::check(decoded, payload.freeze(), 0, 0)
}
