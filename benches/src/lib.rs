//! Benchmarks of the hot paths.

pub mod allocations;
pub mod payload;
