//! Frames of a file: how they are written, and how far a file can be believed when it is read.

use crate::fs::FsFile;
use std::io::{self, BufReader, Read};

/// What kind of frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Writes = 1,
    Prepared = 2,
    Applied = 3,
    Discarded = 4,
    Restored = 5,
    Adopted = 6,
    Cleared = 7,
    Base = 8,
    End = 9,
}
impl Kind {
    fn of(byte: u8) -> Option<Self> {
        const ALL: [Kind; 9] = [
            Kind::Writes,
            Kind::Prepared,
            Kind::Applied,
            Kind::Discarded,
            Kind::Restored,
            Kind::Adopted,
            Kind::Cleared,
            Kind::Base,
            Kind::End,
        ];
        ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// The start of a file: what it is, and the number of its first frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileHeader {
    pub(super) magic: [u8; 8],
    pub(super) version: u32,
    pub(super) generation: u64,
    pub(super) sequence: u64,
}
impl FileHeader {
    pub(super) const LEN: usize = 32;
    pub(super) const JOURNAL: [u8; 8] = *b"msjournl";
    pub(super) const SNAPSHOT: [u8; 8] = *b"mssnapsh";
    pub(super) const VERSION: u32 = 1;

    pub(super) const fn new(magic: [u8; 8], generation: u64, sequence: u64) -> Self {
        Self { magic, version: Self::VERSION, generation, sequence }
    }
    pub(super) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.magic);
        bytes[8..12].copy_from_slice(&self.version.to_be_bytes());
        bytes[12..20].copy_from_slice(&self.generation.to_be_bytes());
        bytes[20..28].copy_from_slice(&self.sequence.to_be_bytes());
        let crc = crc32c::crc32c(&bytes[..28]);
        bytes[28..].copy_from_slice(&crc.to_be_bytes());
        bytes
    }
    fn parse(bytes: [u8; Self::LEN]) -> Option<Self> {
        let mut rest = &bytes[..];
        let header = Self {
            magic: take(&mut rest)?,
            version: u32_of(&mut rest)?,
            generation: u64_of(&mut rest)?,
            sequence: u64_of(&mut rest)?,
        };
        (u32_of(&mut rest)? == crc32c::crc32c(&bytes[..28])).then_some(header)
    }
}

/// Gathers frames in a buffer, which goes to the file when it is full or when told.
#[derive(Debug)]
pub(super) struct FrameWriter {
    file: Box<dyn FsFile>,
    buffer: Vec<u8>,
    sequence: u64,
    len: u64,
}
impl FrameWriter {
    /// Goes on with a file of this length, whose next frame has this number.
    pub(super) const fn new(file: Box<dyn FsFile>, len: u64, sequence: u64) -> Self {
        Self { file, buffer: Vec::new(), sequence, len }
    }
    /// Begins a file.
    pub(super) fn header(&mut self, header: FileHeader) {
        self.buffer.extend_from_slice(&header.to_bytes());
    }
    /// Adds a frame.
    pub(super) fn frame(&mut self, kind: Kind, body: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(&[0; FRAME_HEADER]);
        body(&mut self.buffer);
        let body = start + FRAME_HEADER;
        let header = FrameHeader {
            len: u32::try_from(self.buffer.len() - body)
                .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a key or value of 4 GiB or more"))?,
            kind: kind as u8,
            sequence: self.sequence,
            body_crc: crc32c::crc32c(&self.buffer[body..]),
        };
        self.buffer[start..body].copy_from_slice(&header.to_bytes());
        self.buffer.push(END_MARK);
        self.sequence += 1;
        if self.buffer.len() < BUFFER_LEN { Ok(()) } else { self.flush() }
    }
    /// Gives all frames to the file.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.file.write(&self.buffer)?;
        self.len += u64::try_from(self.buffer.len()).unwrap_or(u64::MAX);
        self.buffer.clear();
        if self.buffer.capacity() > 4 * BUFFER_LEN {
            self.buffer.shrink_to(BUFFER_LEN);
        }
        Ok(())
    }
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
    /// Forgets what was gathered, and cuts the file to where it was.
    pub(super) fn roll_back(&mut self, to: Mark) -> io::Result<()> {
        self.buffer.clear();
        self.file.truncate(to.len)?;
        (self.len, self.sequence) = (to.len, to.sequence);
        Ok(())
    }
    /// Where the file ends.
    pub(super) const fn mark(&self) -> Mark {
        Mark { len: self.len, sequence: self.sequence }
    }
}
/// A place between two frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) len: u64,
    pub(super) sequence: u64,
}

#[derive(Debug)]
struct FrameHeader {
    len: u32,
    kind: u8,
    sequence: u64,
    body_crc: u32,
}
impl FrameHeader {
    fn to_bytes(&self) -> [u8; FRAME_HEADER] {
        let mut bytes = [0; FRAME_HEADER];
        bytes[..4].copy_from_slice(&self.len.to_be_bytes());
        bytes[4] = self.kind;
        bytes[8..16].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[16..20].copy_from_slice(&self.body_crc.to_be_bytes());
        let crc = crc32c::crc32c(&bytes[..20]);
        bytes[20..].copy_from_slice(&crc.to_be_bytes());
        bytes
    }
    fn parse(bytes: [u8; FRAME_HEADER]) -> Option<Self> {
        let mut rest = &bytes[..];
        let (len, [kind, ..]) = (u32_of(&mut rest)?, take::<4>(&mut rest)?);
        let header = Self { len, kind, sequence: u64_of(&mut rest)?, body_crc: u32_of(&mut rest)? };
        (u32_of(&mut rest)? == crc32c::crc32c(&bytes[..20])).then_some(header)
    }
}

/// Reads a file frame by frame.
pub(super) struct FrameReader {
    file: BufReader<Box<dyn Read + Send>>,
    left: u64,
    offset: u64,
    sequence: u64,
    body: Vec<u8>,
}
/// What comes next in a file.
#[derive(Debug)]
pub(super) enum Next<'a> {
    /// A frame.
    Frame(Kind, &'a [u8]),
    /// The file ends after a whole frame.
    End,
    /// The file ends within a frame: its writer was stopped.
    Torn,
}
/// Why a file cannot be read on.
#[derive(Debug)]
pub(super) enum Bad {
    Io(io::Error),
    Corrupt(String),
}
impl From<io::Error> for Bad {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl FrameReader {
    pub(super) fn new(file: Box<dyn Read + Send>, len: u64) -> Self {
        Self { file: BufReader::with_capacity(BUFFER_LEN, file), left: len, offset: 0, sequence: 0, body: Vec::new() }
    }
    /// Reads the file's header; none if the file ends within it.
    pub(super) fn header(&mut self) -> Result<Option<FileHeader>, Bad> {
        let Some(bytes) = self.bytes::<{ FileHeader::LEN }>()? else { return Ok(None) };
        if bytes == [0; FileHeader::LEN] && self.rest_is_zero()? {
            return Ok(None);
        }
        let header = FileHeader::parse(bytes)
            .ok_or_else(|| Bad::Corrupt("the file's header does not match its checksum".into()))?;
        self.advance(FileHeader::LEN);
        self.sequence = header.sequence;
        Ok(Some(header))
    }
    /// Reads the next frame. What is torn or corrupt begins at [`offset`](Self::offset).
    pub(super) fn next(&mut self) -> Result<Next<'_>, Bad> {
        if self.left == 0 {
            return Ok(Next::End);
        }
        let Some(bytes) = self.bytes::<FRAME_HEADER>()? else { return Ok(Next::Torn) };
        let Some(header) = FrameHeader::parse(bytes) else {
            // Blocks that the file system had promised and not filled when the power went read as zeros.
            let unwritten = bytes == [0; FRAME_HEADER] && self.rest_is_zero()?;
            return if unwritten {
                Ok(Next::Torn)
            } else {
                Err(Bad::Corrupt("a frame's header does not match its checksum".into()))
            };
        };
        let len = usize::try_from(header.len).map_err(|_| Bad::Corrupt("a frame is larger than memory".into()))?;
        if self.left < u64::from(header.len) + 1 {
            return Ok(Next::Torn);
        }
        self.body.resize(len + 1, 0);
        self.file.read_exact(&mut self.body)?;
        self.left -= u64::from(header.len) + 1;
        self.checked(&header, len)
    }
    /// Where the next frame begins, in bytes from the file's start.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }
    /// The number of the next frame.
    pub(super) const fn sequence(&self) -> u64 {
        self.sequence
    }

    fn checked(&mut self, header: &FrameHeader, len: usize) -> Result<Next<'_>, Bad> {
        if crc32c::crc32c(&self.body[..len]) != header.body_crc || self.body[len] != END_MARK {
            let unwritten = self.body[len] == 0 && self.rest_is_zero()?;
            return if unwritten {
                Ok(Next::Torn)
            } else {
                Err(Bad::Corrupt("a frame does not match its checksum".into()))
            };
        }
        if header.sequence != self.sequence {
            let problem = format!("frame {} is where frame {} is expected", header.sequence, self.sequence);
            return Err(Bad::Corrupt(problem));
        }
        let kind =
            Kind::of(header.kind).ok_or_else(|| Bad::Corrupt(format!("a frame of unknown kind {}", header.kind)))?;
        self.advance(FRAME_HEADER + len + 1);
        self.sequence += 1;
        Ok(Next::Frame(kind, &self.body[..len]))
    }
    fn advance(&mut self, len: usize) {
        self.offset += u64::try_from(len).unwrap_or(u64::MAX);
    }
    fn bytes<const N: usize>(&mut self) -> io::Result<Option<[u8; N]>> {
        let len = u64::try_from(N).unwrap_or(u64::MAX);
        if self.left < len {
            return Ok(None);
        }
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes)?;
        self.left -= len;
        Ok(Some(bytes))
    }
    fn rest_is_zero(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        loop {
            match self.file.read(&mut buffer)? {
                0 => return Ok(true),
                len if buffer[..len].iter().any(|byte| *byte != 0) => return Ok(false),
                _ => {}
            }
        }
    }
}

/// Takes an array from the front of a slice.
pub(super) fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (front, back) = rest.split_first_chunk::<N>()?;
    *rest = back;
    Some(*front)
}
pub(super) fn u32_of(rest: &mut &[u8]) -> Option<u32> {
    take(rest).map(u32::from_be_bytes)
}
pub(super) fn u64_of(rest: &mut &[u8]) -> Option<u64> {
    take(rest).map(u64::from_be_bytes)
}

const FRAME_HEADER: usize = 24;
/// The last byte of a frame: not zero, so that it tells a frame that was written from blocks that were not.
const END_MARK: u8 = 0xa5;
/// How much is gathered before it goes to the file.
const BUFFER_LEN: usize = 1 << 18;
