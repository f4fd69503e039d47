//! How many bytes all batches that are not yet acknowledged may take.

use millstream_protocol::record::BufferPool;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that are there and bytes that are taken, and the memory of batches that are done with. Lock-free: it is asked once per few kilobytes.
#[derive(Debug)]
pub(super) struct Budget {
    limit: usize,
    used: AtomicUsize,
    /// Where batches begin; asked once a batch.
    pub(super) buffers: BufferPool,
}

impl Budget {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, used: AtomicUsize::new(0), buffers: BufferPool::new() }
    }
    /// Takes bytes, all or none. One batch may pass the limit when it is alone, or a large record could never be sent.
    pub(super) fn try_take(&self, bytes: usize) -> bool {
        let take = |used: usize| (used == 0 || used.saturating_add(bytes) <= self.limit).then(|| used + bytes);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
    pub(super) fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}
