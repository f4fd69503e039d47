//! One connection: frames in, replies out, one request at a time, as Kafka mutes a connection while it works for it.

use super::buffers::Held;
use super::shared::{Delivered, Shared};
use super::unread::Answer;
use crate::broker::{Closing, ConnectionId, Fault, ListenerId, Outcome, Peer};
use crate::network::Client;
use bytes::{Buf, Bytes};
use millstream_protocol::NodeId;
use millstream_protocol::frame::{self, Frame, FrameBuffer};
use millstream_protocol::messages::StrBytes;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// Kafka's `socket.request.max.bytes`.
const MAX_REQUEST: usize = 104_857_600;
/// How much is read ahead while a request waits for its reply.
const READ_AHEAD: usize = 64 << 10;

/// Where a connection came in, and from where.
pub(super) struct At {
    pub(super) node: NodeId,
    pub(super) listener: ListenerId,
    pub(super) from: SocketAddr,
    /// Where to say who the client is, for links that treat clients differently.
    pub(super) client: Client,
}

/// Serves a connection until either side ends it. `certified` is whom its certificate names.
pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    at: At,
    certified: Option<StrBytes>,
    shared: Arc<Shared>,
) {
    let (id, outcomes) = shared.connect(at.node);
    let _registered = Registered { id, shared: &shared };
    let host = StrBytes::from_string(format!("/{}", at.from.ip()));
    let peer = Peer { listener: at.listener, certified, ..Peer::new(id, at.node, host) };
    let mut connection = Connection {
        stream,
        buffer: FrameBuffer::new(MAX_REQUEST),
        outcomes,
        client: at.client,
        from: at.from,
        held: Held::nothing(shared.buffers()),
    };
    // Whatever ends it, the peer sees an end of stream; why the broker ended it has been said.
    let _ = connection.run(&peer, &shared).await;
}

/// Says in the log why a broker ends a connection: no lock is held here, however long the log takes.
pub(super) fn tell_end(node: NodeId, from: SocketAddr, closing: &Closing) {
    let request = closing.request.as_ref().map(|request| format!(" upon {request}")).unwrap_or_default();
    let text = format!("node {node} closes the connection of {from}{request}: {}", closing.reason);
    match closing.fault {
        Fault::Test => tracing::debug!("{text}"),
        Fault::Client => tracing::warn!("{text}"),
        Fault::Broker => tracing::error!("{text}"),
    }
}

struct Registered<'s> {
    id: ConnectionId,
    shared: &'s Shared,
}
impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.shared.disconnect(self.id);
    }
}

struct Connection<'b, S> {
    stream: S,
    buffer: FrameBuffer,
    outcomes: mpsc::Receiver<Delivered>,
    client: Client,
    held: Held<'b>,
    from: SocketAddr,
}
impl<'b, S: AsyncRead + AsyncWrite + Unpin> Connection<'b, S> {
    async fn run(&mut self, peer: &Peer, shared: &Shared) -> io::Result<()> {
        loop {
            while let Some(payload) = self.next_request(peer)? {
                if !self.client.is_known() {
                    self.learn_client(&payload);
                }
                shared.unread().wait_for_room().await;
                shared.handle(peer, &payload);
                drop(payload);
                let delivered = self.delivered().await?;
                if let Some(closing) = self.hand_out(peer, delivered).await? {
                    tell_end(peer.node, self.from, &closing);
                    return self.stream.shutdown().await;
                }
            }
            self.read().await?;
        }
    }
    fn next_request(&mut self, peer: &Peer) -> io::Result<Option<Bytes>> {
        self.buffer.next_frame().map_err(|error| {
            tell_end(peer.node, self.from, &Closing::refused(error.to_string()));
            io::Error::other(error)
        })
    }
    /// Clients say who they are in their requests; nothing is learnt from what is none.
    fn learn_client(&self, payload: &Bytes) {
        if let Ok(header) = frame::decode_request_header(payload) {
            self.client.set(header.client_id().unwrap_or_default());
        }
    }
    /// Writes what there is to write; says why the connection ends if it does.
    async fn hand_out(&mut self, peer: &Peer, delivered: Delivered) -> io::Result<Option<Closing>> {
        let (segments, closing) = match delivered.outcome {
            Outcome::Frame(frame) => (Segments::from(frame), None),
            Outcome::Last(frame, closing) => (Segments::from(frame), Some(closing)),
            Outcome::Raw(bytes) => (Segments::from(bytes), None),
            Outcome::Silence => return Ok(None),
            Outcome::Close(closing) => return Ok(Some(closing)),
        };
        let written = self.write(segments, delivered.answer.as_ref()).await;
        if let Err(error) = written.as_ref()
            && error.kind() == io::ErrorKind::TimedOut
        {
            tell_end(peer.node, self.from, &Closing::refused(error.to_string()));
        }
        written.map(|()| closing)
    }
    async fn write(&mut self, mut segments: Segments, answer: Option<&Answer>) -> io::Result<()> {
        let Some(answer) = answer else {
            self.stream.write_all_buf(&mut segments).await?;
            return self.stream.flush().await;
        };
        answer.write(&mut self.stream, segments).await
    }
    async fn read(&mut self) -> io::Result<()> {
        let read = tokio::select! {
            read = read(&mut self.stream, &mut self.buffer) => read?,
            // Nobody answers what was not asked: its node goes.
            _ = self.outcomes.recv() => return self.stream.shutdown().await.and(Err(io::ErrorKind::ConnectionAborted.into())),
        };
        match read {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => self.held.set(self.buffer.buffered()).inspect_err(|error| tracing::warn!("{error}")),
        }
    }
    /// Waits for the reply, and notices when the peer hangs up meanwhile.
    async fn delivered(&mut self) -> io::Result<Delivered> {
        loop {
            let may_read = self.buffer.buffered() < READ_AHEAD;
            tokio::select! {
                biased;
                delivered = self.outcomes.recv() => return delivered.ok_or_else(|| io::ErrorKind::ConnectionAborted.into()),
                read = read(&mut self.stream, &mut self.buffer), if may_read => if read? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                },
            }
        }
    }
}

/// Reads on. Where the system gives no memory for it, one connection ends, and not the process.
async fn read(stream: &mut (impl AsyncRead + Unpin), buffer: &mut FrameBuffer) -> io::Result<usize> {
    let spare = buffer.try_spare().map_err(|error| {
        tracing::error!(
            "{error}: its connection is closed; let the process have more memory, or have the cluster keep less of it: \
             millstream.max.record.bytes bounds stored records, millstream.max.state.bytes what else is remembered, \
             millstream.max.buffer.bytes requests that have come in part, millstream.max.unread.bytes answers that are not read"
        );
        io::Error::new(io::ErrorKind::OutOfMemory, error)
    })?;
    stream.read_buf(spare).await
}

/// The pieces of a frame, to be written without putting them together.
struct Segments {
    left: VecDeque<Bytes>,
    /// Bytes of all of them.
    len: usize,
}
impl From<Frame> for Segments {
    fn from(frame: Frame) -> Self {
        Self { len: frame.len(), left: frame.into_segments().into() }
    }
}
impl From<Bytes> for Segments {
    fn from(bytes: Bytes) -> Self {
        Self { len: bytes.len(), left: [bytes].into() }
    }
}

impl Buf for Segments {
    fn remaining(&self) -> usize {
        self.len
    }
    fn chunk(&self) -> &[u8] {
        self.left.front().map_or(&[], Bytes::as_ref)
    }
    fn advance(&mut self, mut count: usize) {
        self.len = self.len.saturating_sub(count);
        while let Some(front) = self.left.front_mut() {
            let step = count.min(front.len());
            front.advance(step);
            count -= step;
            if !front.is_empty() {
                return;
            }
            self.left.pop_front();
        }
    }
    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        slices.iter_mut().zip(&self.left).map(|(slice, bytes)| *slice = IoSlice::new(bytes)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_written_in_order_wherever_the_writes_end() {
        for step in 1..6 {
            let left = [Bytes::from_static(b"ab"), Bytes::from_static(b"c"), Bytes::from_static(b"def")].into();
            let mut segments = Segments { left, len: 6 };
            let mut out = Vec::new();
            while segments.has_remaining() {
                let mut slices = [IoSlice::new(&[]); 8];
                let filled = segments.chunks_vectored(&mut slices);
                let all: Vec<u8> = slices.iter().take(filled).flat_map(|slice| slice.to_vec()).collect();
                let taken = step.min(all.len());
                out.extend_from_slice(&all[..taken]);
                segments.advance(taken);
            }
            assert_eq!(out, b"abcdef");
        }
    }
}
