//! How much one message may hold.

/// Bounds for one message, apart from its size, which the frame buffer bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Elements of one array. Kafka 4.4 takes a million.
    pub(crate) array: usize,
    /// Elements of all arrays together that are text, bytes or structs: what decoding costs memory for.
    pub(crate) elements: usize,
    /// Tagged fields of one struct. Kafka 4.4 takes ten thousand.
    pub(crate) tagged_fields: u32,
}

impl Limits {
    /// Kafka's own where it has one.
    pub(crate) const DEFAULT: Self = Self { array: 1_000_000, elements: 2_000_000, tagged_fields: 10_000 };
}
