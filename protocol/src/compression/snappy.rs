//! Snappy in the frame of xerial's Java library, which is what Kafka's clients write; raw blocks are read too.
//!
//! A frame is 16 bytes, `82 "SNAPPY" 00`, version 1, oldest compatible version 1, then chunks: a big-endian length and a raw Snappy block of it.
//! Several frames in a row are one stream.

use super::output::Output;
use super::{Compression, CompressionError};
use crate::buffers::Buffer;

const MAGIC: [u8; 8] = *b"\x82SNAPPY\0";
const HEADER: [u8; 16] = *b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01";
/// What every chunk but the last inflates to.
const CHUNK: usize = 32 << 10;
/// A copy of three bytes gives at most 64: no block inflates further than this.
const MOST_INFLATION: usize = 22;

pub(super) struct Encoder {
    raw: snap::raw::Encoder,
}

impl Encoder {
    pub(super) fn new() -> Self {
        Self { raw: snap::raw::Encoder::new() }
    }
    pub(super) fn compress(&mut self, input: &[u8], output: &mut Buffer) -> Result<(), CompressionError> {
        output.extend_from_slice(&HEADER);
        if input.is_empty() {
            return self.chunk(input, output);
        }
        input.chunks(CHUNK).try_for_each(|chunk| self.chunk(chunk, output))
    }

    fn chunk(&mut self, input: &[u8], output: &mut Buffer) -> Result<(), CompressionError> {
        let room = output.spare_of(4 + snap::raw::max_compress_len(input.len()));
        let (word, body) = room.split_first_chunk_mut::<4>().ok_or_else(|| corrupt("there is no room"))?;
        let length = self.raw.compress(input, body).map_err(corrupt)?;
        *word = u32::try_from(length).map_err(corrupt)?.to_be_bytes();
        output.advance(4 + length);
        Ok(())
    }
}

/// Appends what `input`, framed or one raw block, inflates to.
pub(super) fn decompress(input: &[u8], output: &mut Output) -> Result<(), CompressionError> {
    if input.is_empty() {
        return Err(corrupt("no bytes at all"));
    }
    if !input.starts_with(&MAGIC) {
        return block(input, output);
    }
    let mut rest = input;
    while !rest.is_empty() {
        if rest.starts_with(&MAGIC) {
            rest = rest.get(HEADER.len()..).ok_or_else(|| corrupt("the frame's header is cut short"))?;
            continue;
        }
        let (length, after) = rest.split_first_chunk::<4>().ok_or_else(|| corrupt("a chunk's length is cut short"))?;
        let length = usize::try_from(u32::from_be_bytes(*length)).map_err(corrupt)?;
        let (chunk, after) =
            after.split_at_checked(length).ok_or_else(|| corrupt("a chunk is longer than what is left"))?;
        block(chunk, output)?;
        rest = after;
    }
    Ok(())
}

fn block(input: &[u8], output: &mut Output) -> Result<(), CompressionError> {
    // Judged before room is made: the claim is the sender's, and four bytes can claim gigabytes.
    let claimed = snap::raw::decompress_len(input).map_err(corrupt)?;
    if claimed > input.len().saturating_mul(MOST_INFLATION) {
        return Err(corrupt(format!("a block of {} bytes claims to hold {claimed}", input.len())));
    }
    if claimed > output.allowed() {
        return Err(output.too_large(Compression::Snappy));
    }
    let length = snap::raw::Decoder::new().decompress(input, output.room(claimed)).map_err(corrupt)?;
    output.advance(length);
    output.settle();
    Ok(())
}

fn corrupt(reason: impl std::fmt::Display) -> CompressionError {
    CompressionError::corrupt(Compression::Snappy, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inflate(input: &[u8]) -> Result<Vec<u8>, CompressionError> {
        let mut output = Output::up_to(100);
        decompress(input, &mut output).map(|()| output.filled().to_vec())
    }

    #[test]
    fn chunks_inflate_to_32_kib_each() {
        let mut output = Buffer::new();
        Encoder::new().compress(&vec![7; CHUNK * 2 + 1], &mut output).expect("compresses");
        let mut rest = &output.filled()[HEADER.len()..];
        let mut sizes = Vec::new();
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let (chunk, after) = after.split_at(u32::from_be_bytes(*length) as usize);
            sizes.push(snap::raw::decompress_len(chunk).expect("a block"));
            rest = after;
        }
        assert_eq!(sizes, [CHUNK, CHUNK, 1]);
    }

    #[test]
    fn a_raw_block_and_several_frames_are_read() {
        let mut framed = Buffer::new();
        Encoder::new().compress(b"one", &mut framed).expect("compresses");
        Encoder::new().compress(b"two", &mut framed).expect("compresses");
        assert_eq!(inflate(framed.filled()).as_deref(), Ok(&b"onetwo"[..]));
        let raw = snap::raw::Encoder::new().compress_vec(b"raw").expect("compresses");
        assert_eq!(inflate(&raw).as_deref(), Ok(&b"raw"[..]));
    }

    #[test]
    fn a_claim_that_no_block_can_hold_makes_no_room() {
        let mut output = Output::up_to(usize::MAX);
        assert!(decompress(&[0xff, 0xff, 0xff, 0xff, 0x07, 0, 0], &mut output).is_err());
        assert_eq!(output.into_buffer().capacity(), 0);
    }
}
