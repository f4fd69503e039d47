//! Cuts a stream of bytes into frames.

use bytes::{Buf, Bytes, BytesMut};

/// Room kept free for the next read, at least.
const READ_AT_LEAST: usize = 4 << 10;
/// Room made at once for a frame that says it is large: more comes only as its bytes do.
const READ_AT_MOST: usize = 1 << 20;

/// Bytes as they come from the network, and the frames in them. Holds no more than one frame's limit and one read.
#[derive(Debug)]
pub struct FrameBuffer {
    buffer: BytesMut,
    limit: usize,
}

impl FrameBuffer {
    /// Takes frames of up to `limit` bytes after the size.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), limit }
    }
    /// Appends bytes that came.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }
    /// The buffer with room for the next read, to be read into at its end.
    pub fn spare(&mut self) -> &mut BytesMut {
        let wanted = self.wanted();
        self.buffer.reserve(wanted);
        &mut self.buffer
    }
    /// The same, for those who would rather lose one connection than the process.
    ///
    /// # Errors
    ///
    /// When there is no memory for it. What has come so far is still there.
    pub fn try_spare(&mut self) -> Result<&mut BytesMut, NoMemory> {
        let wanted = self.wanted();
        if !self.buffer.try_reclaim(wanted) {
            self.buffer = self.grown(wanted)?;
        }
        Ok(&mut self.buffer)
    }
    /// A larger buffer with what this one has. It doubles, so that a frame of many reads is not copied at each.
    fn grown(&self, wanted: usize) -> Result<BytesMut, NoMemory> {
        let held = self.buffer.len();
        let bytes = held.saturating_add(wanted.max(held));
        let mut grown = Vec::new();
        grown.try_reserve_exact(bytes).map_err(|_| NoMemory { bytes, held })?;
        grown.extend_from_slice(&self.buffer);
        Ok(BytesMut::from(Bytes::from(grown)))
    }
    /// Room for what is missing, as far as it is made at once.
    fn wanted(&self) -> usize {
        self.missing().clamp(READ_AT_LEAST, READ_AT_MOST)
    }
    /// Takes the next whole frame, without its size; none when more bytes are needed. Copies nothing.
    ///
    /// # Errors
    ///
    /// When the stream holds no frame here, or one over the limit. The connection is of no more use then.
    pub fn next_frame(&mut self) -> Result<Option<Bytes>, FrameError> {
        let Some(size) = self.size()? else { return Ok(None) };
        if self.buffer.len() - 4 < size {
            return Ok(None);
        }
        self.buffer.advance(4);
        Ok(Some(self.buffer.split_to(size).freeze()))
    }
    /// Bytes held that no frame has taken yet.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }
    /// How many bytes the frame begun needs still, as far as known.
    #[must_use]
    pub fn missing(&self) -> usize {
        let whole = self.size().ok().flatten().map_or(4, |size| size + 4);
        whole.saturating_sub(self.buffer.len())
    }

    /// The size of the frame begun, once it is known.
    fn size(&self) -> Result<Option<usize>, FrameError> {
        let Some(first) = self.buffer.first_chunk::<4>() else { return Ok(None) };
        let claimed = i32::from_be_bytes(*first);
        let size = usize::try_from(claimed).map_err(|_| FrameError::Negative { size: claimed })?;
        if size > self.limit {
            return Err(FrameError::over_limit(*first, size, self.limit));
        }
        Ok(Some(size))
    }
}

/// There is no memory for more of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("the system has no {bytes} bytes for a frame of which {held} have come")]
pub struct NoMemory {
    /// How many bytes were asked for.
    pub bytes: usize,
    /// How many bytes of the frame there are.
    pub held: usize,
}

/// A stream that holds no frame where one should begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The size is below zero.
    #[error("a frame says that it has {size} bytes: this is not the Kafka protocol, or the stream lost its place")]
    Negative {
        /// What the four bytes say.
        size: i32,
    },
    /// The size is over the limit.
    #[error("a frame of {size} bytes is over the limit of {limit} bytes")]
    TooLarge {
        /// What the four bytes say.
        size: usize,
        /// The limit of this buffer.
        limit: usize,
    },
    /// The other side speaks HTTP.
    #[error("the other side speaks HTTP, not Kafka: check the port (a Kafka broker listens on 9092 by default)")]
    Http,
    /// The other side speaks some protocol of text.
    #[error("it begins with `{start}`: check the port (a Kafka broker listens on 9092 by default)")]
    Text {
        /// What it begins with.
        start: String,
    },
    /// The other side speaks TLS.
    #[error("the other side speaks TLS and this side does not: check security.protocol, or the port")]
    Tls,
}

impl FrameError {
    fn over_limit(first: [u8; 4], size: usize, limit: usize) -> Self {
        match &first {
            b"HTTP" | b"GET " | b"POST" | b"HEAD" | b"PUT " | b"OPTI" => Self::Http,
            // Record types 20 to 23, version 3.x.
            [20..=23, 3, 0..=4, _] => Self::Tls,
            text if text.iter().all(|byte| matches!(byte, b' '..=b'~')) => {
                Self::Text { start: String::from_utf8_lossy(text).into_owned() }
            }
            _ => Self::TooLarge { size, limit },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(buffer: &mut FrameBuffer) -> Vec<Bytes> {
        std::iter::from_fn(|| buffer.next_frame().expect("frames")).collect()
    }

    #[test]
    fn frames_are_cut_wherever_the_reads_end() {
        let stream = b"\0\0\0\x03abc\0\0\0\0\0\0\0\x02de\0\0";
        for cut in 0..stream.len() {
            let mut buffer = FrameBuffer::new(16);
            buffer.extend(&stream[..cut]);
            let mut got = frames(&mut buffer);
            buffer.extend(&stream[cut..]);
            got.extend(frames(&mut buffer));
            assert_eq!(got, [&b"abc"[..], b"", b"de"], "cut at {cut}");
            assert_eq!((buffer.buffered(), buffer.missing()), (2, 2));
        }
    }

    #[test]
    fn a_claimed_size_reserves_little() {
        let mut buffer = FrameBuffer::new(1 << 30);
        buffer.extend(&(1_i32 << 30).to_be_bytes());
        assert!(buffer.spare().capacity() <= 2 * READ_AT_MOST);
        assert_eq!(buffer.missing(), 1 << 30);
    }

    #[test]
    fn room_that_may_be_refused_is_the_same_room() {
        let mut buffer = FrameBuffer::new(1 << 20);
        let frame: Vec<u8> =
            300_000_u32.to_be_bytes().into_iter().chain((0..300_000).map(|at: u32| at.to_be_bytes()[3])).collect();
        let mut whole = 0;
        for part in frame.repeat(3).chunks(7000) {
            let spare = buffer.try_spare().expect("there is memory");
            assert!(spare.capacity() - spare.len() >= READ_AT_LEAST);
            spare.extend_from_slice(part);
            while let Some(payload) = buffer.next_frame().expect("frames") {
                assert_eq!(payload, frame[4..]);
                whole += 1;
            }
        }
        assert_eq!((whole, buffer.buffered()), (3, 0));
        buffer.buffer.extend_from_slice(b"abc");
        assert_eq!(buffer.grown(usize::MAX / 4).map(drop), Err(NoMemory { bytes: usize::MAX / 4 + 3, held: 3 }));
    }

    #[test]
    fn streams_of_another_protocol_are_named() {
        let error = |first: &[u8]| {
            let mut buffer = FrameBuffer::new(100 << 20);
            buffer.extend(first);
            buffer.next_frame().expect_err("no frame")
        };
        assert_eq!(error(b"HTTP/1.1 400 Bad Request"), FrameError::Http);
        assert_eq!(error(&[21, 3, 3, 0, 2, 2, 70]), FrameError::Tls);
        assert_eq!(error(&[0xff, 0xff, 0xff, 0xff]), FrameError::Negative { size: -1 });
        assert_eq!(error(&[0x7f, 0xff, 0xff, 0xff]), FrameError::TooLarge { size: 0x7fff_ffff, limit: 100 << 20 });
    }
}
