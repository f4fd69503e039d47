//! Memory of batches, used again once nobody reads it.
//!
//! A buffer is initialised once, from end to end, and filled from the front; what is lent is a slice of what was filled. Its owner keeps a handle to
//! each buffer that it lent: when that is the last one, the buffer is free. So nobody gives anything back, and a batch costs no allocation
//! while there are buffers.

use bytes::{Bytes, BytesMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most bytes that are kept for later.
const MOST_BYTES: usize = 8 << 20;
/// The most buffers that are kept for later.
const MOST_BUFFERS: usize = 8;
/// A buffer may be this many times as large as what is expected in it: whoever keeps a record keeps the buffer around it.
const MOST_SLACK: usize = 8;
/// What is always small enough.
const SMALL: usize = 16 << 10;

/// A buffer that is being filled.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// All initialised; its end is the buffer's.
    bytes: BytesMut,
    filled: usize,
}

impl Buffer {
    /// One without memory yet.
    pub(crate) fn new() -> Self {
        Self { bytes: BytesMut::new(), filled: 0 }
    }
    /// One with room for `bytes`.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: zeroed(bytes), filled: 0 }
    }
    pub(crate) const fn len(&self) -> usize {
        self.filled
    }
    /// How many bytes there is room for, those that are filled included.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.len()
    }
    /// How many more there is room for.
    pub(crate) fn spare_len(&self) -> usize {
        self.bytes.len() - self.filled
    }
    /// What is filled.
    pub(crate) fn filled(&self) -> &[u8] {
        self.bytes.get(..self.filled).unwrap_or_default()
    }
    /// All that is not filled, with whatever was there before.
    #[inline]
    pub(crate) fn spare(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.filled..).unwrap_or_default()
    }
    /// The same, `least` bytes or more: where there are fewer, the buffer doubles.
    #[inline]
    pub(crate) fn spare_of(&mut self, least: usize) -> &mut [u8] {
        if self.spare_len() < least {
            self.grow_to((self.filled + least).max(self.capacity() * 2));
        }
        self.spare()
    }
    /// Counts `by` bytes of what was spare as filled.
    #[inline]
    pub(crate) fn advance(&mut self, by: usize) {
        self.filled = (self.filled + by).min(self.bytes.len());
    }
    /// Lets go of what was filled.
    #[cfg(any(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]
    pub(crate) const fn clear(&mut self) {
        self.filled = 0;
    }
    pub(crate) fn extend_from_slice(&mut self, bytes: &[u8]) {
        if let Some(place) = self.spare_of(bytes.len()).get_mut(..bytes.len()) {
            place.copy_from_slice(bytes);
            self.advance(bytes.len());
        }
    }
    /// Moves what is filled to a buffer with room for exactly `capacity` bytes.
    #[cold]
    pub(crate) fn grow_to(&mut self, capacity: usize) {
        if self.filled == 0 {
            // There is nothing to move, so there need not be both.
            self.bytes = BytesMut::new();
        }
        let mut larger = zeroed(capacity);
        if let Some(place) = larger.get_mut(..self.filled) {
            place.copy_from_slice(self.filled());
            self.bytes = larger;
        }
    }
    /// What is filled, for good; the memory is not used again.
    pub(crate) fn freeze(self) -> Bytes {
        self.bytes.freeze().slice(..self.filled)
    }
}

fn zeroed(bytes: usize) -> BytesMut {
    let mut bytes = BytesMut::zeroed(bytes);
    // Splitting makes it count its handles from now on, instead of allocating a count whenever it is frozen.
    drop(bytes.split_to(0));
    bytes
}

/// Buffers that are lent, and those that came back.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// Oldest first.
    kept: Vec<Bytes>,
    bytes: usize,
}

impl Buffers {
    pub(crate) const fn new() -> Self {
        Self { kept: Vec::new(), bytes: 0 }
    }
    /// A free buffer for about `expected` bytes, or one without memory.
    pub(crate) fn take(&mut self, expected: usize) -> Buffer {
        let most = expected.saturating_mul(MOST_SLACK).max(SMALL);
        let fits = |kept: &Bytes| kept.len() <= most && kept.is_unique();
        let free = self.kept.iter().enumerate().filter(|(_, kept)| fits(kept));
        let Some((place, _)) = free.max_by_key(|(_, kept)| kept.len()) else { return Buffer::new() };
        let kept = self.kept.remove(place);
        self.bytes -= kept.len();
        match kept.try_into_mut() {
            Ok(bytes) => Buffer { bytes, filled: 0 },
            // Somebody would have to clone a handle that nobody else has.
            Err(_) => Buffer::new(),
        }
    }
    /// Lends what is filled. The buffer is free when all that was cut from it is dropped.
    pub(crate) fn lend(&mut self, buffer: Buffer) -> Bytes {
        let filled = buffer.filled;
        let whole = buffer.bytes.freeze();
        let lent = whole.slice(..filled);
        self.keep(whole);
        lent
    }

    fn keep(&mut self, whole: Bytes) {
        if whole.is_empty() || whole.len() > MOST_BYTES {
            return;
        }
        self.bytes += whole.len();
        self.kept.push(whole);
        while self.bytes > MOST_BYTES || self.kept.len() > MOST_BUFFERS {
            self.bytes -= self.kept.remove(0).len();
        }
    }
}

/// Memory for the batches of a producer, used again when nobody holds what was in it. Cloning shares the pool.
///
/// It keeps eight buffers and 8 MiB at most. A batch that is compressed gives its memory back when it is sealed, one that is not when it and all slices
/// of it are dropped.
///
/// ```
/// use millstream_protocol::{Compressor, Headers, Timestamp};
/// use millstream_protocol::record::{BatchBuilder, BufferPool};
///
/// let pool = BufferPool::new();
/// for value in ["one", "two"] {
///     let mut builder = BatchBuilder::pooled(&pool, 100_000);
///     builder.append(Timestamp::EPOCH, None, Some(value.as_bytes()), &Headers::new())?;
///     drop(builder.seal(&mut Compressor::none())?);
/// }
/// # Ok::<(), millstream_protocol::record::RecordError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct BufferPool(Arc<Mutex<Buffers>>);

impl BufferPool {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    pub(crate) fn take(&self, expected: usize) -> Buffer {
        self.lock().take(expected)
    }
    pub(crate) fn lend(&self, buffer: Buffer) -> Bytes {
        self.lock().lend(buffer)
    }
    fn lock(&self) -> MutexGuard<'_, Buffers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lend(buffers: &mut Buffers, bytes: &[u8]) -> Bytes {
        let mut buffer = buffers.take(bytes.len());
        buffer.extend_from_slice(bytes);
        buffers.lend(buffer)
    }

    #[test]
    fn a_buffer_is_used_again_when_the_last_slice_of_it_is_gone() {
        let mut buffers = Buffers::new();
        let first = lend(&mut buffers, b"first");
        let place = first.as_ptr();
        let slice = first.slice(1..3);
        drop(first);
        assert_ne!(lend(&mut buffers, b"other").as_ptr(), place);
        assert_eq!(slice, "ir");
        drop(slice);
        let places = [lend(&mut buffers, b"a"), lend(&mut buffers, b"b")].map(|bytes| bytes.as_ptr());
        assert!(places.contains(&place));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut buffers = Buffers::new();
        let lent: Vec<_> = (0..50).map(|_| lend(&mut buffers, &[7; 2 << 20])).collect();
        assert!(buffers.bytes <= MOST_BYTES);
        drop(lent);
        let lent: Vec<_> = (0..50).map(|_| lend(&mut buffers, b"little")).collect();
        assert!(buffers.kept.len() <= MOST_BUFFERS);
        assert_eq!(buffers.bytes, buffers.kept.iter().map(Bytes::len).sum::<usize>());
        drop(lent);
    }

    #[test]
    fn a_little_one_does_not_hold_a_large_buffer() {
        let mut buffers = Buffers::new();
        drop(lend(&mut buffers, &[7; 1 << 20]));
        assert!(buffers.take(100).capacity() < 1 << 20);
        assert_eq!(buffers.take(1 << 18).capacity(), 1 << 20);
    }
}
