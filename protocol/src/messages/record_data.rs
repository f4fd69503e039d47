//! The `records` field of Produce and Fetch: bytes that nobody copies on their way.

use bytes::{Bytes, BytesMut};
use std::fmt;

/// Record batches as they are sent: null, or chunks that together are the field. Cloning shares them.
///
/// ```
/// use bytes::Bytes;
/// use millstream_protocol::messages::RecordData;
/// let records = RecordData::from(vec![Bytes::from_static(b"he"), Bytes::from_static(b"ad")]);
/// assert_eq!((records.len(), records.is_null()), (4, false));
/// assert_eq!(records.into_bytes(), Some(Bytes::from_static(b"head")));
/// ```
#[derive(Clone, Default)]
pub struct RecordData(Chunks);

#[derive(Clone, Default)]
enum Chunks {
    #[default]
    Null,
    One(Bytes),
    Many(Vec<Bytes>),
}

impl RecordData {
    /// Null: no records, and no field either.
    pub const NULL: Self = Self(Chunks::Null);

    /// Whether it is null, which is not the same as empty.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self.0, Chunks::Null)
    }
    /// How many bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunks().iter().map(Bytes::len).sum()
    }
    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The chunks, in order.
    #[must_use]
    pub fn chunks(&self) -> &[Bytes] {
        match &self.0 {
            Chunks::Null => &[],
            Chunks::One(chunk) => std::slice::from_ref(chunk),
            Chunks::Many(chunks) => chunks,
        }
    }
    /// All bytes in one piece, none for null. Copies only where there are several chunks.
    #[must_use]
    pub fn into_bytes(self) -> Option<Bytes> {
        match self.0 {
            Chunks::Null => None,
            Chunks::One(chunk) => Some(chunk),
            Chunks::Many(chunks) => {
                let mut all = BytesMut::with_capacity(chunks.iter().map(Bytes::len).sum());
                chunks.iter().for_each(|chunk| all.extend_from_slice(chunk));
                Some(all.freeze())
            }
        }
    }
    /// Appends what another one holds; null appends nothing.
    pub fn extend(&mut self, other: Self) {
        let mut chunks = match std::mem::take(&mut self.0) {
            Chunks::Null => return *self = other,
            Chunks::One(chunk) => vec![chunk],
            Chunks::Many(chunks) => chunks,
        };
        match other.0 {
            Chunks::Null => {}
            Chunks::One(chunk) => chunks.push(chunk),
            Chunks::Many(more) => chunks.extend(more),
        }
        self.0 = Chunks::Many(chunks);
    }
}
impl From<Bytes> for RecordData {
    fn from(bytes: Bytes) -> Self {
        Self(Chunks::One(bytes))
    }
}
impl From<Vec<Bytes>> for RecordData {
    fn from(chunks: Vec<Bytes>) -> Self {
        Self(Chunks::Many(chunks))
    }
}
impl From<Option<Bytes>> for RecordData {
    fn from(bytes: Option<Bytes>) -> Self {
        bytes.map_or(Self::NULL, Self::from)
    }
}
// By content: how it is cut into chunks does not show on the wire.
impl PartialEq for RecordData {
    fn eq(&self, other: &Self) -> bool {
        let bytes = |data: &Self| data.chunks().iter().flatten().copied().collect::<Vec<u8>>();
        self.is_null() == other.is_null() && self.len() == other.len() && bytes(self) == bytes(other)
    }
}
impl Eq for RecordData {}
impl fmt::Debug for RecordData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_null() { f.write_str("null") } else { write!(f, "{} bytes", self.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_and_empty_differ() {
        assert_ne!(RecordData::NULL, RecordData::from(Bytes::new()));
        assert_eq!(RecordData::from(Vec::new()), RecordData::from(Bytes::new()));
    }

    #[test]
    fn chunks_are_equal_by_what_they_hold() {
        let mut cut = RecordData::from(Bytes::from_static(b"a"));
        cut.extend(RecordData::from(Bytes::from_static(b"bc")));
        cut.extend(RecordData::NULL);
        assert_eq!(cut, RecordData::from(Bytes::from_static(b"abc")));
        assert_eq!(cut.chunks().len(), 2);
    }
}
