//! Which of two codes a batch gets whose gzip data are broken. Kafka reads records while it inflates, so that it depends on what it meets with
//! first: a record that is none (INVALID_RECORD), or the place from where nothing inflates (no more than that something failed).

use super::fields::{HEADER, Stop, read};
use super::records::Reading;
use crate::broker::log::batch::Batch;
use flate2::{Decompress, FlushDecompress, Status};
use millstream_protocol::{Decompressor, ErrorCode};

/// How much Kafka inflates at once: what went wrong within is noticed before the records in it are looked at.
const CHUNK: usize = 16 << 10;
/// That of a member of a gzip stream, without what its flags add.
const MEMBER: [u8; 3] = [0x1f, 0x8b, 8];
const MEMBER_LEN: usize = 10;
const EXTRA: u8 = 0x04;
const NAME: u8 = 0x08;
const COMMENT: u8 = 0x10;

/// Why there is no more to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The data, or the checksum after them, are wrong, or there is more than anybody may have inflated.
    Failed,
    /// They are cut short.
    Short,
}
/// The code of a batch that does not inflate.
pub(super) fn code(batch: &Batch, reading: Reading) -> ErrorCode {
    let bytes = batch.to_bytes();
    let member = bytes.get(HEADER..).unwrap_or_default();
    let Some(body) = after_member_header(member) else { return ErrorCode::UNKNOWN_SERVER_ERROR };
    let (inflated, end) = inflate(body, Decompressor::DEFAULT_LIMIT);
    let mut rest = inflated.as_slice();
    for _ in 0..batch.count {
        match (read(&mut rest, reading), end) {
            (Ok(_), _) => {}
            (Err(Stop::Starved), End::Failed) => return ErrorCode::UNKNOWN_SERVER_ERROR,
            (Err(Stop::Starved), End::Short) | (Err(Stop::Malformed), _) => return ErrorCode::INVALID_RECORD,
        }
    }
    if rest.is_empty() { ErrorCode::UNKNOWN_SERVER_ERROR } else { ErrorCode::INVALID_RECORD }
}
fn after_member_header(member: &[u8]) -> Option<&[u8]> {
    let (header, mut rest) = member.split_at_checked(MEMBER_LEN)?;
    let flags = *header.get(MEMBER.len())?;
    // Only who wrote it could know its header's checksum, and no client of Kafka writes one.
    if !header.starts_with(&MEMBER) || flags & !(EXTRA | NAME | COMMENT) != 0 {
        return None;
    }
    if flags & EXTRA != 0 {
        let (length, after) = rest.split_first_chunk::<2>()?;
        rest = after.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    Some(rest)
}
/// What is there to be read before the end, or before there is more than so many bytes.
fn inflate(mut body: &[u8], most: usize) -> (Vec<u8>, End) {
    let mut inflate = Decompress::new(false);
    let mut inflated = Vec::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        let (read, written) = (inflate.total_in(), inflate.total_out());
        let Ok(status) = inflate.decompress(body, &mut chunk, FlushDecompress::None) else {
            return (inflated, End::Failed);
        };
        let count = |total: u64, before: u64| usize::try_from(total - before).unwrap_or(usize::MAX);
        body = body.get(count(inflate.total_in(), read)..).unwrap_or_default();
        let fresh = chunk.get(..count(inflate.total_out(), written)).unwrap_or_default();
        inflated.extend_from_slice(fresh);
        match status {
            // It ends as it should: so it is the checksum that does not.
            Status::StreamEnd => return (inflated, End::Failed),
            _ if fresh.is_empty() => return (inflated, End::Short),
            _ if inflated.len() > most => return (inflated, End::Failed),
            Status::Ok | Status::BufError => {}
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use flate2::write::DeflateEncoder;
    use millstream_protocol::record::{BatchBuilder, Stamp};
    use millstream_protocol::{Compression, Compressor, Headers, Timestamp};
    use std::io::Write;

    /// Where a batch's records begin, in the gzip stream's stored block.
    const STORED: usize = HEADER + MEMBER_LEN + 5;

    /// A batch of one record `k` = `v`, whose gzip stream is one stored block, so that its bytes can be changed one by one.
    fn code_with(change: impl FnOnce(&mut Vec<u8>)) -> ErrorCode {
        let mut builder = BatchBuilder::new();
        builder.append(Timestamp::from_millis(0), Some(b"k"), Some(b"v"), &Headers::new()).unwrap();
        let plain = builder.seal(&mut Compressor::none()).unwrap().to_bytes(&Stamp::plain());
        let (head, records) = plain.split_at(HEADER);
        let length = u16::try_from(records.len()).unwrap();
        let mut bytes = [head, &MEMBER, &[0, 0, 0, 0, 0, 0, 0xff], &[1]].concat();
        bytes.extend(length.to_le_bytes());
        bytes.extend((!length).to_le_bytes());
        bytes.extend(records);
        bytes.extend([0; 8]);
        change(&mut bytes);
        let length = i32::try_from(bytes.len() - 12).unwrap();
        bytes[8..12].copy_from_slice(&length.to_be_bytes());
        bytes[22] = Compression::Gzip.id();
        code(&Batch::parse(&Bytes::from(bytes)).unwrap(), Reading::Skipping)
    }

    /// A batch that inflates to a gigabyte is refused by what reads records, and was inflated here all the same to see why.
    #[test]
    fn what_inflates_to_more_than_records_may_is_not_inflated_to_its_end() {
        let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&vec![0; 100 * CHUNK]).unwrap();
        let (inflated, end) = inflate(&encoder.finish().unwrap(), 2 * CHUNK);
        assert!(inflated.len() <= 3 * CHUNK, "{} bytes", inflated.len());
        assert_eq!(end, End::Failed);
    }

    #[test]
    fn what_is_noticed_first_decides() {
        let failed = ErrorCode::UNKNOWN_SERVER_ERROR;
        assert_eq!(code_with(|_| {}), failed, "the checksum");
        assert_eq!(code_with(|bytes| bytes[HEADER] = 0), failed, "no gzip at all");
        assert_eq!(code_with(|bytes| bytes[HEADER + MEMBER_LEN] = 7), failed, "a block of no kind");
        assert_eq!(code_with(|bytes| bytes[STORED] += 2), failed, "the record's length, which nobody looks at");
        assert_eq!(code_with(|bytes| bytes[STORED + 4] = 80), failed, "a key that is longer than all there is");
        let shorter = code_with(|bytes| bytes.truncate(STORED + 3));
        assert_eq!(shorter, ErrorCode::INVALID_RECORD, "the stream ends within a record");
    }
}
