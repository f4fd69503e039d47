//! Where a codec inflates to: a buffer with a limit, or nothing but a count.

use super::{Compression, CompressionError};
use crate::buffers::Buffer;

/// What a codec has inflated so far.
pub(super) struct Output {
    buffer: Buffer,
    /// Bytes that were counted and let go.
    settled: usize,
    limit: usize,
    keep: Keep,
}

/// What becomes of the bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    All,
    /// They are counted, to make room for all of them at once later.
    Nothing,
}

impl Output {
    pub(super) const fn new(buffer: Buffer, limit: usize, keep: Keep) -> Self {
        Self { buffer, settled: 0, limit, keep }
    }
    /// What was inflated and not let go.
    #[cfg(any(test, feature = "gzip", feature = "lz4"))]
    pub(super) fn filled(&self) -> &[u8] {
        self.buffer.filled()
    }
    pub(super) fn into_buffer(self) -> Buffer {
        self.buffer
    }
    /// How many bytes there are, counted ones included.
    pub(super) const fn len(&self) -> usize {
        self.settled + self.buffer.len()
    }
    /// How many more there may be.
    pub(super) const fn allowed(&self) -> usize {
        self.limit.saturating_sub(self.len())
    }
    /// Whether there are more than allowed.
    #[cfg(any(feature = "gzip", feature = "zstd"))]
    pub(super) const fn is_past_limit(&self) -> bool {
        self.len() > self.limit
    }
    /// Whether the bytes are still there when all is done, so that a checksum over them can be compared.
    #[cfg(any(feature = "gzip", feature = "lz4"))]
    pub(super) fn keeps(&self) -> bool {
        self.keep == Keep::All
    }
    /// Lets go of what was counted, if that is all that is wanted. To be called after each step.
    pub(super) const fn settle(&mut self) {
        if matches!(self.keep, Keep::Nothing) {
            self.settled += self.buffer.len();
            self.buffer.clear();
        }
    }
    /// Room for as much as there is, for codecs that stop when it is full: at first for four times the input that is left, then for as much again, never for more than one byte past the limit.
    #[cfg(any(feature = "gzip", feature = "zstd"))]
    pub(super) fn some_room(&mut self, input: usize) -> &mut [u8] {
        if self.buffer.spare_len() == 0 {
            let filled = self.buffer.len();
            let wanted = if filled == 0 { input.saturating_mul(4).max(256) } else { filled };
            self.buffer.grow_to(filled.saturating_add(wanted.min(self.allowed().saturating_add(1))));
        }
        self.buffer.spare()
    }
    /// How much room there is already.
    #[cfg(feature = "zstd")]
    pub(super) fn spare_len(&self) -> usize {
        self.buffer.spare_len()
    }
    /// Room for exactly that many bytes, which have to be allowed.
    #[cfg(any(feature = "snappy", feature = "lz4", feature = "zstd"))]
    pub(super) fn room(&mut self, bytes: usize) -> &mut [u8] {
        if self.buffer.spare_len() < bytes {
            let filled = self.buffer.len();
            let doubled = self.buffer.capacity().saturating_mul(2).min(filled.saturating_add(self.allowed()));
            self.buffer.grow_to(filled.saturating_add(bytes).max(doubled));
        }
        self.buffer.spare().get_mut(..bytes).unwrap_or_default()
    }
    /// Counts `by` bytes of that room as inflated.
    pub(super) fn advance(&mut self, by: usize) {
        self.buffer.advance(by);
    }
    pub(super) const fn too_large(&self, codec: Compression) -> CompressionError {
        CompressionError::TooLarge { codec, limit: self.limit }
    }
}

#[cfg(test)]
impl Output {
    /// One that grows, for tests.
    pub(super) fn up_to(limit: usize) -> Self {
        Self::new(Buffer::new(), limit, Keep::All)
    }
}
