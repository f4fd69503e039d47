//! Ids are types: arithmetic only where it means something.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($inner);
        impl $name {
            /// Wraps a value as the wire carries it.
            #[must_use]
            pub const fn new(raw: $inner) -> Self {
                Self(raw)
            }
            /// The value as the wire carries it.
            #[must_use]
            pub const fn get(self) -> $inner {
                self.0
            }
        }
        impl From<$inner> for $name {
            fn from(raw: $inner) -> Self {
                Self(raw)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
id!(
    /// A broker.
    NodeId(i32)
);
id!(
    /// A partition's index within its topic.
    PartitionId(i32)
);
id!(
    /// A record's position in its partition.
    Offset(i64)
);
id!(
    /// The term of a partition's leader.
    LeaderEpoch(i32)
);
id!(
    /// A producer, as the cluster knows it.
    ProducerId(i64)
);
id!(
    /// How often a producer's id was taken over.
    ProducerEpoch(i16)
);

impl Offset {
    /// The position after this record: what a consumer commits.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}
