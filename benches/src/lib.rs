//! Benchmarks of the hot paths.
//!
//! Each path that every record takes is a module with something to `run`, which takes [`RECORDS`] records. `benches/` times them and
//! counts allocations, `examples/path.rs` runs one by name, for a profiler.

pub mod allocations;
pub mod cluster;
pub mod fetch;
pub mod payload;
pub mod produce;
pub mod store;
pub mod task;

/// How many records one run of a path takes.
pub const RECORDS: usize = 1000;

/// The names that [`path`] knows.
pub const PATHS: [&str; 6] = ["produce", "fetch", "task-pass", "task-count", "store", "restore"];

/// A path by its name: each call takes [`RECORDS`] records.
#[must_use]
pub fn path(name: &str) -> Option<Box<dyn FnMut()>> {
    fn calls<T: 'static>(mut bench: T, run: impl Fn(&mut T) + 'static) -> Option<Box<dyn FnMut()>> {
        Some(Box::new(move || run(&mut bench)))
    }
    match name {
        "produce" => calls(produce::Bench::new(), produce::Bench::run),
        "fetch" => calls(fetch::Bench::new(), fetch::Bench::run),
        "task-pass" => calls(task::Bench::new(&task::pass()), task::Bench::run),
        "task-count" => calls(task::Bench::new(&task::count()), task::Bench::run),
        "store" => calls(store::Bench::in_memory(), store::Bench::run),
        "restore" => calls(store::Bench::in_memory(), store::Bench::restore_some),
        _ => None,
    }
}
