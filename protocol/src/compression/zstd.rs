//! Zstandard (RFC 8878). Several frames are one stream, skippable ones are skipped; anything else after a frame is an error.

use super::output::Output;
use super::{Compression, CompressionError};
use crate::buffers::Buffer;
use structured_zstd::decoding::errors::FrameDecoderError;
use structured_zstd::decoding::{
    FrameContentSize, FrameDecoder, find_frame_compressed_size, frame_decompressed_bound, read_frame_header_info,
};
use structured_zstd::encoding::{CompressionLevel, FrameCompressor};

const DEFAULT_LEVEL: i32 = 1;
/// Kafka's own decoder (libzstd) refuses windows over 2²⁷ bytes.
const MOST_WINDOW: u64 = 1 << 27;
/// The largest window that gets memory of its own. Encoders that stream name the window of their level, however little they hold: 8 MiB up to level 19, and what every
/// decoder should take (RFC 8878).
const MOST_HELD_WINDOW: u64 = 8 << 20;
/// A decoder that grew past this is not kept for the next batch.
const MOST_KEPT: usize = 16 << 20;
const SKIPPABLE: std::ops::RangeInclusive<u32> = 0x184D_2A50..=0x184D_2A5F;
const MAGIC: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();

pub(super) struct Encoder {
    frame: FrameCompressor,
    scratch: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(level: Option<i32>) -> Self {
        let level = CompressionLevel::Level(level.unwrap_or(DEFAULT_LEVEL));
        Self { frame: FrameCompressor::new(level), scratch: Vec::new() }
    }
    pub(super) fn compress(&mut self, input: &[u8], output: &mut Buffer) {
        self.frame.compress_independent_frame_into(input, &mut self.scratch);
        output.extend_from_slice(&self.scratch);
    }
}

pub(super) struct Decoder {
    /// For frames that say how much they hold: they are inflated where they end up.
    sized: Box<FrameDecoder>,
    /// For frames that do not, as Java's client writes them: they pass through a window, whose memory is kept.
    windowed: Option<Box<FrameDecoder>>,
}

impl Decoder {
    pub(super) fn new() -> Self {
        Self { sized: Box::new(FrameDecoder::new()), windowed: None }
    }
    /// Appends what the frames of `input` inflate to.
    pub(super) fn decompress(&mut self, input: &[u8], output: &mut Output) -> Result<(), CompressionError> {
        let mut rest = input;
        while !rest.is_empty() {
            if let Some(after) = skippable(rest)? {
                rest = after;
                continue;
            }
            if !rest.starts_with(&MAGIC) {
                return Err(corrupt("this is no Zstandard frame"));
            }
            let size = find_frame_compressed_size(rest)
                .map_err(|_| corrupt("a frame is cut short, or its blocks are malformed"))?;
            let (frame, after) = rest.split_at_checked(size).ok_or_else(|| corrupt("a frame is cut short"))?;
            self.one_frame(frame, output)?;
            rest = after;
        }
        Ok(())
    }

    fn one_frame(&mut self, frame: &[u8], output: &mut Output) -> Result<(), CompressionError> {
        let header = read_frame_header_info(frame, false).map_err(corrupt)?;
        match (header.content_size, header.window_size) {
            (FrameContentSize::Known(size), _) => self.sized(frame, size, output),
            (FrameContentSize::Unknown, ..=MOST_HELD_WINDOW) => self.windowed_frame(frame, output),
            (FrameContentSize::Unknown, ..=MOST_WINDOW) => self.in_place(frame, output),
            (FrameContentSize::Unknown, window) => Err(CompressionError::Window { window, most: MOST_WINDOW }),
        }
    }
    /// A frame that says how much it holds is inflated in place.
    fn sized(&mut self, frame: &[u8], size: u64, output: &mut Output) -> Result<(), CompressionError> {
        let size = usize::try_from(size)
            .ok()
            .filter(|size| *size <= output.allowed())
            .ok_or_else(|| output.too_large(Compression::Zstd))?;
        let length = self.sized.decode_all(frame, output.room(size)).map_err(corrupt)?;
        output.advance(length);
        output.settle();
        Ok(())
    }
    /// A frame of levels 20 to 22 that does not say how much it holds: its window may be larger than all that may come out, so what came out is the window. First it
    /// gets the room that there is, then as much as its blocks may hold.
    fn in_place(&mut self, frame: &[u8], output: &mut Output) -> Result<(), CompressionError> {
        let bound = frame_decompressed_bound(frame).map_err(|_| corrupt("its blocks are malformed"))?;
        let most = usize::try_from(bound).unwrap_or(usize::MAX).min(output.allowed());
        self.sized.set_max_window_size(MOST_WINDOW).map_err(corrupt)?;
        for room in [output.spare_len().min(most), most] {
            match self.sized.decode_all(frame, output.room(room)) {
                Ok(length) => {
                    output.advance(length);
                    output.settle();
                    return Ok(());
                }
                Err(FrameDecoderError::TargetTooSmall) => {}
                Err(error) => return Err(corrupt(error)),
            }
        }
        Err(output.too_large(Compression::Zstd))
    }
    fn windowed_frame(&mut self, frame: &[u8], output: &mut Output) -> Result<(), CompressionError> {
        let decoder = self.windowed.get_or_insert_with(|| Box::new(FrameDecoder::new()));
        decoder.set_max_window_size(MOST_HELD_WINDOW).map_err(corrupt)?;
        let inflated = through_window(decoder, frame, output);
        if decoder.workspace_size() > MOST_KEPT {
            self.windowed = None;
        }
        inflated
    }
}

fn through_window(decoder: &mut FrameDecoder, frame: &[u8], output: &mut Output) -> Result<(), CompressionError> {
    let mut rest = frame;
    decoder.reset(&mut rest).map_err(corrupt)?;
    while !(decoder.is_finished() && decoder.can_collect() == 0) {
        let (read, written) = decoder.decode_from_to(rest, output.some_room(rest.len())).map_err(corrupt)?;
        output.advance(written);
        if output.is_past_limit() {
            return Err(output.too_large(Compression::Zstd));
        }
        output.settle();
        if read == 0 && written == 0 {
            return Err(corrupt("a frame is cut short"));
        }
        rest = rest.get(read..).unwrap_or_default();
    }
    Ok(())
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
        let mut output = Buffer::new();
        Encoder::new(None).compress(input, &mut output);
        output.filled().to_vec()
    }

    #[test]
    fn frames_are_one_stream_and_skippable_ones_are_skipped() {
        let skipped = [&0x184D_2A53_u32.to_le_bytes()[..], &2_u32.to_le_bytes(), b"xx"].concat();
        let stream = [skipped.clone(), frame(b"one"), skipped, frame(b"two")].concat();
        let mut output = Output::up_to(6);
        Decoder::new().decompress(&stream, &mut output).expect("inflates");
        assert_eq!(output.filled(), b"onetwo");
    }

    #[test]
    fn junk_after_a_frame_is_an_error() {
        let stream = [frame(b"one"), b"junk".to_vec()].concat();
        assert!(Decoder::new().decompress(&stream, &mut Output::up_to(100)).is_err());
    }

    /// Twenty lines through a pipe, by the C library's own program: `yes 'a value that is written by Java at level 22' | head -20 | zstd --ultra -22 --no-content-size`.
    /// Its window is 128 MiB.
    const LEVEL_22: &[u8] = b"\x28\xb5\x2f\xfd\x04\x88\x8d\x01\x00\xc2\xc2\x09\x11\xb0\xa9\x03\x80\xbb\x8b\x76\x8f\xa9\x01\xa5\x4d\x9a\x98\x1e\x00\x04\
        \x20\x84\xcf\xd2\x6e\xec\xcd\x8a\xd7\xd8\x18\x62\x39\x6a\x54\xc6\x12\xdc\xd2\x35\x6f\x01\x00\x0c\xfa\x2a\x55\x06\x04\x65\x9c\x3a";

    #[test]
    fn streams_of_the_highest_levels_are_read_within_the_limit() {
        let text = "a value that is written by Java at level 22\n".repeat(20);
        let stream = [LEVEL_22, LEVEL_22].concat();
        for keep in [super::super::Keep::All, super::super::Keep::Nothing] {
            let mut output = Output::new(Buffer::new(), 2 * text.len(), keep);
            Decoder::new().decompress(&stream, &mut output).expect("inflates");
            assert_eq!(output.len(), 2 * text.len());
        }
        let mut output = Output::up_to(text.len());
        Decoder::new().decompress(LEVEL_22, &mut output).expect("inflates");
        assert_eq!(output.filled(), text.as_bytes());
        let error = Decoder::new().decompress(LEVEL_22, &mut Output::up_to(text.len() - 1));
        assert_eq!(error, Err(CompressionError::TooLarge { codec: Compression::Zstd, limit: text.len() - 1 }));
    }

    #[test]
    fn a_window_that_kafka_refuses_is_refused_by_name() {
        let mut frame = LEVEL_22.to_vec();
        frame[5] = 18 << 3;
        let error = Decoder::new().decompress(&frame, &mut Output::up_to(1000));
        assert_eq!(error, Err(CompressionError::Window { window: 1 << 28, most: 1 << 27 }));
    }
}
