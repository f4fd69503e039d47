//! What a reading view looks into, and the buffers that keys and values pass through.

use crate::engine::{OrderedStore, StoreError};
use crate::layers::Merged;
use crate::{Blob, LayeredStore};
use bytes::{Bytes, BytesMut};
use millstream_protocol::TopicName;
use std::cell::Cell;
use std::ops::Bound;
use std::sync::Arc;
use std::thread::LocalKey;

/// What a reading view looks into: a task's layers, or what is committed.
#[derive(Debug, Clone)]
pub(crate) struct Reads {
    below: Below,
    changelog: TopicName,
}
#[derive(Debug, Clone)]
enum Below {
    Live(LayeredStore),
    Committed(Arc<dyn OrderedStore>),
}

impl Reads {
    pub(crate) fn live(layers: &LayeredStore) -> Self {
        Self { below: Below::Live(layers.clone()), changelog: layers.changelog().clone() }
    }
    pub(crate) const fn committed(base: Arc<dyn OrderedStore>, changelog: TopicName) -> Self {
        Self { below: Below::Committed(base), changelog }
    }
    pub(super) fn name(&self) -> &str {
        match &self.below {
            Below::Live(layers) => layers.name(),
            Below::Committed(base) => base.name(),
        }
    }
    pub(super) const fn changelog(&self) -> &TopicName {
        &self.changelog
    }
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Blob>, StoreError> {
        match &self.below {
            Below::Live(layers) => layers.get(key),
            Below::Committed(base) => base.get(key),
        }
    }
    pub(super) fn range(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Result<Merged, StoreError> {
        match &self.below {
            Below::Live(layers) => layers.range(from, to),
            Below::Committed(base) => Ok(Merged::of_base(base.snapshot()?.range(from, to))),
        }
    }
    pub(super) fn approximate_len(&self) -> u64 {
        match &self.below {
            Below::Live(layers) => layers.approximate_len(),
            Below::Committed(base) => base.approximate_len(),
        }
    }
}

thread_local! {
    static KEY: Cell<BytesMut> = Cell::default();
    static VALUE: Cell<BytesMut> = Cell::default();
    static READ: Cell<BytesMut> = Cell::default();
}
/// Lends an empty buffer for a key. Its room is used again; a serde that uses a store itself gets another.
pub(super) fn with_key_buffer<R>(work: impl FnOnce(&mut BytesMut) -> R) -> R {
    with_buffer(&KEY, work)
}
/// Lends an empty buffer for a value.
pub(super) fn with_value_buffer<R>(work: impl FnOnce(&mut BytesMut) -> R) -> R {
    with_buffer(&VALUE, work)
}
/// The bytes of a value that was read, for its serde.
pub(super) fn bytes_of(blob: Blob) -> Bytes {
    with_buffer(&READ, |scratch| {
        if scratch.capacity() < Blob::INLINE {
            scratch.reserve(READ_ROOM);
        }
        blob.into_bytes(scratch)
    })
}
fn with_buffer<R>(buffer: &'static LocalKey<Cell<BytesMut>>, work: impl FnOnce(&mut BytesMut) -> R) -> R {
    let mut taken = buffer.take();
    taken.clear();
    let result = work(&mut taken);
    if taken.capacity() <= MOST_ROOM {
        buffer.set(taken);
    }
    result
}

/// Values that were read share a buffer of this size: each is alive for as long as its serde looks at it, or keeps it.
const READ_ROOM: usize = 4096;
/// The room of a larger key or value is not kept.
const MOST_ROOM: usize = 1 << 16;
