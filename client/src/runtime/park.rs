//! A thread that drives one future and sleeps while there is nothing to do for it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread::{self, Thread};

/// Wakes the thread.
struct Unpark(Thread);
impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Drives `future` to its end on this thread. Whatever wakes it may come from any other thread; there is no reactor.
pub(super) fn drive(future: impl Future<Output = ()>) {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    // A wake between the poll and the park lets the park return at once.
    while future.as_mut().poll(&mut context).is_pending() {
        thread::park();
    }
}
