//! The production runtime: tokio's reactor, the system's threads.

use super::park::drive;
use super::{BoxFuture, IoMain, Panicked, Runtime, Socket, Task, Thread, ThreadMain, Timer};
use crate::{Error, ErrorKind};
use millstream_protocol::Timestamp;
use socket2::{SockRef, TcpKeepalive};
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Tokio, as the caller runs it.
#[derive(Debug, Clone)]
pub struct TokioRuntime(Handle);

impl TokioRuntime {
    /// The runtime that the caller is in. It needs its I/O and time drivers, which `#[tokio::main]` enables.
    ///
    /// # Errors
    ///
    /// When the caller is in none.
    pub fn current() -> Result<Self, Error> {
        Handle::try_current().map(Self).map_err(|error| {
            Error::new(ErrorKind::Misuse, "find the tokio runtime")
                .reason("this must be called inside a tokio runtime, such as `#[tokio::main]` makes")
                .because(error)
        })
    }
    /// A runtime by its handle.
    #[must_use]
    pub const fn new(handle: Handle) -> Self {
        Self(handle)
    }
}

impl Runtime for TokioRuntime {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
    fn wall_clock(&self) -> Timestamp {
        SystemTime::now().into()
    }
    fn seed(&self) -> u64 {
        RandomState::new().hash_one(0_u8)
    }
    fn timer(&self) -> Pin<Box<dyn Timer>> {
        Box::pin(TokioTimer { handle: self.0.clone(), sleep: None })
    }
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<io::Result<Vec<SocketAddr>>> {
        let host = host.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((host.as_str(), port)).await?.collect()) })
    }
    fn connect(&self, address: SocketAddr) -> BoxFuture<io::Result<Box<dyn Socket>>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            prepare(&stream)?;
            Ok(Box::new(stream) as Box<dyn Socket>)
        })
    }
    fn spawn(&self, task: BoxFuture<()>) -> Task {
        let (ended, finished) = oneshot::channel();
        let handle = self.0.spawn(async move {
            let _ended = ended;
            task.await;
        });
        Task::new(finished, move || handle.abort())
    }
    fn start_thread(&self, name: &str, main: ThreadMain) -> io::Result<Thread> {
        start(name, move || drive(main()))
    }
    fn start_io_thread(&self, name: &str, main: IoMain) -> io::Result<Thread> {
        let reactor = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let runtime: Arc<dyn Runtime> = Arc::new(Self(reactor.handle().clone()));
        start(name, move || reactor.block_on(main(runtime)))
    }
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    // A system that has no such thing still has a connection.
    if let Err(error) = look_after(&SockRef::from(stream)) {
        tracing::debug!(%error, "a connection is not kept alive: it may be long until it is found to be gone");
    }
    Ok(())
}
fn look_after(socket: &SockRef<'_>) -> io::Result<()> {
    // While something that was sent is not acknowledged, no probes are sent.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.set_tcp_user_timeout(Some(GONE))?;
    socket.set_tcp_keepalive(&KEEPALIVE)
}

/// Whoever only waits for an answer does not find out by itself that the other end is gone without a word, and an answer to JoinGroup may be waited
/// for longer than `max.poll.interval.ms`. With these a connection that nobody answers on fails within a minute. The system's own are two hours.
const KEEPALIVE: TcpKeepalive =
    TcpKeepalive::new().with_time(Duration::from_secs(30)).with_interval(Duration::from_secs(10)).with_retries(3);

/// For how long what was sent may not be acknowledged. It ends connections, too, whose other end takes nothing for so long.
#[cfg(any(target_os = "linux", target_os = "android"))]
const GONE: Duration = Duration::from_secs(60);

fn start(name: &str, main: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
    let handle = std::thread::Builder::new().name(name.to_owned()).spawn(main)?;
    Ok(Thread::new(move || handle.join().map_err(|payload| Panicked::new(&*payload))))
}

/// A tokio sleep that is made when it is first needed and used again after.
struct TokioTimer {
    handle: Handle,
    sleep: Option<(Pin<Box<tokio::time::Sleep>>, bool)>,
}

impl Timer for TokioTimer {
    fn set(mut self: Pin<&mut Self>, at: Option<Instant>) {
        let this = &mut *self;
        match (at.map(tokio::time::Instant::from_std), &mut this.sleep) {
            (Some(at), Some((sleep, set))) => {
                if !*set || sleep.deadline() != at {
                    sleep.as_mut().reset(at);
                }
                *set = true;
            }
            (Some(at), empty) => {
                let _entered = this.handle.enter();
                *empty = Some((Box::pin(tokio::time::sleep_until(at)), true));
            }
            (None, Some((_, set))) => *set = false,
            (None, None) => {}
        }
    }
}
impl Future for TokioTimer {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.sleep {
            Some((sleep, true)) => sleep.as_mut().poll(cx),
            // Setting it needs `&mut`: whoever does polls it again.
            _ => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A node had forgotten the connections on which two members waited to be let in again. Nothing was sent on them, so nothing failed: the group
    // stood still for five minutes, until JoinGroup itself had taken too long.
    #[tokio::test]
    async fn a_connection_on_which_nothing_is_sent_is_looked_after() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let stream = TcpStream::connect(listener.local_addr().expect("it is bound")).await.expect("somebody listens");
        prepare(&stream).expect("options can be set");
        let socket = SockRef::from(&stream);
        assert!(stream.nodelay().expect("it can be asked"));
        assert!(socket.keepalive().expect("it can be asked"));
        let silence = socket.tcp_keepalive_time().expect("it can be asked");
        let interval = socket.tcp_keepalive_interval().expect("it can be asked");
        let found_by = silence + interval * socket.tcp_keepalive_retries().expect("it can be asked");
        assert!(found_by <= Duration::from_secs(60), "{found_by:?}");
        // While something is not acknowledged that is all there is.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        assert_eq!(socket.tcp_user_timeout().expect("it can be asked"), Some(GONE));
    }
}
