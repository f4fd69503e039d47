//! What a read of a log finds: whole batches, as pieces to be sent. Large batches are shared with the log. Small ones are put together, since
//! to send a piece costs more than to copy it.

use super::batch::Batch;
use bytes::{Bytes, BytesMut};

/// Up to this size a batch is copied.
const COPIED: usize = 2 << 10;

/// What a read found.
#[derive(Debug)]
pub(crate) struct Slice {
    pieces: Vec<Bytes>,
    /// Small batches since the last piece.
    small: BytesMut,
    pub(crate) len: usize,
    pub(crate) records: u64,
    /// The offset after the last batch.
    pub(crate) end: i64,
}
impl Slice {
    /// Nothing yet, from an offset on.
    pub(super) fn starting_at(offset: i64) -> Self {
        Self { pieces: Vec::new(), small: BytesMut::new(), len: 0, records: 0, end: offset }
    }
    /// Whether it has no batches.
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Appends a batch, of which the records from an offset on are wanted.
    pub(super) fn push(&mut self, batch: &Batch, from: i64) {
        self.len += batch.size();
        self.records += batch.count_from(from);
        self.end = batch.next_offset();
        if batch.size() <= COPIED {
            batch.pieces().iter().for_each(|piece| self.small.extend_from_slice(piece));
            return;
        }
        self.end_small();
        self.pieces.extend_from_slice(batch.pieces());
    }
    fn end_small(&mut self) {
        if !self.small.is_empty() {
            self.pieces.push(self.small.split().freeze());
        }
    }
    /// All batches, in order.
    pub(crate) fn into_pieces(mut self) -> Vec<Bytes> {
        self.end_small();
        self.pieces
    }
}
