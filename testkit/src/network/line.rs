//! A connection's stream with its link's conditions. While there are none, reads and writes go straight through.

use super::link::{Known, Link, Waiter};
use super::pipe::{Chance, Pipe};
use bytes::{Buf, Bytes};
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, OnceLock, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// How much a way holds before its sender has to wait.
const WINDOW: usize = 256 << 10;
/// How much is read at once.
const CHUNK: usize = 16 << 10;

/// A stream that can end without a goodbye.
pub(crate) trait Transport: AsyncRead + AsyncWrite + Send + Unpin + 'static {
    /// Lets the peer see a reset when this is dropped.
    fn reset(&self);
}
impl Transport for tokio::net::TcpStream {
    fn reset(&self) {
        // Without it the peer sees an end instead: the next best.
        let _ = self.set_zero_linger();
    }
}

/// Who the client of a line is, once it has said so.
#[derive(Debug, Clone, Default)]
pub(crate) struct Client(Arc<OnceLock<String>>);
impl Client {
    /// Says who it is; the first word counts.
    pub(crate) fn set(&self, name: &str) {
        let _was_known = self.0.set(name.to_owned());
    }
    pub(crate) fn is_known(&self) -> bool {
        self.0.get().is_some()
    }
    fn name(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

/// A connection's stream, seen from the broker.
#[derive(Debug)]
pub(crate) struct Line<S> {
    inner: S,
    link: Arc<Link>,
    known: Known,
    waiter: Waiter,
    client: Client,
    chance: Chance,
    to_broker: Pipe,
    to_client: Pipe,
    /// What the socket has not taken of a piece.
    unwritten: Bytes,
    /// Whether the conditions are those of its client.
    was_named: bool,
    ended: bool,
    is_dead: bool,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S: Transport> Line<S> {
    pub(crate) fn new(inner: S, link: Arc<Link>, seed: u64) -> Self {
        let (known, waiter) = (link.look(None), Waiter::default());
        link.watch(&waiter);
        Self {
            inner,
            link,
            known,
            waiter,
            client: Client::default(),
            chance: Chance::new(seed),
            to_broker: Pipe::default(),
            to_client: Pipe::default(),
            unwritten: Bytes::new(),
            was_named: false,
            ended: false,
            is_dead: false,
            timer: None,
        }
    }
    /// Where to say who the client is.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    fn is_plain(&self) -> bool {
        self.known.conditions.is_plain()
            && self.to_broker.is_empty()
            && self.to_client.is_empty()
            && self.unwritten.is_empty()
            && !self.is_dead
            && !self.ended
    }
    /// Looks at the link; an error when it was reset.
    fn look(&mut self, cx: &Context<'_>) -> io::Result<()> {
        {
            let mut waiter = self.waiter.lock().unwrap_or_else(PoisonError::into_inner);
            if !waiter.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                *waiter = Some(cx.waker().clone());
            }
        }
        let is_named = self.client.is_known() && !std::mem::replace(&mut self.was_named, self.client.is_known());
        if !is_named && !self.link.has_changed(&self.known) {
            return Ok(());
        }
        let before = self.known;
        self.known = self.link.look(self.client.name());
        self.is_dead |= self.known.half_opens != before.half_opens;
        if self.known.resets == before.resets {
            return Ok(());
        }
        self.inner.reset();
        Err(io::ErrorKind::ConnectionReset.into())
    }
    /// Takes from the socket what has come, into the way to the broker.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while !self.ended && self.to_broker.len() < WINDOW {
            let mut chunk = [0; CHUNK];
            let mut buffer = ReadBuf::new(&mut chunk);
            match Pin::new(&mut self.inner).poll_read(cx, &mut buffer)? {
                Poll::Pending => break,
                Poll::Ready(()) if buffer.filled().is_empty() => self.ended = true,
                Poll::Ready(()) if self.is_dead => {}
                Poll::Ready(()) => {
                    let bytes = Bytes::copy_from_slice(buffer.filled());
                    self.to_broker.push(now(), bytes, &self.known.conditions, &mut self.chance);
                }
            }
        }
        Ok(())
    }
    /// Hands to the socket what has reached the client.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        loop {
            while !self.unwritten.is_empty() {
                match Pin::new(&mut self.inner).poll_write(cx, &self.unwritten)? {
                    Poll::Pending => return Ok(()),
                    Poll::Ready(count) => self.unwritten.advance(count),
                }
            }
            if self.is_dead || self.known.conditions.stalls_to_client {
                return Ok(());
            }
            let limit = self.known.conditions.split_bytes.unwrap_or(usize::MAX);
            let Some(piece) = self.to_client.pop(now(), limit) else { return Ok(()) };
            self.unwritten = piece;
        }
    }
    /// Wakes the task when the next bytes arrive.
    fn arm(&mut self, cx: &mut Context<'_>) {
        let link = &self.known.conditions;
        let in_due = self.to_broker.deadline().filter(|_| !link.stalls_to_broker);
        let out_due = self.to_client.deadline().filter(|_| !link.stalls_to_client && self.unwritten.is_empty());
        let Some(at) = in_due.into_iter().chain(out_due).min() else { return };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(at.into())));
        timer.as_mut().reset(at.into());
        if timer.as_mut().poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
    }
}
fn now() -> std::time::Instant {
    Instant::now().into_std()
}

impl<S: Transport> AsyncRead for Line<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.look(cx)?;
        if this.is_plain() {
            return Pin::new(&mut this.inner).poll_read(cx, buffer);
        }
        this.poll_drain(cx)?;
        this.poll_fill(cx)?;
        let link = this.known.conditions;
        if !link.stalls_to_broker && !this.is_dead && buffer.remaining() > 0 {
            let limit = link.split_bytes.unwrap_or(usize::MAX).min(buffer.remaining());
            if let Some(piece) = this.to_broker.pop(now(), limit) {
                buffer.put_slice(&piece);
                return Poll::Ready(Ok(()));
            }
        }
        // An end arrives after the last byte.
        if this.ended && (this.to_broker.is_empty() || this.is_dead) {
            return Poll::Ready(Ok(()));
        }
        this.arm(cx);
        Poll::Pending
    }
}

impl<S: Transport> AsyncWrite for Line<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        this.look(cx)?;
        if this.is_plain() {
            return Pin::new(&mut this.inner).poll_write_vectored(cx, slices);
        }
        if this.to_client.len() >= WINDOW && !this.is_dead {
            this.poll_drain(cx)?;
            if this.to_client.len() >= WINDOW {
                this.arm(cx);
                return Poll::Pending;
            }
        }
        let room = if this.is_dead { usize::MAX } else { WINDOW - this.to_client.len() };
        let bytes: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).take(room).collect();
        let count = bytes.len();
        if !this.is_dead {
            this.to_client.push(now(), bytes.into(), &this.known.conditions, &mut this.chance);
            this.poll_drain(cx)?;
            this.arm(cx);
        }
        Poll::Ready(Ok(count))
    }
    fn is_write_vectored(&self) -> bool {
        true
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }
    /// What is under way arrives before the end does.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.look(cx)?;
        if !this.is_dead {
            this.poll_drain(cx)?;
            if !this.to_client.is_empty() || !this.unwritten.is_empty() {
                this.arm(cx);
                return Poll::Pending;
            }
        }
        ready!(Pin::new(&mut this.inner).poll_shutdown(cx))?;
        Poll::Ready(Ok(()))
    }
}
