//! The codecs of record batches: gzip, snappy, lz4, zstd, each behind a feature of its name.
//!
//! A [`Compressor`] and a [`Decompressor`] hold what a codec can use again: tables, windows, scratch space.
//! Keep one per thread. What comes from the network is inflated only up to a limit.

#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::cast_possible_truncation, clippy::unwrap_used))]

mod error;
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(any(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]
mod output;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(feature = "lz4")]
mod xxh32;
#[cfg(feature = "zstd")]
mod zstd;

pub use error::CompressionError;
#[cfg(any(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]
use output::{Keep, Output};

use crate::buffers::{Buffer, Buffers};
use bytes::Bytes;
use std::fmt;

/// How a batch's records are compressed (`compression.type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Compression {
    /// As they are.
    #[default]
    None,
    /// Deflate in gzip's frame (RFC 1952).
    Gzip,
    /// Snappy blocks in the frame of xerial's Java library.
    Snappy,
    /// LZ4 blocks in LZ4's frame.
    Lz4,
    /// Zstandard (RFC 8878); needs brokers from 2.1 on (KIP-110).
    Zstd,
}

impl Compression {
    /// All of them, in the order of their numbers on the wire.
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// The number in a batch's attributes.
    #[must_use]
    pub const fn id(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Gzip => 1,
            Self::Snappy => 2,
            Self::Lz4 => 3,
            Self::Zstd => 4,
        }
    }
    /// The codec of a number; numbers from 5 on have none.
    ///
    /// ```
    /// use millstream_protocol::Compression;
    /// assert_eq!(Compression::from_id(3), Some(Compression::Lz4));
    /// assert_eq!(Compression::from_id(5), None);
    /// ```
    #[must_use]
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.get(usize::from(id)).copied()
    }
    /// Kafka's name, as `compression.type` spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }
    /// Whether this build has it.
    #[must_use]
    pub const fn is_compiled_in(self) -> bool {
        match self {
            Self::None => true,
            Self::Gzip => cfg!(feature = "gzip"),
            Self::Snappy => cfg!(feature = "snappy"),
            Self::Lz4 => cfg!(feature = "lz4"),
            Self::Zstd => cfg!(feature = "zstd"),
        }
    }
    /// The levels that can be asked for, where the codec has any: those of `compression.gzip.level`, `compression.lz4.level` and `compression.zstd.level` (KIP-390).
    ///
    /// gzip and zstd have all of them; zstd's 0 is its 3, as everywhere. LZ4 is written by its one fast compressor at every level: Kafka's default, 9, is that one too, and
    /// what Kafka's other levels write is a few percent smaller and takes ten times as long.
    #[must_use]
    pub const fn levels(self) -> Option<(i32, i32)> {
        match self {
            Self::Gzip => Some((1, 9)),
            Self::Lz4 => Some((1, 17)),
            Self::Zstd => Some((-131_072, 22)),
            Self::None | Self::Snappy => None,
        }
    }
}
impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How `compression.gzip.level` spells the default.
const GZIP_DEFAULT: i32 = -1;

/// Deflates; holds its codec's tables from one batch to the next.
#[must_use]
pub struct Compressor {
    codec: Compression,
    state: Encoder,
    buffers: Buffers,
}

enum Encoder {
    None,
    #[cfg(feature = "gzip")]
    Gzip(Box<gzip::Encoder>),
    #[cfg(feature = "snappy")]
    Snappy(Box<snappy::Encoder>),
    #[cfg(feature = "lz4")]
    Lz4(lz4::Encoder),
    #[cfg(feature = "zstd")]
    Zstd(Box<zstd::Encoder>),
}

impl Compressor {
    /// One for a codec, at a level or at the codec's default (gzip 3, zstd 1: `docs/decisions.md` says why). gzip's −1 is the default, too. Codecs without levels leave the level unread, as Kafka does.
    ///
    /// # Errors
    ///
    /// The codec is not compiled in, or has no such level.
    ///
    /// ```
    /// use millstream_protocol::{Compression, Compressor};
    /// assert!(Compressor::new(Compression::None, None).is_ok());
    /// ```
    pub fn new(codec: Compression, level: Option<i32>) -> Result<Self, CompressionError> {
        let level = level.filter(|level| (codec, *level) != (Compression::Gzip, GZIP_DEFAULT));
        check_level(codec, level)?;
        Ok(Self { codec, state: Encoder::new(codec, level)?, buffers: Buffers::new() })
    }
    /// None: records stay as they are.
    pub const fn none() -> Self {
        Self { codec: Compression::None, state: Encoder::None, buffers: Buffers::new() }
    }
    /// The codec.
    #[must_use]
    pub const fn codec(&self) -> Compression {
        self.codec
    }
    /// What `input` deflates to. Its memory is used again when nobody holds a slice of it any more.
    ///
    /// # Errors
    ///
    /// The codec refuses the input; none of the four does so for inputs under 2 GiB.
    ///
    /// ```
    /// use millstream_protocol::{Compression, Compressor, Decompressor};
    /// let text = b"again and again and again and again";
    /// let deflated = Compressor::new(Compression::Lz4, None)?.compress(text)?;
    /// assert!(deflated.len() < 40);
    /// assert_eq!(Decompressor::new().decompress(Compression::Lz4, &deflated)?, &text[..]);
    /// # Ok::<(), millstream_protocol::CompressionError>(())
    /// ```
    pub fn compress(&mut self, input: &[u8]) -> Result<Bytes, CompressionError> {
        self.compress_after(0, input)
    }
    /// The same behind room for a header of `head` bytes.
    pub(crate) fn compress_after(&mut self, head: usize, input: &[u8]) -> Result<Bytes, CompressionError> {
        let expected = head + input.len();
        let mut buffer = self.buffers.take(expected);
        if buffer.capacity() == 0 {
            buffer = Buffer::with_capacity(expected);
        }
        buffer.spare_of(head).get_mut(..head).unwrap_or_default().fill(0);
        buffer.advance(head);
        self.state.compress(input, &mut buffer)?;
        Ok(self.buffers.lend(buffer))
    }
}
impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressor").field("codec", &self.codec).finish_non_exhaustive()
    }
}

impl Encoder {
    #[cfg_attr(
        not(any(feature = "gzip", feature = "zstd")),
        expect(unused_variables, reason = "the other codecs have no levels")
    )]
    fn new(codec: Compression, level: Option<i32>) -> Result<Self, CompressionError> {
        match codec {
            Compression::None => Ok(Self::None),
            #[cfg(feature = "gzip")]
            Compression::Gzip => Ok(Self::Gzip(Box::new(gzip::Encoder::new(level)))),
            #[cfg(feature = "snappy")]
            Compression::Snappy => Ok(Self::Snappy(Box::new(snappy::Encoder::new()))),
            #[cfg(feature = "lz4")]
            Compression::Lz4 => Ok(Self::Lz4(lz4::Encoder::new())),
            #[cfg(feature = "zstd")]
            Compression::Zstd => Ok(Self::Zstd(Box::new(zstd::Encoder::new(level)))),
            #[cfg(not(all(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd")))]
            codec => Err(CompressionError::NotCompiledIn { codec }),
        }
    }
}

impl Encoder {
    fn compress(&mut self, input: &[u8], output: &mut Buffer) -> Result<(), CompressionError> {
        match self {
            Self::None => output.extend_from_slice(input),
            #[cfg(feature = "gzip")]
            Self::Gzip(encoder) => encoder.compress(input, output)?,
            #[cfg(feature = "snappy")]
            Self::Snappy(encoder) => encoder.compress(input, output)?,
            #[cfg(feature = "lz4")]
            Self::Lz4(encoder) => encoder.compress(input, output)?,
            #[cfg(feature = "zstd")]
            Self::Zstd(encoder) => encoder.compress(input, output),
        }
        Ok(())
    }
}

fn check_level(codec: Compression, level: Option<i32>) -> Result<(), CompressionError> {
    let (Some(level), Some((least, most))) = (level, codec.levels()) else { return Ok(()) };
    if (least..=most).contains(&level) {
        return Ok(());
    }
    Err(CompressionError::Level { codec, level, least, most })
}

/// How many bytes may come out before they are counted beforehand.
#[cfg(any(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]
const UNCOUNTED: usize = 16 << 20;

/// What is inflated.
#[derive(Clone, Copy)]
enum Frame {
    Of(Compression),
    /// With the wrong header checksum of clients before 0.10.
    OldLz4,
}

/// Inflates, up to a limit; holds the codecs' tables from one batch to the next.
#[must_use]
pub struct Decompressor {
    limit: usize,
    #[cfg(any(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]
    buffers: Buffers,
    #[cfg(feature = "gzip")]
    gzip: Option<gzip::Decoder>,
    #[cfg(feature = "zstd")]
    zstd: Option<zstd::Decoder>,
}

impl Decompressor {
    /// What a batch may inflate to unless said otherwise: 64 MiB.
    pub const DEFAULT_LIMIT: usize = 64 << 20;

    /// One with the default limit.
    pub const fn new() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }
    /// One that refuses batches that inflate to more than `limit` bytes.
    pub const fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            #[cfg(any(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]
            buffers: Buffers::new(),
            #[cfg(feature = "gzip")]
            gzip: None,
            #[cfg(feature = "zstd")]
            zstd: None,
        }
    }
    /// The most that a batch may inflate to, in bytes.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }
    /// Inflates all of `input`. The memory is used again when nobody holds a slice of it any more. Old LZ4 frames (magic 0) are read through [`Self::decompress_old_lz4`].
    ///
    /// Memory grows with what comes out; from 16 MiB on it is counted first, so that the limit is never passed, not even for a moment. A codec's own tables, and for
    /// zstd a window of 8 MiB at most, come on top; they are kept from batch to batch.
    ///
    /// # Errors
    ///
    /// The codec is not compiled in, the bytes are corrupt, or they inflate past the limit.
    pub fn decompress(&mut self, codec: Compression, input: &[u8]) -> Result<Bytes, CompressionError> {
        match codec {
            Compression::None => Ok(Bytes::copy_from_slice(input)),
            codec if codec.is_compiled_in() => self.inflate(Frame::Of(codec), input),
            codec => Err(CompressionError::NotCompiledIn { codec }),
        }
    }
    /// Inflates an LZ4 frame as clients before 0.10 wrote it: its header checksum is wrong, since it covers the frame's magic too (KIP-57), and is not looked at.
    ///
    /// # Errors
    ///
    /// As [`Self::decompress`].
    pub fn decompress_old_lz4(&mut self, input: &[u8]) -> Result<Bytes, CompressionError> {
        if cfg!(feature = "lz4") {
            self.inflate(Frame::OldLz4, input)
        } else {
            Err(CompressionError::NotCompiledIn { codec: Compression::Lz4 })
        }
    }

    #[cfg(any(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]
    fn inflate(&mut self, frame: Frame, input: &[u8]) -> Result<Bytes, CompressionError> {
        let buffer = self.buffers.take(input.len().saturating_mul(4));
        match self.run(frame, input, Output::new(buffer, self.limit.min(UNCOUNTED), Keep::All)) {
            Err(CompressionError::TooLarge { .. }) if self.limit > UNCOUNTED => {}
            inflated => return Ok(self.buffers.lend(inflated?.into_buffer())),
        }
        let counted = self.run(frame, input, Output::new(Buffer::new(), self.limit, Keep::Nothing))?.len();
        // A little more, to see that there is no more.
        let buffer = Buffer::with_capacity(counted.saturating_add(64));
        let inflated = self.run(frame, input, Output::new(buffer, self.limit, Keep::All))?;
        Ok(inflated.into_buffer().freeze())
    }
    #[cfg(any(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]
    fn run(&mut self, frame: Frame, input: &[u8], mut output: Output) -> Result<Output, CompressionError> {
        match frame {
            #[cfg(feature = "gzip")]
            Frame::Of(Compression::Gzip) => {
                self.gzip.get_or_insert_with(gzip::Decoder::new).decompress(input, &mut output)?
            }
            #[cfg(feature = "snappy")]
            Frame::Of(Compression::Snappy) => snappy::decompress(input, &mut output)?,
            #[cfg(feature = "lz4")]
            Frame::Of(Compression::Lz4) => lz4::decompress(input, lz4::HeaderChecksum::Checked, &mut output)?,
            #[cfg(feature = "lz4")]
            Frame::OldLz4 => lz4::decompress(input, lz4::HeaderChecksum::Unread, &mut output)?,
            #[cfg(feature = "zstd")]
            Frame::Of(Compression::Zstd) => {
                self.zstd.get_or_insert_with(zstd::Decoder::new).decompress(input, &mut output)?
            }
            Frame::Of(codec) => return Err(CompressionError::NotCompiledIn { codec }),
            #[cfg(not(feature = "lz4"))]
            Frame::OldLz4 => return Err(CompressionError::NotCompiledIn { codec: Compression::Lz4 }),
        }
        Ok(output)
    }
    #[cfg(not(any(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd")))]
    #[expect(clippy::unused_self, reason = "there is no codec to keep anything for")]
    fn inflate(&self, frame: Frame, _input: &[u8]) -> Result<Bytes, CompressionError> {
        let codec = if let Frame::Of(codec) = frame { codec } else { Compression::Lz4 };
        Err(CompressionError::NotCompiledIn { codec })
    }
}
impl Default for Decompressor {
    fn default() -> Self {
        Self::new()
    }
}
impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decompressor").field("limit", &self.limit).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_of_this_build_gives_back_what_it_took() {
        let text: Vec<u8> = (0..200_000_u32).flat_map(|i| (i / 7).to_be_bytes()).collect();
        for codec in Compression::ALL.into_iter().filter(|codec| codec.is_compiled_in()) {
            for input in [&text[..], &text[..1], b""] {
                let mut compressor = Compressor::new(codec, None).expect("compiled in");
                let output = compressor.compress(input).expect("compresses");
                let back = Decompressor::new().decompress(codec, &output).expect("inflates");
                assert_eq!(back, input, "{codec}");
            }
        }
    }

    #[test]
    fn what_is_counted_first_is_inflated_whole() {
        let zeros = vec![0; (16 << 20) + 1];
        for codec in Compression::ALL.into_iter().filter(|codec| codec.is_compiled_in() && *codec != Compression::None)
        {
            let output = Compressor::new(codec, None).expect("compiled in").compress(&zeros).expect("compresses");
            assert_eq!(Decompressor::new().decompress(codec, &output).map(|back| back == zeros), Ok(true), "{codec}");
        }
    }

    #[test]
    fn a_codec_left_out_says_which_feature_brings_it() {
        for codec in Compression::ALL.into_iter().filter(|codec| !codec.is_compiled_in()) {
            let error = Decompressor::new().decompress(codec, b"x").expect_err("not compiled in");
            assert_eq!(error, CompressionError::NotCompiledIn { codec });
            assert!(error.to_string().contains(&format!("feature `{codec}`")));
            assert!(Compressor::new(codec, None).is_err());
        }
    }

    #[test]
    fn a_level_that_a_codec_lacks_is_refused() {
        let error = Compressor::new(Compression::Zstd, Some(23)).expect_err("22 is the last");
        assert_eq!(error.to_string(), "level 23 is not one of zstd's: use -131072 to 22");
        assert!(Compressor::new(Compression::None, Some(99)).is_ok());
    }

    #[test]
    fn every_level_of_kafkas_gives_back_what_it_took() {
        let text: Vec<u8> = (0..20_000_u32).flat_map(|i| (i / 7).to_be_bytes()).collect();
        let levels = [
            (Compression::Gzip, vec![-1, 1, 9]),
            (Compression::Lz4, vec![1, 9, 17]),
            (Compression::Zstd, vec![-131_072, -5, 0, 1, 3, 22]),
        ];
        for (codec, levels) in levels.into_iter().filter(|(codec, _)| codec.is_compiled_in()) {
            for level in levels {
                let output =
                    Compressor::new(codec, Some(level)).and_then(|mut all| all.compress(&text)).expect("compresses");
                let back = Decompressor::new().decompress(codec, &output).expect("inflates");
                assert_eq!(back, text, "{codec} {level}");
            }
        }
        assert!(Compressor::new(Compression::Gzip, Some(0)).is_err());
        assert!(Compressor::new(Compression::Lz4, Some(18)).is_err());
    }

    #[test]
    fn the_limit_holds_for_every_codec() {
        let zeros = vec![0; 300_000];
        for codec in Compression::ALL.into_iter().filter(|codec| codec.is_compiled_in() && *codec != Compression::None)
        {
            let output = Compressor::new(codec, None).expect("compiled in").compress(&zeros).expect("compresses");
            assert!(Decompressor::with_limit(300_000).decompress(codec, &output).is_ok(), "{codec}");
            let error = Decompressor::with_limit(299_999).decompress(codec, &output);
            assert_eq!(error, Err(CompressionError::TooLarge { codec, limit: 299_999 }));
        }
    }
}
