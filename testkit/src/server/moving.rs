//! A stream of the control port: it remembers when bytes last moved on it, and answers what is no HTTP as all else is answered.

use super::answer::Refusal;
use bytes::{Buf, Bytes};
use hyper::StatusCode;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// When bytes last moved.
#[derive(Debug, Clone)]
pub(super) struct Moved(Arc<Mutex<Instant>>);
impl Moved {
    pub(super) fn last(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn now(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}
impl Default for Moved {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }
}

/// The stream.
#[derive(Debug)]
pub(super) struct Moving<S> {
    inner: S,
    moved: Moved,
    /// What is written in place of an answer of hyper's own.
    instead: Bytes,
}
impl<S> Moving<S> {
    pub(super) fn new(inner: S, moved: Moved) -> Self {
        Self { inner, moved, instead: Bytes::new() }
    }
}
impl<S: AsyncWrite + Unpin> Moving<S> {
    fn poll_instead(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.instead.is_empty() {
            let count = ready!(Pin::new(&mut self.inner).poll_write(cx, &self.instead))?;
            self.moved.now();
            self.instead.advance(count);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Moving<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        self.moved.now();
        Poll::Ready(Ok(()))
    }
}
impl<S: AsyncWrite + Unpin> AsyncWrite for Moving<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_instead(cx))?;
        if let Some(status) = without_body(bytes) {
            self.instead = said(status);
            return Poll::Ready(Ok(bytes.len()));
        }
        let count = ready!(Pin::new(&mut self.inner).poll_write(cx, bytes))?;
        self.moved.now();
        Poll::Ready(Ok(count))
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_instead(cx))?;
        Pin::new(&mut self.inner).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_instead(cx))?;
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

/// The status of a refusal that says nothing: what hyper answers by itself to what it cannot read. All refusals of ours have a body.
fn without_body(bytes: &[u8]) -> Option<StatusCode> {
    let status = bytes.strip_prefix(b"HTTP/1.1 ")?.get(..3).filter(|status| status.starts_with(b"4"))?;
    let says_nothing = bytes.ends_with(b"\r\n\r\n") && bytes.windows(19).any(|at| at == b"content-length: 0\r\n");
    StatusCode::from_bytes(status).ok().filter(|_| says_nothing)
}
/// A whole answer, after which the connection ends.
fn said(status: StatusCode) -> Bytes {
    let body = Refusal::new(status, reason(status)).json();
    let head = format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    Bytes::from(head + &body)
}
fn reason(status: StatusCode) -> &'static str {
    match status {
        StatusCode::URI_TOO_LONG => "the path with its query is longer than the 65534 bytes that this port reads",
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            "there are more than 100 headers, or they are longer than this port reads"
        }
        _ => {
            "this is no request of HTTP/1.1, as in GET /topics HTTP/1.1 with a Host header; Kafka's clients connect to the bootstrap address"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_refusals_that_say_nothing_are_replaced() {
        let empty = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\ndate: x\r\n\r\n";
        assert_eq!(without_body(empty), Some(StatusCode::BAD_REQUEST));
        for others in [
            &b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}"[..],
            b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\n",
        ] {
            assert_eq!(without_body(others), None);
        }
    }
}
