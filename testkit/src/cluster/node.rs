//! The listening side of each broker.

use super::door::Door;
use super::shared::Shared;
use super::thread::{Host, Place};
#[cfg(feature = "client")]
use crate::network::memory::{MemoryListener, MemoryNetwork};
use millstream_protocol::NodeId;
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};

/// Before the next try to accept, when there was nothing to accept with.
const PAUSE: Duration = Duration::from_millis(1);

/// One listener of a broker.
#[derive(Debug)]
struct Listening {
    address: SocketAddr,
    door: Door,
    running: Option<Running>,
}

/// Where connections come from.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(std::net::TcpListener),
    #[cfg(feature = "client")]
    Memory(MemoryListener),
}

/// A listener's task, and how to end it.
#[derive(Debug)]
struct Running {
    stop: oneshot::Sender<()>,
    ended: mpsc::Receiver<()>,
    task: AbortHandle,
    place: Place,
}
impl Running {
    /// Ends the listener and its connections. They are gone when this returns; on the caller's own thread, when that next waits.
    fn end(self) {
        drop(self.stop);
        match self.place {
            // An error says that the other half is gone: ended, too.
            Place::OwnThread => drop(self.ended.recv()),
            Place::Caller => self.task.abort(),
        }
    }
}

/// All brokers' listeners.
#[derive(Debug)]
pub(super) struct Nodes {
    runtime: Handle,
    place: Place,
    #[cfg(feature = "client")]
    network: MemoryNetwork,
    by_id: BTreeMap<NodeId, Vec<Listening>>,
}
impl Nodes {
    pub(super) fn new(host: &Host) -> Self {
        Self {
            runtime: host.handle(),
            place: host.place(),
            #[cfg(feature = "client")]
            network: MemoryNetwork::default(),
            by_id: BTreeMap::new(),
        }
    }
    #[cfg(feature = "client")]
    pub(super) fn network(&self) -> MemoryNetwork {
        self.network.clone()
    }
    /// Lets a broker listen at one more place.
    pub(super) fn add(
        &mut self,
        id: NodeId,
        door: Door,
        listener: std::net::TcpListener,
        shared: &Arc<Shared>,
    ) -> io::Result<()> {
        let address = listener.local_addr()?;
        let running = Some(self.run(id, &door, Socket::Tcp(listener), shared)?);
        self.by_id.entry(id).or_default().push(Listening { address, door, running });
        Ok(())
    }
    /// The same inside the process.
    #[cfg(feature = "client")]
    pub(super) fn add_in_memory(
        &mut self,
        id: NodeId,
        door: Door,
        address: SocketAddr,
        shared: &Arc<Shared>,
    ) -> io::Result<()> {
        let running = Some(self.run(id, &door, self.listen(id, address, shared)?, shared)?);
        self.by_id.entry(id).or_default().push(Listening { address, door, running });
        Ok(())
    }
    fn listen(&self, id: NodeId, address: SocketAddr, shared: &Shared) -> io::Result<Socket> {
        match self.place {
            Place::OwnThread => Ok(Socket::Tcp(std::net::TcpListener::bind(address)?)),
            #[cfg(feature = "client")]
            Place::Caller => {
                let link = shared.links().of(id).map(Arc::clone).unwrap_or_default();
                Ok(Socket::Memory(self.network.listen(address, link)))
            }
            #[cfg(not(feature = "client"))]
            Place::Caller => Err(io::Error::other(format!("node {id} of {shared:?} has no network"))),
        }
    }
    fn run(&self, id: NodeId, door: &Door, socket: Socket, shared: &Arc<Shared>) -> io::Result<Running> {
        let _inside = self.runtime.enter();
        let listener = match socket {
            Socket::Tcp(listener) => {
                listener.set_nonblocking(true)?;
                Listener::Tcp(TcpListener::from_std(listener)?)
            }
            #[cfg(feature = "client")]
            Socket::Memory(listener) => Listener::Memory(listener),
        };
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = mpsc::channel();
        let (door, shared) = (door.clone(), Arc::clone(shared));
        let task = self.runtime.spawn(async move {
            accept(listener, id, door, shared, stopped).await;
            drop(end);
        });
        Ok(Running { stop, ended, task: task.abort_handle(), place: self.place })
    }
    /// Ends a broker's listeners and their connections.
    pub(super) fn crash(&mut self, id: NodeId) {
        self.find(id).iter_mut().filter_map(|listening| listening.running.take()).for_each(Running::end);
    }
    /// Lets a broker listen again where it did.
    pub(super) fn restart(&mut self, id: NodeId, shared: &Arc<Shared>) -> io::Result<()> {
        let mut all = std::mem::take(self.find(id));
        let listens = all.iter_mut().filter(|listening| listening.running.is_none()).try_for_each(|listening| {
            let socket = self.listen(id, listening.address, shared)?;
            listening.running = Some(self.run(id, &listening.door, socket, shared)?);
            Ok(())
        });
        *self.find(id) = all;
        listens
    }
    fn find(&mut self, id: NodeId) -> &mut Vec<Listening> {
        match self.by_id.get_mut(&id) {
            Some(listening) => listening,
            None => panic!("the cluster has no node {id}"),
        }
    }
}
impl Drop for Nodes {
    fn drop(&mut self) {
        self.by_id.values_mut().flatten().filter_map(|listening| listening.running.take()).for_each(Running::end);
    }
}

/// A listener inside a runtime.
enum Listener {
    Tcp(TcpListener),
    #[cfg(feature = "client")]
    Memory(MemoryListener),
}
/// A connection's life.
type Serving = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Listener {
    /// Waits for a connection; what is returned serves it.
    async fn accept(&mut self, node: NodeId, door: &Door, shared: &Arc<Shared>) -> io::Result<Serving> {
        let (door, shared) = (door.clone(), Arc::clone(shared));
        match self {
            Self::Tcp(listener) => {
                let (stream, from) = listener.accept().await?;
                // Only latency is lost if it cannot be set.
                let _ = stream.set_nodelay(true);
                Ok(Box::pin(door.serve(stream, from, node, shared)))
            }
            #[cfg(feature = "client")]
            Self::Memory(listener) => {
                let (stream, from) = listener.accept().await?;
                Ok(Box::pin(door.serve(stream, from, node, shared)))
            }
        }
    }
}

async fn accept(
    mut listener: Listener,
    node: NodeId,
    door: Door,
    shared: Arc<Shared>,
    mut stopped: oneshot::Receiver<()>,
) {
    // Owned by this task: when it ends, they end.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(node, &door, &shared) => match accepted {
                Ok(serving) => {
                    connections.spawn(serving);
                }
                // Out of file descriptors, most likely: it passes.
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
            _ = &mut stopped => break,
        }
    }
    drop(listener);
    connections.shutdown().await;
}
