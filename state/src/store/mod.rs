//! Typed views of stores.
//!
//! A view belongs to a task and is a field of its processor. Writing takes `&mut self`, so nothing is written while an iterator
//! over it is open; an iterator shows the store as it was when it was made, whatever other processors of the task write to a shared
//! store meanwhile, and holds no lock between items. Each writing view dereferences to its reading half: reads are declared once.

mod entries;
mod key_value;
mod reads;
mod timestamped;

pub use entries::Entries;
pub use key_value::{KeyValueStore, ReadOnlyKeyValueStore};
pub(crate) use reads::Reads;
pub use timestamped::TimestampedStore;

/// A kind of store: ours only.
pub trait StateStore: sealed::Sealed + Send + 'static {
    /// Its reading half: what global stores and queries give.
    type ReadOnly: Send + Sync + 'static;
    /// What a query for one key gives.
    type Key;
    /// What it keeps.
    type Value;
}
/// A kind of store that a key alone finds something in.
pub trait KeyedStore: StateStore {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! kind {
    ($($store:ident => $reader:ident;)*) => {$(
        impl<K: 'static, V: 'static> sealed::Sealed for $store<K, V> {}
        impl<K: 'static, V: 'static> StateStore for $store<K, V> {
            type ReadOnly = $reader<K, V>;
            type Key = K;
            type Value = V;
        }
        impl<K: 'static, V: 'static> KeyedStore for $store<K, V> {}
    )*};
}
kind! {
    KeyValueStore => ReadOnlyKeyValueStore;
    TimestampedStore => ReadOnlyKeyValueStore;
}
