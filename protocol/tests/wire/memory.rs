//! Counts what a thread allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with each thread's live bytes and their peak.
pub(crate) struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static TIMES: Cell<usize> = const { Cell::new(0) };
}

/// How often `run` asks for memory.
#[allow(dead_code, reason = "this file is part of several tests, and not all of them ask")]
pub(crate) fn allocations_of(run: impl FnOnce()) -> usize {
    let before = TIMES.get();
    run();
    TIMES.get() - before
}

/// The most bytes that `run` held at once, beyond what there was before, and what it returned.
pub(crate) fn peak_of<T>(run: impl FnOnce() -> T) -> (usize, T) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = run();
    (usize::try_from(PEAK.get() - before).unwrap_or(0), result)
}

fn count(change: isize) {
    TIMES.set(TIMES.get() + usize::from(change > 0));
    let live = LIVE.get() + change;
    LIVE.set(live);
    PEAK.set(PEAK.get().max(live));
}

fn signed(size: usize) -> isize {
    isize::try_from(size).unwrap_or(isize::MAX)
}

#[expect(unsafe_code, reason = "an allocator cannot be written without; all calls go on to the system's")]
// SAFETY: every method hands its arguments on unchanged to the system's allocator, and the counters allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(signed(layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-signed(layout.size()));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both exist for a moment.
        count(signed(size));
        count(-signed(layout.size()));
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
