//! The one door to sockets, clocks, chance, tasks and threads.
//!
//! Everything in this package and in `millstream` that opens a socket, sleeps, spawns or starts a thread goes through
//! [`Runtime`]: [`TokioRuntime`] in production, one seeded thread in simulation.

mod park;
mod task;
mod tokio;

pub use self::task::{Panicked, Task, Thread};
pub use self::tokio::TokioRuntime;

use ::tokio::io::{AsyncRead, AsyncWrite};
use millstream_protocol::Timestamp;
use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A future that any thread may drive.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What a thread with its own reactor runs; it gets the runtime of that thread.
pub type IoMain = Box<dyn FnOnce(Arc<dyn Runtime>) -> BoxFuture<()> + Send>;

/// What a thread for code that may block runs, to its end. It waits only by awaiting, so that who started it decides how a wait is done:
/// in production the thread sleeps, in simulation another one goes on.
pub type ThreadMain = Box<dyn FnOnce() -> BoxFuture<()> + Send>;

/// Sockets, clocks, chance, tasks and threads.
pub trait Runtime: Debug + Send + Sync + 'static {
    /// The monotonic time.
    fn now(&self) -> Instant;
    /// The time of the calendar: for timestamps of records, never for control flow.
    fn wall_clock(&self) -> Timestamp;
    /// A seed for a generator; another one each time.
    fn seed(&self) -> u64;
    /// A timer that is not set.
    fn timer(&self) -> Pin<Box<dyn Timer>>;
    /// All addresses of a host: of a name, or of an IPv4 or IPv6 address without brackets.
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<io::Result<Vec<SocketAddr>>>;
    /// Opens a stream, without Nagle's delay (W-17). If its other end is gone without a word it fails within about a minute, also while nothing is
    /// sent on it.
    fn connect(&self, address: SocketAddr) -> BoxFuture<io::Result<Box<dyn Socket>>>;
    /// Starts a task beside the caller. Its owner is whoever holds the [`Task`].
    fn spawn(&self, task: BoxFuture<()>) -> Task;
    /// Starts a thread for code that may block. It has no reactor: what it awaits must be woken from elsewhere.
    ///
    /// # Errors
    ///
    /// When the system has no more threads.
    fn start_thread(&self, name: &str, main: ThreadMain) -> io::Result<Thread>;
    /// Starts a thread with a reactor of its own, which nothing on other threads can hold up.
    ///
    /// # Errors
    ///
    /// When the system has no more threads, or no more of what a reactor needs.
    fn start_io_thread(&self, name: &str, main: IoMain) -> io::Result<Thread>;
}

/// A stream of bytes, both ways.
pub trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Socket for S {}

/// Waits until a time. Not set, it waits for ever.
pub trait Timer: Future<Output = ()> + Send {
    /// Sets another time, or none.
    fn set(self: Pin<&mut Self>, at: Option<Instant>);
}

/// The time `within` from `now`; after a span that no clock can count to, such as [`Duration::MAX`], a hundred years from `now`.
#[must_use]
pub fn after(now: Instant, within: Duration) -> Instant {
    now.checked_add(within).unwrap_or_else(|| now + FOR_EVER)
}

/// As good as for ever, and far from what an [`Instant`] can count to.
pub(crate) const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Waits until `at`.
///
/// # Cancel safety
///
/// Waiting changes nothing.
pub async fn sleep_until(runtime: &dyn Runtime, at: Instant) {
    let mut timer = runtime.timer();
    timer.as_mut().set(Some(at));
    timer.await;
}

/// Waits for `future`, at most until `at`; none when the time came first.
///
/// # Cancel safety
///
/// That of `future`: it is dropped when the time comes, or with this one.
pub async fn timeout_at<F: Future>(runtime: &dyn Runtime, at: Instant, future: F) -> Option<F::Output> {
    let mut timer = runtime.timer();
    timer.as_mut().set(Some(at));
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|cx| {
        use std::task::Poll;
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        timer.as_mut().poll(cx).map(|()| None)
    })
    .await
}
