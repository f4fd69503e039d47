//! The driver's requests that are on their way: a few, polled together.

use crate::runtime::BoxFuture;
use std::task::{Context, Poll};

/// Futures of which each gives one result. Dropping it drops them all.
pub(super) struct InFlight<T>(Vec<BoxFuture<T>>);

impl<T> InFlight<T> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }
    pub(super) fn push(&mut self, future: impl Future<Output = T> + Send + 'static) {
        self.0.push(Box::pin(future));
    }
    /// The next result; pending also when there is nothing to wait for.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<T> {
        for index in 0..self.0.len() {
            if let Poll::Ready(result) = self.0[index].as_mut().poll(cx) {
                // Its place goes to the last one, which may be polled once more: harmless.
                drop(self.0.swap_remove(index));
                return Poll::Ready(result);
            }
        }
        Poll::Pending
    }
}
