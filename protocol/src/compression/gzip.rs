//! gzip (RFC 1952) around deflate. Several members are one stream; what follows the last one is ignored, as Kafka does.

use super::output::Output;
use super::{Compression, CompressionError};
use crate::buffers::Buffer;
use flate2::{Compress, Decompress, FlushCompress, FlushDecompress, Status};

const MAGIC: [u8; 2] = [0x1f, 0x8b];
/// The magic, and deflate, which is the only method there is.
const MAGIC_AND_METHOD: [u8; 3] = [MAGIC[0], MAGIC[1], 8];
/// No time, no name, system unknown.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
const DEFAULT_LEVEL: u32 = 3;
const HEADER_CRC: u8 = 0x02;
const EXTRA: u8 = 0x04;
const NAME: u8 = 0x08;
const COMMENT: u8 = 0x10;
const RESERVED: u8 = 0xe0;

pub(super) struct Encoder {
    deflate: Compress,
}

impl Encoder {
    pub(super) fn new(level: Option<i32>) -> Self {
        let level = level.and_then(|level| u32::try_from(level).ok()).unwrap_or(DEFAULT_LEVEL);
        Self { deflate: Compress::new(flate2::Compression::new(level), false) }
    }
    pub(super) fn compress(&mut self, input: &[u8], output: &mut Buffer) -> Result<(), CompressionError> {
        self.deflate.reset();
        output.extend_from_slice(&HEADER);
        let mut rest = input;
        loop {
            let (read, written) = (self.deflate.total_in(), self.deflate.total_out());
            let room = output.spare_of(rest.len() / 2 + 64);
            let status = self.deflate.compress(rest, room, FlushCompress::Finish).map_err(corrupt)?;
            output.advance(usize::try_from(self.deflate.total_out() - written).map_err(corrupt)?);
            rest = after(rest, self.deflate.total_in() - read);
            if status == Status::StreamEnd {
                break;
            }
        }
        output.extend_from_slice(&crc32fast::hash(input).to_le_bytes());
        #[expect(clippy::cast_possible_truncation, reason = "the trailer holds the length's low 32 bits")]
        output.extend_from_slice(&(input.len() as u32).to_le_bytes());
        Ok(())
    }
}

pub(super) struct Decoder {
    inflate: Decompress,
}

impl Decoder {
    pub(super) fn new() -> Self {
        Self { inflate: Decompress::new(false) }
    }
    /// Appends what the members of `input` inflate to.
    pub(super) fn decompress(&mut self, input: &[u8], output: &mut Output) -> Result<(), CompressionError> {
        let mut rest = self.member(input, output)?;
        while rest.starts_with(&MAGIC) {
            rest = self.member(rest, output)?;
        }
        Ok(())
    }

    fn member<'a>(&mut self, input: &'a [u8], output: &mut Output) -> Result<&'a [u8], CompressionError> {
        let body = after_header(input).ok_or_else(|| corrupt("this is no gzip member, or its header is cut short"))?;
        let start = output.len();
        let rest = self.inflate(body, output)?;
        let (trailer, rest) = rest.split_first_chunk::<8>().ok_or_else(|| corrupt("the trailer is cut short"))?;
        let [crc @ .., l0, l1, l2, l3] = *trailer;
        #[expect(clippy::cast_possible_truncation, reason = "the trailer holds the length's low 32 bits")]
        let length = (output.len() - start) as u32;
        let sound = !output.keeps()
            || u32::from_le_bytes(crc) == crc32fast::hash(output.filled().get(start..).unwrap_or_default());
        if !sound || u32::from_le_bytes([l0, l1, l2, l3]) != length {
            return Err(corrupt("the trailer's checksum or length is wrong"));
        }
        Ok(rest)
    }

    fn inflate<'a>(&mut self, body: &'a [u8], output: &mut Output) -> Result<&'a [u8], CompressionError> {
        self.inflate.reset(false);
        let mut rest = body;
        loop {
            let (read, written) = (self.inflate.total_in(), self.inflate.total_out());
            let room = output.some_room(rest.len());
            let room_size = room.len();
            let status = self.inflate.decompress(rest, room, FlushDecompress::None).map_err(corrupt)?;
            let inflated = usize::try_from(self.inflate.total_out() - written).map_err(corrupt)?;
            rest = after(rest, self.inflate.total_in() - read);
            output.advance(inflated);
            if output.is_past_limit() {
                return Err(output.too_large(Compression::Gzip));
            }
            output.settle();
            match status {
                Status::StreamEnd => return Ok(rest),
                // A full buffer means that there is more; an unfilled one that the input has ended.
                Status::Ok | Status::BufError if inflated == room_size => {}
                Status::Ok if inflated > 0 => {}
                Status::Ok | Status::BufError => return Err(corrupt("the data is cut short")),
            }
        }
    }
}

/// What is left of `bytes` when `read` of them were read.
fn after(bytes: &[u8], read: u64) -> &[u8] {
    usize::try_from(read).ok().and_then(|read| bytes.get(read..)).unwrap_or_default()
}

fn after_header(input: &[u8]) -> Option<&[u8]> {
    let (header, mut rest) = input.split_first_chunk::<10>()?;
    let [magic @ .., _, _, _, _, _, _, _] = *header;
    let [_, _, _, flags, ..] = *header;
    if magic != MAGIC_AND_METHOD || flags & RESERVED != 0 {
        return None;
    }
    if flags & EXTRA != 0 {
        let (length, after) = rest.split_first_chunk::<2>()?;
        rest = after.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 {
            let end = rest.iter().position(|&byte| byte == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if flags & HEADER_CRC != 0 {
        rest = rest.get(2..)?;
    }
    Some(rest)
}

fn corrupt(reason: impl std::fmt::Display) -> CompressionError {
    CompressionError::corrupt(Compression::Gzip, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gzip(input: &[u8]) -> Vec<u8> {
        let mut output = Buffer::new();
        Encoder::new(None).compress(input, &mut output).expect("compresses");
        output.filled().to_vec()
    }
    fn gunzip(input: &[u8]) -> Result<Vec<u8>, CompressionError> {
        let mut output = Output::up_to(1 << 20);
        Decoder::new().decompress(input, &mut output).map(|()| output.filled().to_vec())
    }

    #[test]
    fn members_are_one_stream_and_junk_after_them_is_ignored() {
        let stream = [gzip(b"one"), gzip(b"two"), b"junk".to_vec()].concat();
        assert_eq!(gunzip(&stream).as_deref(), Ok(&b"onetwo"[..]));
    }

    #[test]
    fn a_member_cut_anywhere_is_an_error() {
        let stream = gzip(&b"some text that repeats, some text that repeats".repeat(20));
        for end in 0..stream.len() {
            assert!(gunzip(&stream[..end]).is_err(), "cut at {end}");
        }
    }
}
