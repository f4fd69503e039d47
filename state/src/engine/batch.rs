//! Puts and deletes that belong together.

use crate::Blob;
use millstream_protocol::Timestamp;

/// One put or delete.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Write {
    /// The key.
    pub key: Blob,
    /// The value as the store keeps it; none deletes.
    pub value: Option<Blob>,
    /// The time that the changelog record bears.
    pub timestamp: Timestamp,
}
impl Write {
    /// What it weighs in memory, about.
    pub(crate) fn weight(&self) -> usize {
        size_of::<Self>() + self.key.heap_bytes() + self.value.as_ref().map_or(0, Blob::heap_bytes)
    }
}

/// Puts and deletes that belong together, in the order in which their keys were first written. The last write of a key counts.
///
/// ```
/// use millstream_protocol::Timestamp;
/// use millstream_state::WriteBatch;
/// let mut batch = WriteBatch::default();
/// batch.put(&b"apples"[..], &b"12"[..], Timestamp::EPOCH);
/// batch.delete(&b"pears"[..], Timestamp::EPOCH);
/// assert_eq!(batch.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteBatch {
    writes: Vec<Write>,
}
impl WriteBatch {
    /// Adds a put.
    pub fn put(&mut self, key: impl Into<Blob>, value: impl Into<Blob>, timestamp: Timestamp) {
        self.push(Write { key: key.into(), value: Some(value.into()), timestamp });
    }
    /// Adds a delete.
    pub fn delete(&mut self, key: impl Into<Blob>, timestamp: Timestamp) {
        self.push(Write { key: key.into(), value: None, timestamp });
    }
    /// How many writes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.writes.len()
    }
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }
    /// The writes, in order.
    #[must_use]
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// Empties the batch, and keeps its room unless most of it was not needed.
    pub(crate) fn reuse(mut self) -> Self {
        let len = self.writes.len();
        self.writes.clear();
        if self.writes.capacity() / 4 > len {
            self.writes.shrink_to(2 * len);
        }
        self
    }
    pub(crate) fn push(&mut self, write: Write) {
        self.writes.push(write);
    }
    pub(crate) fn writes_mut(&mut self) -> &mut Vec<Write> {
        &mut self.writes
    }
}
