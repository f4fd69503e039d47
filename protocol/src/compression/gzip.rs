//! gzip (RFC 1952) around deflate. Several members are one stream; what follows the last one is ignored, as Kafka does.

use super::{Compression, CompressionError};
use flate2::{Compress, Decompress, FlushCompress, FlushDecompress, Status};

/// No time, no name, system unknown.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
const DEFAULT_LEVEL: u32 = 1;
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
    pub(super) fn compress(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<(), CompressionError> {
        self.deflate.reset();
        output.extend_from_slice(&HEADER);
        output.reserve(input.len() / 2 + 64);
        loop {
            let read = usize::try_from(self.deflate.total_in()).map_err(corrupt)?;
            let status = self.deflate.compress_vec(&input[read..], output, FlushCompress::Finish).map_err(corrupt)?;
            if status == Status::StreamEnd {
                break;
            }
            output.reserve(output.len().max(1024));
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
    pub(super) fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        output: &mut Vec<u8>,
    ) -> Result<(), CompressionError> {
        let mut rest = self.member(input, limit, output)?;
        while rest.starts_with(&HEADER[..2]) {
            rest = self.member(rest, limit, output)?;
        }
        Ok(())
    }

    fn member<'a>(
        &mut self,
        input: &'a [u8],
        limit: usize,
        output: &mut Vec<u8>,
    ) -> Result<&'a [u8], CompressionError> {
        let body = after_header(input).ok_or_else(|| corrupt("this is no gzip member, or its header is cut short"))?;
        let start = output.len();
        let rest = self.inflate(body, limit, output)?;
        let (trailer, rest) = rest.split_first_chunk::<8>().ok_or_else(|| corrupt("the trailer is cut short"))?;
        let content = &output[start..];
        let [crc @ .., l0, l1, l2, l3] = *trailer;
        #[expect(clippy::cast_possible_truncation, reason = "the trailer holds the length's low 32 bits")]
        if u32::from_le_bytes(crc) != crc32fast::hash(content)
            || u32::from_le_bytes([l0, l1, l2, l3]) != content.len() as u32
        {
            return Err(corrupt("the trailer's checksum or length is wrong"));
        }
        Ok(rest)
    }

    fn inflate<'a>(
        &mut self,
        body: &'a [u8],
        limit: usize,
        output: &mut Vec<u8>,
    ) -> Result<&'a [u8], CompressionError> {
        self.inflate.reset(false);
        loop {
            let read = usize::try_from(self.inflate.total_in()).map_err(corrupt)?;
            let rest = &body[read..];
            let before = self.inflate.total_out();
            grow(output, rest.len(), limit)?;
            match self.inflate.decompress_vec(rest, output, FlushDecompress::None).map_err(corrupt)? {
                _ if output.len() > limit => return Err(too_large(limit)),
                Status::StreamEnd => break,
                // A full buffer means that there is more; an unfilled one that the input has ended.
                Status::Ok | Status::BufError if output.len() == output.capacity() => {}
                Status::Ok if self.inflate.total_out() > before => {}
                Status::Ok | Status::BufError => return Err(corrupt("the data is cut short")),
            }
        }
        let read = usize::try_from(self.inflate.total_in()).map_err(corrupt)?;
        Ok(&body[read..])
    }
}

/// Makes room: at first for four times the input, then for as much again; never for more than one byte past the limit.
fn grow(output: &mut Vec<u8>, input: usize, limit: usize) -> Result<(), CompressionError> {
    if output.len() < output.capacity() {
        return Ok(());
    }
    let wanted = if output.is_empty() { input.saturating_mul(4).max(256) } else { output.len() };
    let allowed = limit.saturating_sub(output.len()).saturating_add(1);
    if output.len() > limit {
        return Err(too_large(limit));
    }
    output.reserve_exact(wanted.min(allowed));
    Ok(())
}

fn after_header(input: &[u8]) -> Option<&[u8]> {
    let (header, mut rest) = input.split_first_chunk::<10>()?;
    let flags = header[3];
    if header[..3] != HEADER[..3] || flags & RESERVED != 0 {
        return None;
    }
    if flags & EXTRA != 0 {
        let (length, after) = rest.split_first_chunk::<2>()?;
        rest = after.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 {
            let end = rest.iter().position(|&byte| byte == 0)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & HEADER_CRC != 0 {
        rest = rest.get(2..)?;
    }
    Some(rest)
}

fn too_large(limit: usize) -> CompressionError {
    CompressionError::TooLarge { codec: Compression::Gzip, limit }
}

fn corrupt(reason: impl std::fmt::Display) -> CompressionError {
    CompressionError::corrupt(Compression::Gzip, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gzip(input: &[u8]) -> Vec<u8> {
        let mut output = Vec::new();
        Encoder::new(None).compress(input, &mut output).expect("compresses");
        output
    }
    fn gunzip(input: &[u8]) -> Result<Vec<u8>, CompressionError> {
        let mut output = Vec::new();
        Decoder::new().decompress(input, 1 << 20, &mut output).map(|()| output)
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
