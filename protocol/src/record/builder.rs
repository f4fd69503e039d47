//! Encoding records straight into the batch that carries them.

use super::RecordError;
use super::header::{BatchHeader, DELETE_HORIZON, SIZE};
use super::sealed::SealedBatch;
use super::varint::{Encoding, MOST_LONG, Writer, size_length, size_nullable};
use super::view::{HeadersView, RecordView};
use crate::buffers::{Buffer, BufferPool};
use crate::compression::{Compression, Compressor};
use crate::{Header, Headers, Timestamp};
use bytes::Bytes;

/// The most data that a batch may have: its length is an int32, and a record takes a little more than its data.
const MOST_BYTES: usize = i32::MAX as usize - 64;

/// Room for the header and a few small records.
const LEAST_BYTES: usize = 512;

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
    #[inline]
    pub(super) fn size(self) -> usize {
        match self {
            Self::List(headers) if headers.is_empty() => 1,
            Self::List(headers) => size_of_list(headers),
            Self::Encoded(view) => size_length(view.count) + view.encoded.len(),
        }
    }
    pub(super) fn write(self, mut out: Writer<'_>) {
        match self {
            Self::List(headers) => {
                out.length(headers.len());
                for header in headers.iter() {
                    out.nullable(Some(header.name.as_bytes()));
                    out.nullable(header.value);
                }
            }
            Self::Encoded(view) => {
                out.length(view.count);
                out.slice(view.encoded);
            }
        }
    }
}

fn size_of_list(headers: &Headers) -> usize {
    let size = |header: Header<'_>| size_nullable(Some(header.name.as_bytes())) + size_nullable(header.value);
    size_length(headers.len()) + headers.iter().map(size).sum::<usize>()
}

/// A batch that is being filled. Records lie encoded in one buffer that grows; nothing is kept per record.
#[derive(Debug)]
#[must_use]
pub struct BatchBuilder {
    /// Room for the header, then the records.
    buffer: Buffer,
    /// Where the buffer came from, and goes.
    pool: Option<BufferPool>,
    header: BatchHeader,
}

impl BatchBuilder {
    /// An empty one.
    pub fn new() -> Self {
        Self::with_capacity(LEAST_BYTES)
    }
    /// An empty one with room for `bytes` of batch, header included.
    pub fn with_capacity(bytes: usize) -> Self {
        Self::with_buffer(Buffer::with_capacity(bytes.max(LEAST_BYTES)), None)
    }
    /// An empty one with room for `bytes` of batch, in memory that a batch of the same pool does not need any more, if there is some.
    pub fn pooled(pool: &BufferPool, bytes: usize) -> Self {
        let bytes = bytes.max(LEAST_BYTES);
        let mut buffer = pool.take(bytes);
        if buffer.capacity() < bytes {
            buffer = Buffer::with_capacity(bytes);
        }
        Self::with_buffer(buffer, Some(pool.clone()))
    }
    fn with_buffer(mut buffer: Buffer, pool: Option<BufferPool>) -> Self {
        buffer.extend_from_slice(&[0; SIZE]);
        Self { buffer, pool, header: BatchHeader::empty() }
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
        let timestamp = timestamp.as_millis();
        let timestamp_delta = timestamp.wrapping_sub(self.base_timestamp(timestamp));
        let record = Encoding::new(timestamp_delta, offset_delta, key, value, headers.into());
        let bytes = record.data_size();
        if bytes > MOST_BYTES - self.buffer.len() || self.header.count == i32::MAX {
            return Err(RecordError::Full { bytes, size: self.buffer.len() });
        }
        record.put(&mut self.buffer);
        self.count_in(offset_delta, timestamp);
        Ok(offset_delta)
    }

    /// Appends a record that was read, at its own offset in a batch whose first offset is `base_offset`: for logs that are compacted and proxies that filter.
    ///
    /// # Errors
    ///
    /// [`RecordError::Full`], or [`RecordError::Record`]: its offset is not one of such a batch. Nothing was appended.
    pub fn append_record(&mut self, base_offset: i64, record: &RecordView<'_>) -> Result<i32, RecordError> {
        let delta = record.offset.get().checked_sub(base_offset).and_then(|delta| i32::try_from(delta).ok());
        let Some(offset_delta) = delta.filter(|delta| *delta > self.header.last_offset_delta) else {
            let index = usize::try_from(self.header.count).unwrap_or(0);
            let what = "its offset is not behind the record before it, or too far from the first";
            return Err(RecordError::Record { base_offset, index, what });
        };
        self.append_at(offset_delta, record.timestamp, record.key, record.value, record.headers)
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
        let Self { buffer, pool, header } = self;
        let deflated = match compressor.codec() {
            Compression::None => None,
            _ => Some(deflate(&buffer, header.count, compressor)?),
        };
        let plain = match pool {
            Some(pool) => pool.lend(buffer),
            None => buffer.freeze(),
        };
        Ok(SealedBatch::new(header, deflated.unwrap_or(plain)))
    }

    const fn base_timestamp(&mut self, first: i64) -> i64 {
        if self.header.count == 0 && self.header.attributes & DELETE_HORIZON == 0 {
            self.header.base_timestamp = first;
        }
        self.header.base_timestamp
    }
    #[inline(always)]
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

fn deflate(buffer: &Buffer, count: i32, compressor: &mut Compressor) -> Result<Bytes, RecordError> {
    let records = buffer.filled().get(SIZE..).unwrap_or_default();
    let deflated = compressor.compress_after(SIZE, records);
    deflated.map_err(|source| RecordError::Deflate { count: usize::try_from(count).unwrap_or(0), source })
}
