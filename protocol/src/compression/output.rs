//! Where a codec inflates to: a buffer with a limit, or nothing but a count.

use super::{Compression, CompressionError};

/// What a codec has inflated so far.
pub(super) struct Output {
    pub(super) bytes: Vec<u8>,
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
    pub(super) fn new(limit: usize, keep: Keep) -> Self {
        Self { bytes: Vec::new(), settled: 0, limit, keep }
    }
    /// One with room for exactly what was counted before, and a little to see that there is no more.
    pub(super) fn sized(limit: usize, size: usize) -> Self {
        Self { bytes: Vec::with_capacity(size + 64), ..Self::new(limit, Keep::All) }
    }
    /// How many bytes there are, counted ones included.
    pub(super) const fn len(&self) -> usize {
        self.settled + self.bytes.len()
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
    pub(super) fn settle(&mut self) {
        if self.keep == Keep::Nothing {
            self.settled += self.bytes.len();
            self.bytes.clear();
        }
    }
    /// Makes room when there is none: at first for four times the input that is left, then for as much again, never for more than one byte past the limit.
    #[cfg(any(feature = "gzip", feature = "zstd"))]
    pub(super) fn make_room(&mut self, input: usize) {
        if self.bytes.len() == self.bytes.capacity() {
            let wanted = if self.bytes.is_empty() { input.saturating_mul(4).max(256) } else { self.bytes.len() };
            self.bytes.reserve_exact(wanted.min(self.allowed().saturating_add(1)));
        }
    }
    pub(super) const fn too_large(&self, codec: Compression) -> CompressionError {
        CompressionError::TooLarge { codec, limit: self.limit }
    }
}
