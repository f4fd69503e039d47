//! Connections inside the process, and a client's runtime that opens them: for tests under tokio's paused clock.

use super::line::Transport;
use super::link::{Link, Waiter};
use millstream_client::runtime::{BoxFuture, IoMain, Runtime, Socket, Task, Thread, ThreadMain, Timer, TokioRuntime};
use millstream_protocol::Timestamp;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::sync::mpsc;

/// What a connection holds each way.
const WINDOW: usize = 64 << 10;
/// Connections that wait to be accepted.
const BACKLOG: usize = 128;

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct MemorySocket {
    stream: DuplexStream,
    was_reset: Arc<AtomicBool>,
    /// On the client's side: pieces are split there, since nothing else would keep them apart.
    link: Option<Arc<Link>>,
}
impl Transport for MemorySocket {
    fn reset(&self) {
        self.was_reset.store(true, Ordering::Release);
    }
}
impl MemorySocket {
    fn pair(link: &Arc<Link>) -> (Self, Self) {
        let (client, broker) = tokio::io::duplex(WINDOW);
        let was_reset = Arc::<AtomicBool>::default();
        let client = Self { stream: client, was_reset: Arc::clone(&was_reset), link: Some(Arc::clone(link)) };
        (client, Self { stream: broker, was_reset, link: None })
    }
    fn check(&self) -> io::Result<()> {
        if self.was_reset.load(Ordering::Acquire) { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
    }
}
impl AsyncRead for MemorySocket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        let split = self.link.as_ref().and_then(|link| link.look(None).conditions.split_bytes);
        let Some(limit) = split.filter(|limit| *limit < buffer.remaining()) else {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        };
        let mut piece = vec![0; limit.max(1)];
        let mut short = ReadBuf::new(&mut piece);
        let read = Pin::new(&mut self.stream).poll_read(cx, &mut short);
        buffer.put_slice(short.filled());
        read
    }
}
impl AsyncWrite for MemorySocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Who listens where.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryNetwork(Arc<Mutex<BTreeMap<SocketAddr, Door>>>);

#[derive(Debug, Clone)]
struct Door {
    accepts: mpsc::Sender<MemorySocket>,
    link: Arc<Link>,
}

/// The listening side of one address.
#[derive(Debug)]
pub(crate) struct MemoryListener {
    incoming: mpsc::Receiver<MemorySocket>,
    address: SocketAddr,
    network: MemoryNetwork,
}
impl MemoryListener {
    pub(crate) async fn accept(&mut self) -> io::Result<(MemorySocket, SocketAddr)> {
        let socket = self.incoming.recv().await.ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
        Ok((socket, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))))
    }
}
impl Drop for MemoryListener {
    fn drop(&mut self) {
        self.incoming.close();
        // Another may listen there by now: the node was restarted before the task of this one ended.
        self.network.doors().retain(|address, door| *address != self.address || !door.accepts.is_closed());
    }
}

impl MemoryNetwork {
    /// Listens at an address.
    pub(crate) fn listen(&self, address: SocketAddr, link: Arc<Link>) -> MemoryListener {
        let (accepts, incoming) = mpsc::channel(BACKLOG);
        self.doors().insert(address, Door { accepts, link });
        MemoryListener { incoming, address, network: self.clone() }
    }
    async fn connect(&self, address: SocketAddr) -> io::Result<MemorySocket> {
        let door = self.doors().get(&address).cloned();
        let door = door.ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionRefused))?;
        reach(&door.link).await;
        let (client, broker) = MemorySocket::pair(&door.link);
        door.accepts.try_send(broker).map_err(|_| io::Error::from(io::ErrorKind::ConnectionRefused))?;
        Ok(client)
    }
    fn doors(&self) -> MutexGuard<'_, BTreeMap<SocketAddr, Door>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
/// The handshake: there and back, once nothing is in the way.
async fn reach(link: &Link) {
    let waiter = Waiter::default();
    link.watch(&waiter);
    let is_open = |cx: &mut Context<'_>| {
        *waiter.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        let conditions = link.look(None).conditions;
        if conditions.stalls_to_broker || conditions.stalls_to_client {
            Poll::Pending
        } else {
            Poll::Ready(conditions.latency)
        }
    };
    let latency = poll_fn(is_open).await;
    if latency > Duration::ZERO {
        tokio::time::sleep(2 * latency).await;
    }
}

/// Tokio as the test runs it, with connections inside the process.
///
/// What wants a thread of its own gets a task of the same runtime instead, so that all wait by one clock.
#[derive(Debug)]
pub(crate) struct MemoryRuntime {
    inner: TokioRuntime,
    handle: tokio::runtime::Handle,
    network: MemoryNetwork,
    began: (Timestamp, tokio::time::Instant),
    seeds: Arc<AtomicU64>,
}
impl MemoryRuntime {
    pub(crate) fn new(network: MemoryNetwork, handle: tokio::runtime::Handle, seed: u64, now: Timestamp) -> Self {
        let began = (now, tokio::time::Instant::now());
        Self { inner: TokioRuntime::new(handle.clone()), handle, network, began, seeds: Arc::new(AtomicU64::new(seed)) }
    }
    fn same(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            handle: self.handle.clone(),
            network: self.network.clone(),
            began: self.began,
            seeds: Arc::clone(&self.seeds),
        }
    }
}
impl Runtime for MemoryRuntime {
    fn now(&self) -> Instant {
        self.inner.now()
    }
    fn wall_clock(&self) -> Timestamp {
        self.began.0 + self.began.1.elapsed()
    }
    fn seed(&self) -> u64 {
        self.seeds.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed)
    }
    fn timer(&self) -> Pin<Box<dyn Timer>> {
        self.inner.timer()
    }
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<io::Result<Vec<SocketAddr>>> {
        let parsed = host.parse().map(|ip| vec![SocketAddr::new(ip, port)]);
        let parsed = parsed.map_err(|_| io::Error::other(format!("a cluster in memory has no host `{host}`")));
        Box::pin(async move { parsed })
    }
    fn connect(&self, address: SocketAddr) -> BoxFuture<io::Result<Box<dyn Socket>>> {
        let network = self.network.clone();
        Box::pin(async move { Ok(Box::new(network.connect(address).await?) as Box<dyn Socket>) })
    }
    fn spawn(&self, task: BoxFuture<()>) -> Task {
        self.inner.spawn(task)
    }
    // They end by themselves, as threads would; waiting for them here would block the one thread that drives them.
    fn start_thread(&self, _name: &str, main: ThreadMain) -> io::Result<Thread> {
        self.inner.spawn(main()).detach();
        Ok(Thread::new(|| Ok(())))
    }
    fn start_io_thread(&self, _name: &str, main: IoMain) -> io::Result<Thread> {
        let runtime: Arc<dyn Runtime> = Arc::new(self.same());
        self.inner.spawn(main(runtime)).detach();
        Ok(Thread::new(|| Ok(())))
    }
}
