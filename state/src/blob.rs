//! The bytes of a key or a value: short ones lie in the place itself, longer ones are shared.
//!
//! A store of counters would else make an allocation per write and a reference count per read.

use bytes::{Bytes, BytesMut};
use std::fmt;
use std::hash::{Hash, Hasher};

/// Bytes of a key or a value. Up to [`Blob::INLINE`] of them are kept in place; cloning never allocates.
///
/// ```
/// use millstream_state::Blob;
/// let blob = Blob::from(&b"apples"[..]);
/// assert_eq!(&*blob, b"apples");
/// ```
#[derive(Clone)]
pub struct Blob(Repr);

#[derive(Clone)]
enum Repr {
    Inline { len: u8, bytes: [u8; Blob::INLINE] },
    Shared(Bytes),
}

impl Blob {
    /// How many bytes need no allocation.
    pub const INLINE: usize = 23;

    /// No bytes.
    #[must_use]
    pub const fn new() -> Self {
        Self(Repr::Inline { len: 0, bytes: [0; Self::INLINE] })
    }
    /// The bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Repr::Shared(bytes) => bytes,
        }
    }
    /// The bytes as a [`Bytes`]. Short ones go through `scratch`, whose room is used again once what it gave is dropped.
    #[must_use]
    pub fn into_bytes(self, scratch: &mut BytesMut) -> Bytes {
        match self.0 {
            Repr::Inline { len, bytes } => {
                scratch.clear();
                scratch.reserve(Self::INLINE);
                scratch.extend_from_slice(&bytes[..usize::from(len)]);
                scratch.split().freeze()
            }
            Repr::Shared(bytes) => bytes,
        }
    }

    /// Two slices, one behind the other.
    pub(crate) fn concat(head: &[u8], tail: &[u8]) -> Self {
        let len = head.len() + tail.len();
        if len > Self::INLINE {
            return Self(Repr::Shared([head, tail].concat().into()));
        }
        let mut bytes = [0; Self::INLINE];
        bytes[..head.len()].copy_from_slice(head);
        bytes[head.len()..len].copy_from_slice(tail);
        Self::inline(&bytes[..len]).unwrap_or_default()
    }
    /// What of it lies outside the place itself, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        match &self.0 {
            Repr::Inline { .. } => 0,
            Repr::Shared(bytes) => bytes.len(),
        }
    }
    fn inline(slice: &[u8]) -> Option<Self> {
        let len = u8::try_from(slice.len()).ok()?;
        let mut bytes = [0; Self::INLINE];
        bytes.get_mut(..slice.len())?.copy_from_slice(slice);
        Some(Self(Repr::Inline { len, bytes }))
    }
}

impl From<&[u8]> for Blob {
    fn from(slice: &[u8]) -> Self {
        Self::inline(slice).unwrap_or_else(|| Self(Repr::Shared(Bytes::copy_from_slice(slice))))
    }
}
impl From<Bytes> for Blob {
    /// Long bytes are kept as they are, so what they are a slice of stays in memory with them.
    fn from(bytes: Bytes) -> Self {
        Self::inline(&bytes).unwrap_or(Self(Repr::Shared(bytes)))
    }
}
impl Default for Blob {
    fn default() -> Self {
        Self::new()
    }
}
impl std::ops::Deref for Blob {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}
impl AsRef<[u8]> for Blob {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}
impl PartialEq for Blob {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}
impl Eq for Blob {}
impl PartialOrd for Blob {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Blob {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_slice().cmp(other.as_slice())
    }
}
impl Hash for Blob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}
impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.as_slice().escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_every_length_come_back() {
        let text: Vec<u8> = (0..64).collect();
        let mut scratch = BytesMut::new();
        for len in 0..=text.len() {
            let (copied, kept) = (Blob::from(&text[..len]), Blob::from(Bytes::copy_from_slice(&text[..len])));
            assert_eq!(copied, kept);
            assert_eq!(&copied.into_bytes(&mut scratch)[..], &text[..len]);
        }
    }

    #[test]
    fn a_blob_is_no_larger_than_shared_bytes() {
        assert_eq!(size_of::<Blob>(), size_of::<Bytes>());
    }

    #[test]
    fn bytes_given_out_stay_when_the_scratch_is_used_again() {
        let mut scratch = BytesMut::new();
        let first = Blob::from(&b"first"[..]).into_bytes(&mut scratch);
        let second = Blob::from(&b"second"[..]).into_bytes(&mut scratch);
        assert_eq!((&first[..], &second[..]), (&b"first"[..], &b"second"[..]));
    }
}
