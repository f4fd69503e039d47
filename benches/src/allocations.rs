//! Counts allocations. A benchmark that wants the count names [`Counting`] its global allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

static COUNT: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, with a count of what it was asked for.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Counting;

impl Counting {
    /// One.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

/// How many allocations, of all threads, `run` makes.
pub fn allocations_of(run: impl FnOnce()) -> u64 {
    let before = COUNT.load(Ordering::Relaxed);
    run();
    COUNT.load(Ordering::Relaxed) - before
}

#[expect(unsafe_code, reason = "an allocator cannot be written without; all calls go on to the system's")]
// SAFETY: every method hands its arguments on unchanged to the system's allocator, and the counter allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
