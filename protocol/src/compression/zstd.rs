//! Zstandard (RFC 8878). Several frames are one stream, skippable ones are skipped; anything else after a frame is an error.

use super::{Compression, CompressionError};
use structured_zstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use structured_zstd::encoding::{CompressionLevel, FrameCompressor};

const DEFAULT_LEVEL: i32 = 1;
/// Kafka's own decoder (libzstd) refuses windows over 2²⁷ bytes.
const MOST_WINDOW: u64 = 1 << 27;
/// Encoders that stream name the window of their level, however little they hold: 8 MiB is what every decoder should take (RFC 8878).
const LEAST_WINDOW: u64 = 8 << 20;
const SKIPPABLE: std::ops::RangeInclusive<u32> = 0x184D_2A50..=0x184D_2A5F;
/// How much is decoded before it is looked at again: one block.
const STEP: usize = 128 << 10;

pub(super) struct Encoder {
    frame: Box<FrameCompressor>,
    scratch: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(level: Option<i32>) -> Self {
        let level = CompressionLevel::Level(level.unwrap_or(DEFAULT_LEVEL));
        Self { frame: Box::new(FrameCompressor::new(level)), scratch: Vec::new() }
    }
    pub(super) fn compress(&mut self, input: &[u8], output: &mut Vec<u8>) {
        self.frame.compress_independent_frame_into(input, &mut self.scratch);
        output.extend_from_slice(&self.scratch);
    }
}

pub(super) struct Decoder {
    frame: Box<FrameDecoder>,
}

impl Decoder {
    pub(super) fn new() -> Self {
        Self { frame: Box::new(FrameDecoder::new()) }
    }
    /// Appends what the frames of `input` inflate to.
    pub(super) fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        output: &mut Vec<u8>,
    ) -> Result<(), CompressionError> {
        let window = u64::try_from(limit).unwrap_or(u64::MAX).clamp(LEAST_WINDOW, MOST_WINDOW);
        self.frame.set_max_window_size(window).map_err(corrupt)?;
        let mut rest = input;
        while !rest.is_empty() {
            rest = match skippable(rest)? {
                Some(after) => after,
                None => self.one_frame(rest, limit, output)?,
            };
        }
        Ok(())
    }

    fn one_frame<'a>(
        &mut self,
        input: &'a [u8],
        limit: usize,
        output: &mut Vec<u8>,
    ) -> Result<&'a [u8], CompressionError> {
        let mut rest = input;
        self.frame.reset(&mut rest).map_err(corrupt)?;
        loop {
            let finished =
                self.frame.decode_blocks(&mut rest, BlockDecodingStrategy::UptoBytes(STEP)).map_err(corrupt)?;
            if self.frame.can_collect() > limit.saturating_sub(output.len()) {
                return Err(CompressionError::TooLarge { codec: Compression::Zstd, limit });
            }
            self.frame.collect_to_writer(&mut *output).map_err(corrupt)?;
            if finished {
                break;
            }
        }
        self.frame.verify_content_size().map_err(corrupt)?;
        self.frame.verify_content_checksum().map_err(corrupt)?;
        Ok(rest)
    }
}

/// What follows a skippable frame, if one stands here.
fn skippable(input: &[u8]) -> Result<Option<&[u8]>, CompressionError> {
    let Some((magic, rest)) = input.split_first_chunk::<4>() else { return Ok(None) };
    if !SKIPPABLE.contains(&u32::from_le_bytes(*magic)) {
        return Ok(None);
    }
    let (length, rest) =
        rest.split_first_chunk::<4>().ok_or_else(|| corrupt("a skippable frame's length is cut short"))?;
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(corrupt)?;
    rest.get(length..).map(Some).ok_or_else(|| corrupt("a skippable frame is cut short"))
}

fn corrupt(reason: impl std::fmt::Display) -> CompressionError {
    CompressionError::corrupt(Compression::Zstd, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(input: &[u8]) -> Vec<u8> {
        let mut output = Vec::new();
        Encoder::new(None).compress(input, &mut output);
        output
    }

    #[test]
    fn frames_are_one_stream_and_skippable_ones_are_skipped() {
        let skipped = [&0x184D_2A53_u32.to_le_bytes()[..], &2_u32.to_le_bytes(), b"xx"].concat();
        let stream = [skipped.clone(), frame(b"one"), skipped, frame(b"two")].concat();
        let mut output = Vec::new();
        Decoder::new().decompress(&stream, 6, &mut output).expect("inflates");
        assert_eq!(output, b"onetwo");
    }

    #[test]
    fn junk_after_a_frame_is_an_error() {
        let stream = [frame(b"one"), b"junk".to_vec()].concat();
        assert!(Decoder::new().decompress(&stream, 100, &mut Vec::new()).is_err());
    }
}
