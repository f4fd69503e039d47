//! Which records are seen.

/// Which records are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these two")]
pub enum IsolationLevel {
    /// All.
    ReadUncommitted,
    /// Those of committed transactions, and those outside any.
    ReadCommitted,
}
impl IsolationLevel {
    /// As requests carry it.
    pub(crate) const fn code(self) -> i8 {
        match self {
            Self::ReadUncommitted => 0,
            Self::ReadCommitted => 1,
        }
    }
}
