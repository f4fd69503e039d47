//! Owners of tasks and threads.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// A task's owner. Dropping it ends the task; awaiting it waits for the task's end.
#[must_use = "a task ends when its owner is dropped"]
pub struct Task {
    finished: oneshot::Receiver<()>,
    abort: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl Task {
    /// An owner for a task that drops the other end of `finished` when it ends, and that `abort` ends.
    pub fn new(finished: oneshot::Receiver<()>, abort: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self { finished, abort: Some(Box::new(abort)) }
    }
    /// Lets the task end by itself: for tasks that are sure to.
    pub fn detach(mut self) {
        self.abort = None;
    }
}
impl Future for Task {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.finished).poll(cx).map(|_| ())
    }
}
impl Drop for Task {
    fn drop(&mut self) {
        if let Some(abort) = self.abort.take() {
            abort();
        }
    }
}
impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Task")
    }
}

/// A thread's owner. Dropping it lets the thread end by itself; [`join`](Self::join) waits for that.
#[must_use = "a thread that nobody joins may outlive its purpose"]
pub struct Thread(Box<dyn FnOnce() -> Result<(), Panicked> + Send>);

impl Thread {
    /// An owner for a thread that `join` waits for.
    pub fn new(join: impl FnOnce() -> Result<(), Panicked> + Send + 'static) -> Self {
        Self(Box::new(join))
    }
    /// Blocks until the thread has ended.
    ///
    /// # Errors
    ///
    /// When it panicked.
    pub fn join(self) -> Result<(), Panicked> {
        (self.0)()
    }
}
impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Thread")
    }
}

/// A thread ended by a panic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the thread panicked: {0}")]
pub struct Panicked(String);

impl Panicked {
    /// From what the panic carried.
    #[must_use]
    pub fn new(payload: &(dyn std::any::Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        Self(text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned()))
    }
}
