//! What all connections of a cluster hold of requests that are not whole yet: bounded in all, as any number of clients may each send a part of
//! a large one and wait.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A connection is left alone that holds no more than this, however much the others do.
const FAIR: usize = 64 << 10;

/// The bytes that all connections hold, and how many these may be.
#[derive(Debug)]
pub(super) struct Buffers {
    held: AtomicUsize,
    bound: usize,
}
impl Buffers {
    pub(super) fn new(bound: usize) -> Self {
        Self { held: AtomicUsize::new(0), bound }
    }
}

/// One connection's part.
#[derive(Debug)]
pub(super) struct Held<'b> {
    all: &'b Buffers,
    bytes: usize,
}
impl<'b> Held<'b> {
    pub(super) fn nothing(all: &'b Buffers) -> Self {
        Self { all, bytes: 0 }
    }
    /// Holds so many bytes from here on; an error if that is too much.
    pub(super) fn set(&mut self, bytes: usize) -> io::Result<()> {
        let before = std::mem::replace(&mut self.bytes, bytes);
        let all = if bytes >= before {
            self.all.held.fetch_add(bytes - before, Ordering::Relaxed) + (bytes - before)
        } else {
            self.all.held.fetch_sub(before - bytes, Ordering::Relaxed) - (before - bytes)
        };
        if all <= self.all.bound || bytes <= FAIR {
            return Ok(());
        }
        let bound = self.all.bound;
        Err(io::Error::other(format!(
            "all connections hold {all} bytes of requests that are not whole and may hold {bound} \
             (millstream.max.buffer.bytes); this one, with {bytes} of them, is closed"
        )))
    }
}
impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.all.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_little_is_left_alone_when_all_hold_too_much() {
        let all = Buffers::new(1 << 20);
        let (mut one, mut two, mut three) = (Held::nothing(&all), Held::nothing(&all), Held::nothing(&all));
        assert!(one.set(1 << 19).is_ok() && two.set(1 << 19).is_ok());
        assert!(three.set(FAIR).is_ok());
        let refused = three.set(FAIR + 1).expect_err("it is too much").to_string();
        assert!(refused.contains("hold 1114113 bytes") && refused.contains("may hold 1048576"), "{refused}");
        drop(three);
        assert!(one.set(0).is_ok() && two.set(1 << 20).is_ok());
        drop((one, two));
        assert_eq!(all.held.load(Ordering::Relaxed), 0);
    }
}
