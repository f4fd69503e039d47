//! Benchmarks of the hot paths.
