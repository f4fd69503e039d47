//! The client's runtime in simulation: all of a process's clocks, timers, tasks, threads and sockets.
//!
//! Threads are tasks here, since whatever they wait for is awaited: code that may block a thread runs to its next await in one go.

use super::network::SimSocket;
use super::process::ProcessId;
use super::world::{TaskId, World};
use millstream_client::runtime::{BoxFuture, IoMain, Runtime, Socket, Task, Thread, ThreadMain, Timer};
use millstream_protocol::Timestamp;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The time of the calendar at the beginning: 2023-11-14 22:13:20 UTC.
pub(crate) const EPOCH_MS: i64 = 1_700_000_000_000;

/// What one process of a simulation runs on.
#[derive(Debug, Clone)]
pub(crate) struct SimRuntime {
    world: Arc<World>,
    process: ProcessId,
    /// How many times as fast as time its clock goes.
    pace: u32,
}

impl SimRuntime {
    pub(crate) const fn new(world: Arc<World>, process: ProcessId, pace: u32) -> Self {
        Self { world, process, pace }
    }
    fn start(&self, future: BoxFuture<()>) -> io::Result<Thread> {
        let task = self.world.spawn(self.process, future).ok_or_else(dead)?;
        let world = Arc::clone(&self.world);
        Ok(Thread::new(move || world.drive(task)))
    }
}

impl Runtime for SimRuntime {
    fn now(&self) -> Instant {
        self.world.now(self.pace)
    }
    fn wall_clock(&self) -> Timestamp {
        timestamp(self.world.lock().now)
    }
    fn seed(&self) -> u64 {
        self.world.lock().processes.get_mut(&self.process).map_or(0, |process| process.random.next())
    }
    fn timer(&self) -> Pin<Box<dyn Timer>> {
        Box::pin(SimTimer { world: Arc::clone(&self.world), pace: self.pace, at: None, waiting: None })
    }
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<io::Result<Vec<SocketAddr>>> {
        let found = self.world.lock().network.resolve(host, port);
        Box::pin(async move { found.map(|address| vec![address]) })
    }
    fn connect(&self, address: SocketAddr) -> BoxFuture<io::Result<Box<dyn Socket>>> {
        let (world, process) = (Arc::clone(&self.world), self.process);
        Box::pin(async move {
            let socket = SimSocket::open(world, process, address)?;
            poll_fn(|cx| socket.poll_connected(cx)).await?;
            Ok(Box::new(socket) as Box<dyn Socket>)
        })
    }
    fn spawn(&self, task: BoxFuture<()>) -> Task {
        let (ended, finished) = oneshot::channel::<()>();
        let id = self.world.spawn(
            self.process,
            Box::pin(async move {
                let _ended = ended;
                task.await;
            }),
        );
        let world = Arc::clone(&self.world);
        Task::new(finished, move || id.into_iter().for_each(|id: TaskId| world.abort(id)))
    }
    fn start_thread(&self, _name: &str, main: ThreadMain) -> io::Result<Thread> {
        self.start(Box::pin(async move { main().await }))
    }
    fn start_io_thread(&self, _name: &str, main: IoMain) -> io::Result<Thread> {
        let runtime: Arc<dyn Runtime> = Arc::new(self.clone());
        self.start(Box::pin(async move { main(runtime).await }))
    }
}

/// The time of the calendar at a time since the beginning.
pub(crate) fn timestamp(now: Duration) -> Timestamp {
    Timestamp::from_millis(EPOCH_MS + i64::try_from(now.as_millis()).unwrap_or(0))
}

fn dead() -> io::Error {
    io::Error::other("the process is dead")
}

struct SimTimer {
    world: Arc<World>,
    pace: u32,
    at: Option<Duration>,
    /// Where it is noted that this waits.
    waiting: Option<(Duration, u64)>,
}
impl SimTimer {
    fn forget(&mut self) {
        if let Some(key) = self.waiting.take() {
            self.world.lock().remove_timer(key);
        }
    }
}
impl Timer for SimTimer {
    fn set(mut self: Pin<&mut Self>, at: Option<Instant>) {
        let at = at.map(|at| self.world.time_of(at, self.pace));
        if self.at != at {
            self.forget();
            self.at = at;
        }
    }
}
impl Future for SimTimer {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else { return Poll::Pending };
        let mut state = self.world.lock();
        if at <= state.now {
            return Poll::Ready(());
        }
        // Tasks look at their timers whenever they are woken; most of these wait already.
        if self.waiting.is_some_and(|key| state.has_timer(key, cx.waker())) {
            return Poll::Pending;
        }
        if let Some(key) = self.waiting {
            state.remove_timer(key);
        }
        let key = state.add_timer(at, cx.waker().clone());
        drop(state);
        self.waiting = Some(key);
        Poll::Pending
    }
}
impl Drop for SimTimer {
    fn drop(&mut self) {
        self.forget();
    }
}
