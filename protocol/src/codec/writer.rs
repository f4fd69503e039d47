//! Collects a frame: one growing buffer, and between its bytes chunks that are shared and not copied.

use bytes::{Bytes, BytesMut};

/// Where a body is written to.
#[derive(Debug, Default)]
pub struct BodyWriter {
    buffer: BytesMut,
    // Where in `buffer` each shared chunk belongs, rising.
    shared: Vec<(usize, Bytes)>,
    shared_len: usize,
}

impl BodyWriter {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { buffer: BytesMut::with_capacity(capacity), ..Self::default() }
    }
    /// The buffer to append to.
    pub(crate) const fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }
    /// Appends a chunk without copying it.
    pub(crate) fn share(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.shared_len += chunk.len();
            self.shared.push((self.buffer.len(), chunk));
        }
    }
    /// Bytes written so far, shared chunks included.
    pub(crate) fn len(&self) -> usize {
        self.buffer.len() + self.shared_len
    }
    /// What was written, if no chunk was shared.
    pub(crate) fn unshared(&self) -> Option<&[u8]> {
        self.shared.is_empty().then_some(&self.buffer)
    }
    /// What was written, in one piece; copies only where chunks were shared.
    pub(crate) fn into_bytes(self) -> Bytes {
        if self.shared.is_empty() {
            return self.buffer.freeze();
        }
        let mut all = BytesMut::with_capacity(self.len());
        self.into_segments().iter().for_each(|segment| all.extend_from_slice(segment));
        all.freeze()
    }
    /// What was written, in order.
    pub(crate) fn into_segments(self) -> Vec<Bytes> {
        let mut rest = self.buffer.freeze();
        let mut segments = Vec::with_capacity(1 + 2 * self.shared.len());
        let mut cut = 0;
        for (at, chunk) in self.shared {
            let own = rest.split_to(at - cut);
            cut = at;
            segments.extend((!own.is_empty()).then_some(own));
            segments.push(chunk);
        }
        segments.extend((!rest.is_empty()).then_some(rest));
        segments
    }
}
