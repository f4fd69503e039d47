//! A batch whose records were inflated and walked once, and can be read without errors from then on.

use super::control::ControlRecord;
use super::cursor::Slice;
use super::header::{BatchHeader, TimestampType};
use super::view::{self, HeadersView, Parts, RecordView};
use super::{RecordError, names};
use crate::{Offset, Timestamp};
use bytes::Bytes;

/// The fewest bytes that a control record's key has: its version and its type.
const LEAST_CONTROL_KEY: usize = 4;

/// A batch that owns its records, inflated and checked. Cloning shares them.
#[derive(Debug, Clone)]
pub struct DecodedBatch {
    header: BatchHeader,
    payload: Bytes,
    count: usize,
    /// Bytes of all keys and values.
    data_bytes: usize,
}

/// Where reading stands within a [`DecodedBatch`]. Borrows nothing; belongs to the batch that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordCursor {
    at: usize,
    index: usize,
}

impl RecordCursor {
    /// How many records were read.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index
    }
    /// How many bytes of the payload were read.
    #[must_use]
    pub const fn position(self) -> usize {
        self.at
    }
}

impl DecodedBatch {
    /// The header. For a batch of magic 0 or 1 its first and last offset, count and timestamp type are those of the messages inside.
    #[must_use]
    pub const fn header(&self) -> &BatchHeader {
        &self.header
    }
    /// The inflated records; every key, value and header value read from here is a slice of it, so that [`Bytes::slice_ref`] works.
    #[must_use]
    pub const fn payload(&self) -> &Bytes {
        &self.payload
    }
    /// How many records there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }
    /// Whether compaction took them all, or there never were any.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// Bytes of all keys and values together.
    #[must_use]
    pub const fn data_bytes(&self) -> usize {
        self.data_bytes
    }
    /// The offset after this batch: the next one to read, past what compaction took.
    #[must_use]
    pub fn next_offset(&self) -> Offset {
        Offset::new(self.header.last_offset().saturating_add(1))
    }
    /// All records, in order.
    pub const fn iter(&self) -> RecordIter<'_> {
        RecordIter { batch: self, cursor: RecordCursor { at: 0, index: 0 } }
    }
    /// The records from a cursor on.
    pub const fn iter_from(&self, cursor: RecordCursor) -> RecordIter<'_> {
        RecordIter { batch: self, cursor }
    }
    /// All records, the last one first. A record tells its length at its front alone, so this walks them once and remembers where each begins, in one
    /// allocation of sixteen bytes a record.
    ///
    /// # Panics
    ///
    /// Never: what was checked can be read.
    pub fn iter_backwards(&self) -> impl ExactSizeIterator<Item = RecordView<'_>> {
        let mut cursor = self.cursor();
        let mut places = Vec::with_capacity(self.count);
        while cursor.index < self.count {
            places.push(cursor);
            self.next(&mut cursor).expect("the records were walked when the batch was checked");
        }
        let read = |mut place| self.next(&mut place).expect("it was read on the way here");
        places.into_iter().rev().map(read)
    }
    /// A cursor before the first record.
    #[must_use]
    pub const fn cursor(&self) -> RecordCursor {
        RecordCursor { at: 0, index: 0 }
    }
    /// Reads the record at the cursor and moves it on.
    #[inline(always)]
    #[must_use]
    pub fn next<'a>(&'a self, cursor: &mut RecordCursor) -> Option<RecordView<'a>> {
        if cursor.index >= self.count {
            return None;
        }
        let (parts, end) = Parts::read(&self.payload, cursor.at)?;
        cursor.at = end;
        cursor.index += 1;
        Some(self.view(parts))
    }
    /// What the control record in this batch says, if this is a control batch and there is one left.
    #[must_use]
    pub fn control(&self) -> Option<ControlRecord> {
        let record = self.iter().next().filter(|_| self.header.is_control())?;
        ControlRecord::read(record.key?, record.value)
    }

    #[inline(always)]
    fn view<'a>(&self, parts: Parts<'a>) -> RecordView<'a> {
        let timestamp = match self.header.timestamp_type() {
            TimestampType::LogAppendTime => self.header.max_timestamp,
            _ => self.header.base_timestamp.wrapping_add(parts.timestamp_delta),
        };
        RecordView {
            offset: Offset::new(self.header.base_offset.wrapping_add(i64::from(parts.offset_delta))),
            timestamp: Timestamp::from_millis(timestamp),
            key: parts.key,
            value: parts.value,
            headers: parts.headers,
        }
    }

    /// Walks all records once. Where names of headers have to be made readable, that is done within `limit` bytes, of which `inflated` are taken.
    pub(super) fn check(
        header: BatchHeader,
        payload: Bytes,
        limit: usize,
        inflated: usize,
    ) -> Result<Self, RecordError> {
        let near_end = header.base_offset >= i64::MAX - i64::from(i32::MAX);
        let is_control = header.is_control();
        let mut walk = Walk { header: &header, near_end, is_control, data_bytes: 0, names: Names::Utf8 };
        let count = walk.all(&payload)?;
        let (data_bytes, names) = (walk.data_bytes, walk.names);
        let payload = match names {
            Names::Utf8 => payload,
            Names::Broken => names::readable(&payload, count, limit.saturating_sub(inflated))
                .ok_or(RecordError::TooLarge { base_offset: header.base_offset, limit })?,
        };
        Ok(Self { header, payload, count, data_bytes })
    }
}
impl<'a> IntoIterator for &'a DecodedBatch {
    type Item = RecordView<'a>;
    type IntoIter = RecordIter<'a>;
    fn into_iter(self) -> RecordIter<'a> {
        self.iter()
    }
}

/// An iterator over the records of a [`DecodedBatch`].
#[derive(Debug, Clone)]
#[must_use]
pub struct RecordIter<'a> {
    batch: &'a DecodedBatch,
    cursor: RecordCursor,
}
impl RecordIter<'_> {
    /// Where it stands.
    #[must_use]
    pub const fn cursor(&self) -> RecordCursor {
        self.cursor
    }
}
impl<'a> Iterator for RecordIter<'a> {
    type Item = RecordView<'a>;
    #[inline(always)]
    fn next(&mut self) -> Option<RecordView<'a>> {
        self.batch.next(&mut self.cursor)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.batch.count - self.cursor.index;
        (left, Some(left))
    }
}
impl ExactSizeIterator for RecordIter<'_> {}

/// Whether all header names are text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    Utf8,
    Broken,
}

/// The one walk over a batch's records that finds everything that can be wrong with them.
struct Walk<'a> {
    header: &'a BatchHeader,
    /// Whether offsets within an int32 of the first one may be past the last that there is.
    near_end: bool,
    is_control: bool,
    data_bytes: usize,
    names: Names,
}

impl Walk<'_> {
    /// How many records there are.
    fn all(&mut self, payload: &[u8]) -> Result<usize, RecordError> {
        let base_offset = self.header.base_offset;
        let announced = self.header.count;
        let wrong_count = |found| RecordError::Count { base_offset, announced, found };
        let count = usize::try_from(announced).map_err(|_| wrong_count(0))?;
        let mut at = 0;
        for index in 0..count {
            if at >= payload.len() {
                return Err(wrong_count(index));
            }
            let malformed = |what| RecordError::Record { base_offset, index, what };
            let (parts, end) = Parts::read(payload, at).ok_or_else(|| malformed("its lengths do not fit together"))?;
            self.one(&parts).map_err(malformed)?;
            at = end;
        }
        match payload.len() - at {
            0 => Ok(count),
            bytes => Err(RecordError::Trailing { base_offset, bytes }),
        }
    }

    #[inline(always)]
    fn one(&mut self, parts: &Parts<'_>) -> Result<(), &'static str> {
        self.data_bytes += parts.key.map_or(0, <[u8]>::len) + parts.value.map_or(0, <[u8]>::len);
        if parts.offset_delta < 0 || self.near_end {
            self.offset(parts.offset_delta)?;
        }
        if parts.headers.count > 0 || !parts.headers.encoded.is_empty() {
            self.headers(parts.headers)?;
        }
        if self.is_control && parts.key.is_none_or(|key| key.len() < LEAST_CONTROL_KEY) {
            return Err("a control record's key needs a version and a type");
        }
        Ok(())
    }

    #[cold]
    fn offset(&self, delta: i32) -> Result<(), &'static str> {
        let offset = self.header.base_offset.checked_add(i64::from(delta));
        let sound = offset.is_some_and(|offset| (0..i64::MAX).contains(&offset));
        if sound { Ok(()) } else { Err("its offset is out of range") }
    }
    fn headers(&mut self, headers: HeadersView<'_>) -> Result<(), &'static str> {
        let mut rest = Slice::new(headers.encoded);
        for _ in 0..headers.count {
            let (name, _) = view::header(&mut rest).ok_or("its headers do not fit")?;
            if std::str::from_utf8(name).is_err() {
                self.names = Names::Broken;
            }
        }
        if rest.left() == 0 { Ok(()) } else { Err("bytes follow its last header") }
    }
}
