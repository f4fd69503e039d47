//! Options of operators. `named` is enough where types have serdes of their own; `with` gives serdes.

use crate::topic::Serdes;
use millstream_state::{ChangelogOptions, DefaultSerde, Serde};
use std::fmt;
use std::sync::Arc;

macro_rules! options {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $ty:ty),* })*) => {$(
        $(#[$doc])*
        #[must_use]
        pub struct $name<K, V> {
            pub(super) name: Option<String>,
            pub(super) serdes: Serdes<K, V>,
            $(pub(super) $field: $ty,)*
        }
        impl<K: 'static, V: 'static> $name<K, V> {
            /// Of this name, with the types' own serdes.
            pub fn named(name: &str) -> Self
            where
                K: DefaultSerde,
                V: DefaultSerde,
            {
                Self { name: Some(name.to_owned()), serdes: Serdes::default(), $($field: Default::default(),)* }
            }
            /// With these serdes.
            pub fn with(key: impl Serde<K>, value: impl Serde<V>) -> Self {
                let serdes = Serdes { key: Arc::new(key), value: Arc::new(value) };
                Self { name: None, serdes, $($field: Default::default(),)* }
            }
            /// Sets the name.
            pub fn name(mut self, name: &str) -> Self {
                self.name = Some(name.to_owned());
                self
            }
        }
        impl<K, V> fmt::Debug for $name<K, V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("name", &self.name).finish_non_exhaustive()
            }
        }
    )*};
}
options! {
    /// How a stream is grouped: the name is that of its repartition topic, if it needs one.
    Grouped {}
    /// How a stream is repartitioned.
    Repartitioned { partitions: Option<usize> }
    /// How a table is kept: the name is that of its store.
    Materialized { in_memory: bool, changelog: Option<ChangelogOptions> }
}
impl<K, V> Repartitioned<K, V> {
    /// How many partitions. Default: the most that any source has.
    pub const fn partitions(mut self, count: usize) -> Self {
        self.partitions = Some(count);
        self
    }
}
impl<K, V> Materialized<K, V> {
    /// In memory only.
    pub const fn in_memory(mut self) -> Self {
        self.in_memory = true;
        self
    }
    /// How the changelog topic is made.
    pub fn changelog(mut self, options: ChangelogOptions) -> Self {
        self.changelog = Some(options);
        self
    }
    pub(super) const fn of(serdes: Serdes<K, V>) -> Self {
        Self { name: None, serdes, in_memory: false, changelog: None }
    }
}
impl<K: DefaultSerde, V: DefaultSerde> From<&str> for Materialized<K, V> {
    fn from(name: &str) -> Self {
        Self::named(name)
    }
}
