//! A process of the simulation: tasks that live and die together.

use super::random::Random;
use std::sync::Arc;

/// A process; another one after each start, also of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ProcessId(pub(crate) u64);

/// One that lives.
#[derive(Debug)]
pub(crate) struct Process {
    /// Where it runs, for faults of links.
    pub(crate) host: Arc<str>,
    /// What its clients are seeded from.
    pub(crate) random: Random,
}
