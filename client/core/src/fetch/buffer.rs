//! What buffered batches hold in memory. A batch is a slice of its response, so the whole response counts until its last batch is gone.

use super::partition::{Item, Partition};
use bytes::Bytes;
use millstream_protocol::hash::HashMap;
use millstream_protocol::record::{Batch, batches};

/// Responses smaller than this are not worth copying out of.
const WORTH_COPYING: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(super) struct Responses {
    held: HashMap<u64, Held>,
    last: u64,
    pinned: usize,
}

#[derive(Debug)]
struct Held {
    /// What the response's buffer takes.
    pinned: usize,
    /// Bytes of the batches that are still buffered.
    live: usize,
}

impl Responses {
    pub(super) const fn pinned_bytes(&self) -> usize {
        self.pinned
    }
    pub(super) const fn next_id(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
    pub(super) fn hold(&mut self, id: u64, pinned: usize, live: usize) {
        if live > 0 {
            self.held.insert(id, Held { pinned, live });
            self.pinned += pinned;
        }
    }
    pub(super) fn drop_items<'a>(&mut self, items: impl IntoIterator<Item = &'a Item>) {
        for item in items {
            if let Item::Batch(batch, response) = item {
                self.release(*response, batch.size());
            }
        }
    }
    /// A batch left the buffer. True when what is left of its response is worth copying out.
    pub(super) fn release(&mut self, response: u64, bytes: usize) -> bool {
        let Some(held) = self.held.get_mut(&response) else { return false };
        held.live = held.live.saturating_sub(bytes);
        if held.live == 0 {
            self.pinned = self.pinned.saturating_sub(held.pinned);
            self.held.remove(&response);
            return false;
        }
        held.pinned >= WORTH_COPYING && held.live < held.pinned / 4
    }
    /// Copies what is left of a mostly dead response, so that it can go.
    pub(super) fn copy_out<'a>(&mut self, response: u64, partitions: impl Iterator<Item = &'a mut Partition>) {
        for item in partitions.flat_map(|partition| &mut partition.items) {
            if let Item::Batch(batch, of) = item
                && *of == response
            {
                *batch = detached(batch);
            }
        }
        if let Some(held) = self.held.get_mut(&response) {
            self.pinned = self.pinned.saturating_sub(held.pinned - held.live);
            held.pinned = held.live;
        }
    }
}

/// The same batch in a buffer of its own. It was cut from a buffer once, so it is cut again.
fn detached(batch: &Batch) -> Batch {
    let copy = batches(Bytes::copy_from_slice(batch.bytes())).next();
    copy.and_then(Result::ok).unwrap_or_else(|| batch.clone())
}
