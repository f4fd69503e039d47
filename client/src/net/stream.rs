//! A socket and what is still to be written to it.

use crate::runtime::Socket;
use bytes::{Buf, Bytes, BytesMut};
use millstream_protocol::frame::Frame;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// How many pieces one vectored write takes.
const SEGMENTS: usize = 64;

pub(super) struct Stream {
    socket: Box<dyn Socket>,
    unwritten: VecDeque<Bytes>,
}

impl Stream {
    pub(super) fn new(socket: Box<dyn Socket>) -> Self {
        Self { socket, unwritten: VecDeque::new() }
    }
    /// Whether another frame would only wait behind what is unwritten.
    pub(super) fn is_full(&self) -> bool {
        self.unwritten.len() >= SEGMENTS
    }
    pub(super) fn push(&mut self, frame: Frame) {
        self.unwritten.extend(frame.into_segments());
    }
    /// Writes until nothing is left or the socket takes no more.
    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.unwritten.is_empty() {
            let mut slices = [IoSlice::new(&[]); SEGMENTS];
            let count =
                self.unwritten.iter().zip(&mut slices).map(|(piece, slice)| *slice = IoSlice::new(piece)).count();
            let written = ready!(Pin::new(&mut *self.socket).poll_write_vectored(cx, &slices[..count]))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.advance(written);
        }
        Poll::Ready(Ok(()))
    }
    /// Reads into the end of `buffer`; zero is the end of the stream.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut BytesMut) -> Poll<io::Result<usize>> {
        tokio_read(Pin::new(&mut *self.socket), cx, buffer)
    }

    fn advance(&mut self, mut written: usize) {
        while let Some(piece) = self.unwritten.front_mut() {
            if written < piece.len() {
                piece.advance(written);
                return;
            }
            written -= piece.len();
            self.unwritten.pop_front();
        }
    }
}

/// `AsyncReadExt::read_buf` as a poll function; its future holds no state between polls.
fn tokio_read(
    mut socket: Pin<&mut dyn Socket>,
    cx: &mut Context<'_>,
    buffer: &mut BytesMut,
) -> Poll<io::Result<usize>> {
    use std::future::Future;
    use tokio::io::AsyncReadExt;
    let mut read = std::pin::pin!(socket.read_buf(buffer));
    read.as_mut().poll(cx)
}
