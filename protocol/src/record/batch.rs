//! Cutting a buffer into batches by their headers alone.

use super::decoded::DecodedBatch;
use super::header::{ATTRIBUTES_AT, BEFORE_LENGTH, BatchHeader, SIZE};
use super::{RecordError, legacy};
use crate::compression::{Compression, Decompressor};
use bytes::Bytes;

/// The shortest message of magic 0, without offset and length.
const LEAST_LENGTH: i32 = 14;
const MAGIC_AT: usize = 16;

/// Cuts a buffer of records, as a Fetch response or a Produce request carries it, into its batches. Nothing is copied, inflated or checksummed yet.
///
/// A batch that is cut short at the end, as brokers leave it where a response was full, is not an error: it is [`Batches::left_over`].
pub const fn batches(records: Bytes) -> Batches {
    Batches { records, at: 0, failed: false }
}

/// An iterator over the batches of a buffer. Ends after the first error.
#[derive(Debug, Clone)]
#[must_use]
pub struct Batches {
    records: Bytes,
    at: usize,
    failed: bool,
}

impl Batches {
    /// How many bytes were not part of a whole batch so far; once the iterator has ended, what belongs to a batch cut short.
    #[must_use]
    pub const fn left_over(&self) -> usize {
        self.records.len() - self.at
    }

    fn cut(&mut self) -> Result<Option<Batch>, RecordError> {
        let at = self.at;
        let rest = self.records.get(at..).unwrap_or_default();
        let Some((header, bytes)) = front(rest, at)? else { return Ok(None) };
        self.at += bytes.len();
        Ok(Some(Batch { header, bytes: self.records.slice_ref(bytes) }))
    }
}
impl Iterator for Batches {
    type Item = Result<Batch, RecordError>;
    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let batch = self.cut().transpose()?;
        self.failed = batch.is_err();
        Some(batch)
    }
}

/// The headers of a buffer's batches, each with the bytes of its batch: for whoever wants to know what lies in a log and not read it. Nothing but the headers is
/// looked at, nothing is allocated. It ends where [`batches`] ends: before a batch that is cut short, or after the first error.
///
/// ```
/// use millstream_protocol::{Compressor, Headers, Timestamp};
/// use millstream_protocol::record::{BatchBuilder, Stamp, headers};
/// let mut builder = BatchBuilder::new();
/// builder.append(Timestamp::from_millis(5), None, Some(b"value"), &Headers::new())?;
/// let log = builder.seal(&mut Compressor::none())?.to_bytes(&Stamp::plain().at(40, 2));
/// let (header, bytes) = headers(&log).next().expect("one batch")?;
/// assert_eq!((header.base_offset, header.leader_epoch, header.count, bytes.len()), (40, 2, 1, log.len()));
/// # Ok::<(), millstream_protocol::record::RecordError>(())
/// ```
pub fn headers(records: &[u8]) -> impl Iterator<Item = Result<(BatchHeader, &[u8]), RecordError>> {
    let (mut at, mut failed) = (0, false);
    std::iter::from_fn(move || {
        let rest = records.get(at..).filter(|_| !failed)?;
        let found = front(rest, at).transpose()?;
        failed = found.is_err();
        at += found.as_ref().map_or(0, |(_, bytes)| bytes.len());
        Some(found)
    })
}

/// The batch at the front, and its header. None where it is cut short. `at` is for errors.
fn front(rest: &[u8], at: usize) -> Result<Option<(BatchHeader, &[u8])>, RecordError> {
    let Some(size) = whole_size(rest, at)? else { return Ok(None) };
    let Some(bytes) = rest.get(..size) else { return Ok(None) };
    let header =
        if bytes.get(MAGIC_AT) == Some(&2) { read_header(bytes, at)? } else { legacy::read_header(bytes, at)? };
    Ok(Some((header, bytes)))
}

/// The size of the batch at the front, its offset and length included. None where too little of it is there to tell.
fn whole_size(rest: &[u8], at: usize) -> Result<Option<usize>, RecordError> {
    let Some(length) = rest.get(8..).and_then(<[u8]>::first_chunk) else { return Ok(None) };
    let length = i32::from_be_bytes(*length);
    let wrong = RecordError::Length { at, length };
    if length < LEAST_LENGTH {
        return Err(wrong);
    }
    let Some(&magic) = rest.get(MAGIC_AT) else { return Ok(None) };
    let magic = magic.cast_signed();
    if !(0..=2).contains(&magic) {
        return Err(RecordError::Magic { at, magic });
    }
    let whole = length.checked_add(12).and_then(|size| usize::try_from(size).ok());
    whole.map(Some).ok_or(wrong)
}

fn read_header(bytes: &[u8], at: usize) -> Result<BatchHeader, RecordError> {
    let too_short =
        || RecordError::Length { at, length: i32::try_from(bytes.len() - BEFORE_LENGTH).unwrap_or(i32::MAX) };
    let header = BatchHeader::read(bytes).ok_or_else(too_short)?;
    let last = header.base_offset.checked_add(i64::from(header.last_offset_delta));
    // What holds no records may end before it begins, but no further.
    let least_delta = if header.count == 0 { -1 } else { 0 };
    // Kafka takes such batches; a reader would never get past them.
    if header.base_offset < 0 || header.last_offset_delta < least_delta || last.is_none_or(|last| last == i64::MAX) {
        return Err(RecordError::Offsets {
            base_offset: header.base_offset,
            last_offset_delta: header.last_offset_delta,
        });
    }
    Ok(header)
}

/// Whether a batch's checksum is computed when it is decoded (`check.crcs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a question with two answers")]
pub enum CrcCheck {
    /// It is, and a batch that fails is refused.
    Check,
    /// It is not: somebody did so before, or nobody cares.
    Skip,
}

/// One batch: its header, read, and its bytes, not yet looked at. Cloning shares the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    header: BatchHeader,
    bytes: Bytes,
}

impl Batch {
    /// The header.
    #[must_use]
    pub const fn header(&self) -> &BatchHeader {
        &self.header
    }
    /// The whole batch, header included.
    #[must_use]
    pub const fn bytes(&self) -> &Bytes {
        &self.bytes
    }
    /// How many bytes it has, header included.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.bytes.len()
    }
    fn from(&self, at: usize) -> &[u8] {
        self.bytes.get(at..).unwrap_or_default()
    }
    /// Computes the checksum and compares.
    ///
    /// # Errors
    ///
    /// [`RecordError::Crc`] where they differ.
    pub fn check_crc(&self) -> Result<(), RecordError> {
        let computed = match self.header.magic {
            2 => crc32c::crc32c(self.from(ATTRIBUTES_AT)),
            _ => crc32fast::hash(self.from(MAGIC_AT)),
        };
        let (base_offset, stored) = (self.header.base_offset, self.header.crc);
        if computed == stored { Ok(()) } else { Err(RecordError::Crc { base_offset, stored, computed }) }
    }
    /// Checks, inflates and walks the batch, once. Uncompressed records stay where they are; nothing is copied.
    ///
    /// # Errors
    ///
    /// The checksum differs, the codec is unknown or not compiled in, the data is corrupt or inflates past the limit, or a record is malformed.
    pub fn decode(&self, decompressor: &mut Decompressor, crc: CrcCheck) -> Result<DecodedBatch, RecordError> {
        if crc == CrcCheck::Check {
            self.check_crc()?;
        }
        if self.header.magic < 2 {
            return legacy::decode(&self.header, &self.bytes, decompressor);
        }
        let base_offset = self.header.base_offset;
        let payload = match self.header.compression() {
            None => return Err(RecordError::Codec { base_offset, id: self.header.codec_id() }),
            Some(Compression::None) => self.bytes.slice_ref(self.from(SIZE)),
            Some(codec) => {
                let inflated = decompressor.decompress(codec, self.from(SIZE));
                inflated.map_err(|source| RecordError::Compression { base_offset, source })?
            }
        };
        let inflated = if self.header.compression() == Some(Compression::None) { 0 } else { payload.len() };
        DecodedBatch::check(self.header, payload, decompressor.limit(), inflated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::checksum::Checksummed;

    fn read(count: i32, last_offset_delta: i32) -> Option<RecordError> {
        let header = BatchHeader { magic: 2, base_offset: 40, count, last_offset_delta, ..BatchHeader::empty() };
        let bytes = Bytes::copy_from_slice(&header.write(Checksummed::of(&[])));
        batches(bytes).next().expect("it is whole").err()
    }

    #[test]
    fn a_batch_without_records_ends_at_most_one_before_its_first_offset() {
        assert_eq!([read(0, 0), read(0, -1), read(1, 0)], [None, None, None]);
        for (count, last_offset_delta) in [(0, -2), (0, i32::MIN), (1, -1)] {
            let error = RecordError::Offsets { base_offset: 40, last_offset_delta };
            assert_eq!(read(count, last_offset_delta), Some(error));
        }
    }
}
