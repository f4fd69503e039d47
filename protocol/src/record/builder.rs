//! Encoding records straight into the batch that carries them.

use super::RecordError;
use super::header::{BatchHeader, DELETE_HORIZON, SIZE};
use super::sealed::SealedBatch;
use super::varint::{Front, MOST_LONG, put_length, size_int, size_length, size_long};
use super::view::{HeadersView, Parts};
use crate::compression::Compressor;
use crate::{Headers, Timestamp};

/// The most that a batch may have: its length is an int32.
const MOST_BYTES: usize = i32::MAX as usize;

/// The length −1.
const NULL: u8 = 1;

/// Headers to be written: a record's own, or those of a record that was read.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum HeaderList<'a> {
    /// A list.
    List(&'a Headers),
    /// As they lie in another batch; copied as they are.
    Encoded(HeadersView<'a>),
}
impl<'a> From<&'a Headers> for HeaderList<'a> {
    fn from(headers: &'a Headers) -> Self {
        Self::List(headers)
    }
}
impl<'a> From<HeadersView<'a>> for HeaderList<'a> {
    fn from(headers: HeadersView<'a>) -> Self {
        Self::Encoded(headers)
    }
}
impl HeaderList<'_> {
    fn size(self) -> usize {
        match self {
            Self::List(headers) if headers.is_empty() => 1,
            Self::List(headers) => {
                size_length(headers.len())
                    + headers
                        .iter()
                        .map(|header| size_bytes(header.name.as_bytes()) + size_nullable(header.value))
                        .sum::<usize>()
            }
            Self::Encoded(view) => size_length(view.count) + view.encoded.len(),
        }
    }
    fn put(self, out: &mut Vec<u8>) {
        match self {
            Self::List(headers) if headers.is_empty() => out.push(0),
            Self::List(headers) => {
                put_length(out, headers.len());
                headers.iter().for_each(|header| put_header(out, header.name, header.value));
            }
            Self::Encoded(view) => {
                put_length(out, view.count);
                out.extend_from_slice(view.encoded);
            }
        }
    }
}

/// A batch that is being filled. Records lie encoded in one buffer that grows; nothing is kept per record.
#[derive(Debug)]
#[must_use]
pub struct BatchBuilder {
    /// Room for the header, then the records.
    buffer: Vec<u8>,
    header: BatchHeader,
}

impl BatchBuilder {
    /// An empty one.
    pub fn new() -> Self {
        Self::with_buffer(Vec::new())
    }
    /// An empty one with room for `bytes` of batch, header included.
    pub fn with_capacity(bytes: usize) -> Self {
        Self::with_buffer(Vec::with_capacity(bytes))
    }
    /// An empty one that uses this buffer's memory again.
    pub fn with_buffer(mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        buffer.resize(SIZE, 0);
        Self { buffer, header: BatchHeader::empty() }
    }
    /// Marks the batch as one that compaction may drop from `at` on. To be called before the first record.
    pub const fn with_delete_horizon(mut self, at: Timestamp) -> Self {
        self.header.attributes |= DELETE_HORIZON;
        self.header.base_timestamp = at.as_millis();
        self
    }

    /// Appends a record and tells its place in the batch, from 0.
    ///
    /// # Errors
    ///
    /// [`RecordError::Full`]: the batch would pass 2 GiB. Nothing was appended.
    pub fn append<'a>(
        &mut self,
        timestamp: Timestamp,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: impl Into<HeaderList<'a>>,
    ) -> Result<i32, RecordError> {
        let offset_delta = self.header.last_offset_delta.saturating_add(1);
        self.append_at(offset_delta, timestamp, key, value, headers)
    }

    /// Appends a record at a place of its own choosing, past a gap: for logs that are written, not for producers.
    ///
    /// # Errors
    ///
    /// [`RecordError::Full`]: the batch would pass 2 GiB. Nothing was appended.
    pub fn append_at<'a>(
        &mut self,
        offset_delta: i32,
        timestamp: Timestamp,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: impl Into<HeaderList<'a>>,
    ) -> Result<i32, RecordError> {
        let (headers, timestamp) = (headers.into(), timestamp.as_millis());
        let timestamp_delta = timestamp.wrapping_sub(self.base_timestamp(timestamp));
        let body = 1
            + size_long(timestamp_delta)
            + size_int(offset_delta)
            + size_nullable(key)
            + size_nullable(value)
            + headers.size();
        let bytes = body + size_length(body);
        if bytes > MOST_BYTES - self.buffer.len() || self.header.count == i32::MAX {
            return Err(RecordError::Full { bytes, size: self.buffer.len() });
        }
        self.buffer.reserve(bytes + Front::SIZE);
        put_data(&mut self.buffer, front(body, timestamp_delta, offset_delta), key, value);
        headers.put(&mut self.buffer);
        self.count_in(offset_delta, timestamp);
        Ok(offset_delta)
    }

    /// Says that the batch reaches further than its last record, as compaction leaves it.
    pub fn reach(&mut self, last_offset_delta: i32) {
        self.header.last_offset_delta = self.header.last_offset_delta.max(last_offset_delta);
    }
    /// How many records there are.
    #[must_use]
    pub const fn count(&self) -> i32 {
        self.header.count
    }
    /// Whether there are no records.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.header.count == 0
    }
    /// How many bytes the batch has so far, header included, before compression.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.buffer.len()
    }
    /// The most bytes that a record can add to a batch: for asking whether it still fits.
    #[must_use]
    pub fn upper_bound<'a>(key: Option<&[u8]>, value: Option<&[u8]>, headers: impl Into<HeaderList<'a>>) -> usize {
        // Length, attributes, both deltas.
        const FRONT: usize = 5 + 1 + MOST_LONG + 5;
        FRONT + size_nullable(key) + size_nullable(value) + headers.into().size()
    }
    /// Compresses and checksums what was appended. What remains for [`SealedBatch::stamp`] does not depend on the batch's size.
    ///
    /// # Errors
    ///
    /// [`RecordError::Deflate`]: the codec failed.
    pub fn seal(mut self, compressor: &mut Compressor) -> Result<SealedBatch, RecordError> {
        self.header.set_compression(compressor.codec());
        let buffer = if compressor.codec() == crate::Compression::None {
            self.buffer
        } else {
            deflate(&self.buffer, self.header.count, compressor)?
        };
        Ok(SealedBatch::new(self.header, buffer))
    }

    const fn base_timestamp(&mut self, first: i64) -> i64 {
        if self.header.count == 0 && self.header.attributes & DELETE_HORIZON == 0 {
            self.header.base_timestamp = first;
        }
        self.header.base_timestamp
    }
    fn count_in(&mut self, offset_delta: i32, timestamp: i64) {
        let header = &mut self.header;
        header.max_timestamp = if header.count == 0 { timestamp } else { header.max_timestamp.max(timestamp) };
        header.last_offset_delta = header.last_offset_delta.max(offset_delta);
        header.count += 1;
    }
}
impl Default for BatchBuilder {
    fn default() -> Self {
        Self::new()
    }
}

fn deflate(buffer: &[u8], count: i32, compressor: &mut Compressor) -> Result<Vec<u8>, RecordError> {
    let mut out = vec![0; SIZE];
    let deflated = compressor.compress(&buffer[SIZE..], &mut out);
    deflated.map_err(|source| RecordError::Deflate { count: usize::try_from(count).unwrap_or(0), source })?;
    Ok(out)
}

/// Length, attributes and both deltas.
#[inline]
fn front(body: usize, timestamp_delta: i64, offset_delta: i32) -> Front {
    let mut front = Front::new();
    front.count(body);
    front.byte(0);
    front.long(timestamp_delta);
    front.long(i64::from(offset_delta));
    front
}
/// Appends what was begun, key and value.
#[inline]
fn put_data(out: &mut Vec<u8>, mut front: Front, key: Option<&[u8]>, value: Option<&[u8]>) {
    if let Some(key) = key {
        front.count(key.len());
        front.put(out);
        out.extend_from_slice(key);
        front = Front::new();
    } else {
        front.byte(NULL);
    }
    match value {
        Some(value) => {
            front.count(value.len());
            front.put(out);
            out.extend_from_slice(value);
        }
        None => {
            front.byte(NULL);
            front.put(out);
        }
    }
}

/// Appends a whole record whose headers are encoded already.
pub(super) fn put_record(out: &mut Vec<u8>, parts: &Parts<'_>) {
    let headers = HeaderList::Encoded(parts.headers);
    let body = 1
        + size_long(parts.timestamp_delta)
        + size_int(parts.offset_delta)
        + size_nullable(parts.key)
        + size_nullable(parts.value)
        + headers.size();
    put_data(out, front(body, parts.timestamp_delta, parts.offset_delta), parts.key, parts.value);
    headers.put(out);
}
/// Appends a header.
pub(super) fn put_header(out: &mut Vec<u8>, name: &str, value: Option<&[u8]>) {
    put_nullable(out, Some(name.as_bytes()));
    put_nullable(out, value);
}

fn put_nullable(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    match bytes {
        None => out.push(NULL),
        Some(bytes) => {
            put_length(out, bytes.len());
            out.extend_from_slice(bytes);
        }
    }
}
const fn size_bytes(bytes: &[u8]) -> usize {
    size_length(bytes.len()) + bytes.len()
}
const fn size_nullable(bytes: Option<&[u8]>) -> usize {
    match bytes {
        None => 1,
        Some(bytes) => size_bytes(bytes),
    }
}
