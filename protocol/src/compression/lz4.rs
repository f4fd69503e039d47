//! LZ4's frame as Kafka uses it: independent blocks of at most 64 KiB, no checksums, no content size (descriptor `60 40`).
//!
//! The frame is read here and not by a library, so that its end is where Kafka sees it (bytes after the end mark are ignored), the limit holds,
//! and the wrong header checksum of old clients can be read past.

use super::output::Output;
use super::xxh32::xxh32;
use super::{Compression, CompressionError};
use crate::buffers::Buffer;
use lz4_flex::block::{
    CompressTable, DecompressError, compress_into_with_table, decompress_into, get_maximum_output_size,
};

const MAGIC: [u8; 4] = 0x184D_2204_u32.to_le_bytes();
/// Magic, descriptor, and the checksum that goes with it.
const HEADER: [u8; 7] = [MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3], 0x60, 0x40, 0x82];
const BLOCK: usize = 64 << 10;
/// A byte of run length stands for at most 255 bytes.
const MOST_INFLATION: usize = 255;
const STORED: u32 = 1 << 31;

/// Whether a frame's header checksum is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderChecksum {
    Checked,
    /// Clients before 0.10 wrote a wrong one (KIP-57).
    Unread,
}

pub(super) struct Encoder {
    table: CompressTable,
}

impl Encoder {
    pub(super) fn new() -> Self {
        Self { table: CompressTable::large() }
    }
    pub(super) fn compress(&mut self, input: &[u8], output: &mut Buffer) -> Result<(), CompressionError> {
        output.extend_from_slice(&HEADER);
        input.chunks(BLOCK).try_for_each(|block| self.block(block, output))?;
        output.extend_from_slice(&[0; 4]);
        Ok(())
    }

    fn block(&mut self, input: &[u8], output: &mut Buffer) -> Result<(), CompressionError> {
        let room = output.spare_of(4 + get_maximum_output_size(input.len()));
        let (word, body) = room.split_first_chunk_mut::<4>().ok_or_else(|| corrupt("there is no room"))?;
        let mut length = compress_into_with_table(input, body, &mut self.table).map_err(corrupt)?;
        let mut stored = 0;
        if length >= input.len() {
            body.get_mut(..input.len()).unwrap_or_default().copy_from_slice(input);
            (length, stored) = (input.len(), STORED);
        }
        *word = (u32::try_from(length).map_err(corrupt)? | stored).to_le_bytes();
        output.advance(4 + length);
        Ok(())
    }
}

/// Appends what the one frame at the start of `input` inflates to.
pub(super) fn decompress(input: &[u8], checksum: HeaderChecksum, output: &mut Output) -> Result<(), CompressionError> {
    let mut input = Input(input);
    let frame = Descriptor::read(&mut input, checksum)?;
    loop {
        let word = input.word("a block's size")?;
        if word == 0 {
            break;
        }
        let block = frame.block(word, &mut input)?;
        if word & STORED == 0 {
            inflate(block, frame.block_size, output)?
        } else {
            store(block, output)?
        }
        output.settle();
    }
    if frame.content_checksum {
        let stored = input.word("the content's checksum")?;
        if output.keeps() && stored != xxh32(output.filled()) {
            return Err(corrupt("the content's checksum is wrong"));
        }
    }
    Ok(())
}

fn store(block: &[u8], output: &mut Output) -> Result<(), CompressionError> {
    if block.len() > output.allowed() {
        return Err(output.too_large(Compression::Lz4));
    }
    output.room(block.len()).copy_from_slice(block);
    output.advance(block.len());
    Ok(())
}

fn inflate(block: &[u8], block_size: usize, output: &mut Output) -> Result<(), CompressionError> {
    let room = block_size.min(block.len().saturating_mul(MOST_INFLATION));
    let allowed = output.allowed();
    match decompress_into(block, output.room(room.min(allowed))) {
        Ok(length) => {
            output.advance(length);
            Ok(())
        }
        Err(DecompressError::OutputTooSmall { .. }) if allowed < room => Err(output.too_large(Compression::Lz4)),
        Err(error) => Err(corrupt(error)),
    }
}

/// What a frame's header says.
struct Descriptor {
    block_size: usize,
    block_checksums: bool,
    content_checksum: bool,
}

impl Descriptor {
    fn read(input: &mut Input<'_>, checksum: HeaderChecksum) -> Result<Self, CompressionError> {
        if input.take(4, "the frame's magic")? != MAGIC {
            return Err(corrupt("this is no LZ4 frame"));
        }
        let described = input.0;
        let [flags, sizes] = input.array("the frame's descriptor")?;
        let described_length = if flags & 0x08 == 0 { 2 } else { 10 };
        input.take(described_length - 2, "the content's size")?;
        let [stored] = input.array("the header's checksum")?;
        let [_, computed, ..] = xxh32(described.get(..described_length).unwrap_or_default()).to_le_bytes();
        if checksum == HeaderChecksum::Checked && stored != computed {
            return Err(corrupt(format!("the header's checksum is {stored:#04x}, and should be {computed:#04x}")));
        }
        Self::check(flags, sizes)
    }

    /// The block after its size.
    fn block<'a>(&self, word: u32, input: &mut Input<'a>) -> Result<&'a [u8], CompressionError> {
        let size = usize::try_from(word & !STORED).map_err(corrupt)?;
        if size > self.block_size {
            return Err(corrupt(format!("a block of {size} bytes in a frame of blocks of {}", self.block_size)));
        }
        let block = input.take(size, "a block")?;
        if self.block_checksums && input.word("a block's checksum")? != xxh32(block) {
            return Err(corrupt("a block's checksum is wrong"));
        }
        Ok(block)
    }

    fn check(flags: u8, sizes: u8) -> Result<Self, CompressionError> {
        if flags >> 6 != 1 {
            return Err(corrupt(format!("version {} of the frame is unknown", flags >> 6)));
        }
        if flags & 0x20 == 0 {
            return Err(corrupt("blocks that depend on each other are not Kafka's"));
        }
        if flags & 0x03 != 0 || sizes & 0x8f != 0 {
            return Err(corrupt("reserved bits are set, or a dictionary is named"));
        }
        let block_size = match sizes >> 4 {
            4 => 64 << 10,
            5 => 256 << 10,
            6 => 1 << 20,
            7 => 4 << 20,
            other => return Err(corrupt(format!("block size {other} is unknown"))),
        };
        Ok(Self { block_size, block_checksums: flags & 0x10 != 0, content_checksum: flags & 0x04 != 0 })
    }
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: usize, what: &str) -> Result<&'a [u8], CompressionError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(|| corrupt(format!("{what} is cut short")))?;
        self.0 = rest;
        Ok(taken)
    }
    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], CompressionError> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or_else(|| corrupt(format!("{what} is cut short")))?;
        self.0 = rest;
        Ok(*taken)
    }
    fn word(&mut self, what: &str) -> Result<u32, CompressionError> {
        self.array(what).map(u32::from_le_bytes)
    }
}

fn corrupt(reason: impl std::fmt::Display) -> CompressionError {
    CompressionError::corrupt(Compression::Lz4, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(frame: &[u8]) -> Result<Vec<u8>, CompressionError> {
        let mut output = Output::up_to(1000);
        decompress(frame, HeaderChecksum::Checked, &mut output).map(|()| output.filled().to_vec())
    }

    #[test]
    fn the_header_is_kafkas() {
        let mut output = Buffer::new();
        Encoder::new().compress(b"", &mut output).expect("compresses");
        assert_eq!(output.filled(), [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82, 0, 0, 0, 0]);
    }

    #[test]
    fn what_does_not_shrink_is_stored() {
        let mut state = 1_u32;
        let mut next = || {
            state = (state ^ (state << 13)).rotate_left(7).wrapping_mul(747_796_405);
            state.to_be_bytes()[0]
        };
        let noise: Vec<u8> = (0..1000).map(|_| next()).collect();
        let mut output = Buffer::new();
        Encoder::new().compress(&noise, &mut output).expect("compresses");
        assert_eq!(output.len(), 7 + 4 + 1000 + 4);
        assert_eq!(back(output.filled()), Ok(noise));
    }

    #[test]
    fn checksums_and_larger_blocks_of_other_writers_are_read() {
        let mut frame = MAGIC.to_vec();
        frame.extend([0x74, 0x70, xxh32(&[0x74, 0x70]).to_le_bytes()[1]]);
        frame.extend((3_u32 | STORED).to_le_bytes());
        frame.extend(b"abc");
        frame.extend(xxh32(b"abc").to_le_bytes());
        frame.extend([0; 4]);
        frame.extend(xxh32(b"abc").to_le_bytes());
        assert_eq!(back(&frame).as_deref(), Ok(&b"abc"[..]));
        let last = frame.len() - 1;
        frame[last] ^= 1;
        assert!(back(&frame).is_err());
    }
}
