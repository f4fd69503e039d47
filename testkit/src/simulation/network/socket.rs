//! A process's end of a connection.

use super::pipe::Piece;
use super::{Direction, Phase};
use crate::broker::ConnectionId;
use crate::simulation::process::ProcessId;
use crate::simulation::world::World;
use bytes::Bytes;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A process's end of a connection. Dropping it closes it.
#[derive(Debug)]
pub(crate) struct SimSocket {
    world: Arc<World>,
    id: ConnectionId,
}

impl SimSocket {
    /// Begins to open a connection.
    pub(crate) fn open(world: Arc<World>, process: ProcessId, address: SocketAddr) -> io::Result<Self> {
        let mut state = world.lock();
        let dead = || io::Error::other("the process is dead");
        let host = state.processes.get(&process).ok_or_else(dead)?.host.clone();
        let now = state.now;
        let id = state.network.open(now, process, host, address)?;
        drop(state);
        Ok(Self { world, id })
    }
    /// Waits until it is open.
    pub(crate) fn poll_connected(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.world.lock();
        let Some(connection) = state.network.find(self.id) else { return Poll::Ready(Err(reset())) };
        match connection.phase {
            Phase::Opening => {
                connection.opener = Some(cx.waker().clone());
                Poll::Pending
            }
            Phase::Open => Poll::Ready(Ok(())),
            Phase::Refused => Poll::Ready(Err(io::ErrorKind::ConnectionRefused.into())),
            Phase::Reset => Poll::Ready(Err(reset())),
        }
    }
}

impl AsyncRead for SimSocket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut state = self.world.lock();
        let Some(connection) = state.network.find(self.id).filter(|found| found.phase == Phase::Open) else {
            return Poll::Ready(Err(reset()));
        };
        match connection.to_process.read(buffer.remaining()) {
            Some(bytes) => {
                buffer.put_slice(&bytes);
                Poll::Ready(Ok(()))
            }
            None => {
                connection.to_process.wait_to_read(cx);
                Poll::Pending
            }
        }
    }
}

impl AsyncWrite for SimSocket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.world.lock();
        let now = state.now;
        let Some(connection) = state.network.find(self.id).filter(|found| found.phase == Phase::Open) else {
            return Poll::Ready(Err(reset()));
        };
        let taken = connection.to_node.room().min(bytes.len());
        if taken == 0 && !bytes.is_empty() {
            connection.to_node.wait_to_write(cx);
            return Poll::Pending;
        }
        let piece = Bytes::copy_from_slice(bytes.get(..taken).unwrap_or_default());
        state.network.write(now, self.id, piece);
        Poll::Ready(Ok(taken))
    }
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_ref().get_ref().poll_connected(cx))?;
        let mut state = self.world.lock();
        let now = state.now;
        state.network.send(now, self.id, Direction::ToNode, Piece::End);
        Poll::Ready(Ok(()))
    }
}

impl Drop for SimSocket {
    fn drop(&mut self) {
        let mut state = self.world.lock();
        let now = state.now;
        state.network.close(now, self.id);
    }
}

fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}
