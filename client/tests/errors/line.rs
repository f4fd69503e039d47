//! A runtime whose sockets are bad lines: they carry few bytes at a time, pause, break, or fall silent.

use millstream_client::runtime::{BoxFuture, IoMain, Runtime, Socket, Task, Thread, ThreadMain, Timer, TokioRuntime};
use millstream_protocol::Timestamp;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What is wrong with every line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Each read and write carries one byte, and every other one waits for another turn.
    BytePieces,
    /// Each line breaks after some bytes, now in a request, now in an answer.
    Breaks,
    /// Each line falls silent after some bytes, and stays open.
    Stalls,
}

/// Tokio, with bad lines.
#[derive(Debug)]
pub(crate) struct BadLines {
    inner: Arc<dyn Runtime>,
    fault: Fault,
    opened: Arc<AtomicUsize>,
}

impl BadLines {
    pub(crate) fn new(fault: Fault) -> Self {
        let inner = Arc::new(TokioRuntime::current().expect("a test runs in tokio"));
        Self { inner, fault, opened: Arc::default() }
    }
    /// How many lines there were so far.
    pub(crate) fn opened(&self) -> usize {
        self.opened.load(Ordering::Relaxed)
    }
}

impl Runtime for BadLines {
    fn now(&self) -> Instant {
        self.inner.now()
    }
    fn wall_clock(&self) -> Timestamp {
        self.inner.wall_clock()
    }
    fn seed(&self) -> u64 {
        self.inner.seed()
    }
    fn timer(&self) -> Pin<Box<dyn Timer>> {
        self.inner.timer()
    }
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<io::Result<Vec<SocketAddr>>> {
        self.inner.resolve(host, port)
    }
    fn connect(&self, address: SocketAddr) -> BoxFuture<io::Result<Box<dyn Socket>>> {
        let (connecting, fault) = (self.inner.connect(address), self.fault);
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move { Ok(Box::new(Line::new(connecting.await?, fault, number)) as Box<dyn Socket>) })
    }
    fn spawn(&self, task: BoxFuture<()>) -> Task {
        self.inner.spawn(task)
    }
    fn start_thread(&self, name: &str, main: ThreadMain) -> io::Result<Thread> {
        self.inner.start_thread(name, main)
    }
    fn start_io_thread(&self, name: &str, main: IoMain) -> io::Result<Thread> {
        let (fault, opened) = (self.fault, Arc::clone(&self.opened));
        self.inner.start_io_thread(name, Box::new(move |inner| main(Arc::new(Self { inner, fault, opened }))))
    }
}

const READ: usize = 0;
const WRITE: usize = 1;

/// One of them.
struct Line {
    socket: Box<dyn Socket>,
    fault: Fault,
    /// The bytes, of both directions, until it breaks or stalls.
    left: usize,
    /// Whether the last turn to read, and that to write, was put off.
    waits: [bool; 2],
}

impl Line {
    /// The lines live for different numbers of bytes, so that they end in all sorts of places; each at least for a handshake.
    fn new(socket: Box<dyn Socket>, fault: Fault, number: usize) -> Self {
        Self { socket, fault, left: 1_500 + number * 977 % 6_000, waits: [false; 2] }
    }
    /// How many bytes of `wanted` may pass now.
    fn poll_allowed(&mut self, cx: &Context<'_>, way: usize, wanted: usize) -> Poll<io::Result<usize>> {
        match self.fault {
            Fault::BytePieces => {
                self.waits[way] = !self.waits[way];
                if self.waits[way] {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(Ok(wanted.min(1)))
            }
            Fault::Breaks if self.left == 0 => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
            Fault::Stalls if self.left == 0 => Poll::Pending,
            Fault::Breaks | Fault::Stalls => Poll::Ready(Ok(wanted.min(self.left))),
        }
    }
    fn passed(&mut self, count: usize) {
        self.left = self.left.saturating_sub(count);
    }
}

impl AsyncRead for Line {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let allowed = std::task::ready!(self.poll_allowed(cx, READ, buffer.remaining()))?;
        let mut bytes = vec![0; allowed];
        let mut piece = ReadBuf::new(&mut bytes);
        std::task::ready!(Pin::new(&mut self.socket).poll_read(cx, &mut piece))?;
        buffer.put_slice(piece.filled());
        let count = piece.filled().len();
        self.passed(count);
        Poll::Ready(Ok(()))
    }
}
impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let allowed = std::task::ready!(self.poll_allowed(cx, WRITE, bytes.len()))?;
        let written = std::task::ready!(Pin::new(&mut self.socket).poll_write(cx, &bytes[..allowed]))?;
        self.passed(written);
        Poll::Ready(Ok(written))
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
