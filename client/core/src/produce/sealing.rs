//! The compression of a batch, for somebody else than the driver to do.

use super::accumulator::Accumulator;
use super::shard::{Closed, Shard};
use std::sync::Arc;

/// A closed batch that is to be compressed. It keeps its place meanwhile. Dropping it compresses it as well, so that no batch is lost with whoever was to do it.
#[derive(Debug)]
#[must_use]
pub struct Sealing {
    accumulator: Arc<Accumulator>,
    shard: Arc<Shard>,
    /// None when it is done.
    closed: Option<Closed>,
}

impl Sealing {
    pub(super) fn new(accumulator: &Arc<Accumulator>, shard: &Arc<Shard>, closed: Closed) -> Self {
        Self { accumulator: Arc::clone(accumulator), shard: Arc::clone(shard), closed: Some(closed) }
    }
    /// Compresses it and wakes the driver.
    pub fn run(self) {
        drop(self);
    }
}
impl Drop for Sealing {
    fn drop(&mut self) {
        if let Some(closed) = self.closed.take() {
            self.accumulator.seal(&self.shard, closed);
            self.accumulator.note_ready(&self.shard);
        }
    }
}
