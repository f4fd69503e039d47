//! The listening side of each broker.

use super::door::Door;
use super::places::{Places, addresses};
use super::room::Trouble;
use super::shared::Shared;
use super::thread::{Host, Place};
use crate::broker::Endpoint;
#[cfg(feature = "client")]
use crate::network::memory::{MemoryListener, MemoryNetwork};
use millstream_protocol::NodeId;
use socket2::SockRef;
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::task::{AbortHandle, JoinSet};

/// The port of the first listener of every broker in memory.
#[cfg(feature = "client")]
const MEMORY_PORT: u16 = 9092;
/// How many connections the system holds ready to be accepted, if its own limit is no lower: a client whose connection finds no place tries again a second later.
const BACKLOG: u16 = 4096;
/// How long connections that end in order have for what they write.
const PARTING: Duration = Duration::from_secs(1);

/// One listener of a broker.
#[derive(Debug)]
struct Listening {
    address: SocketAddr,
    door: Door,
    running: Option<Running>,
    /// While the broker is down its port is bound, so that nobody takes it, and refuses connections, as nobody listens there.
    held: Option<TcpSocket>,
}

/// Where connections come from.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(std::net::TcpListener),
    Held(TcpSocket),
    #[cfg(feature = "client")]
    Memory(MemoryListener),
}

/// A listener's task, and how to end it.
#[derive(Debug)]
struct Running {
    stop: oneshot::Sender<Ending>,
    /// Brings the port, if it could be kept.
    ended: mpsc::Receiver<Option<TcpSocket>>,
    task: AbortHandle,
    place: Place,
}
/// How a listener's connections end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// At once.
    Cut,
    /// When they have written what was answered.
    InOrder,
}

impl Running {
    /// Tells the listener and its connections to end.
    fn end(self, ending: Ending) -> Parted {
        // It may have ended by itself.
        let _ = self.stop.send(ending);
        if self.place == Place::Caller && ending == Ending::Cut {
            self.task.abort();
        }
        Parted { ended: self.ended, place: self.place }
    }
}

/// A listener that was told to end.
struct Parted {
    ended: mpsc::Receiver<Option<TcpSocket>>,
    place: Place,
}
impl Parted {
    /// Waits until the listener and its connections are gone; on the caller's own thread they go when that next waits. Its port stays bound
    /// while what is returned lives.
    fn wait(self) -> Option<TcpSocket> {
        match self.place {
            // An error says that the other half is gone: ended, too.
            Place::OwnThread => self.ended.recv().ok().flatten(),
            Place::Caller => None,
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
    /// Every broker's ways in.
    doors: Vec<Door>,
    by_id: BTreeMap<NodeId, Vec<Listening>>,
}
impl Nodes {
    pub(super) fn new(host: &Host, doors: Vec<Door>) -> Self {
        Self {
            runtime: host.handle(),
            place: host.place(),
            #[cfg(feature = "client")]
            network: MemoryNetwork::default(),
            doors,
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
        self.by_id.entry(id).or_default().push(Listening { address, door, running, held: None });
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
        self.by_id.entry(id).or_default().push(Listening { address, door, running, held: None });
        Ok(())
    }
    fn listen(&self, id: NodeId, address: SocketAddr, shared: &Shared) -> io::Result<Socket> {
        match self.place {
            Place::OwnThread => Ok(Socket::Tcp(std::net::TcpListener::bind(address)?)),
            #[cfg(feature = "client")]
            Place::Caller => {
                let link = shared.links().of(id).unwrap_or_default();
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
                SockRef::from(&listener).listen(BACKLOG.into())?;
                Listener::Tcp(TcpListener::from_std(listener)?)
            }
            Socket::Held(socket) => Listener::Tcp(socket.listen(BACKLOG.into())?),
            #[cfg(feature = "client")]
            Socket::Memory(listener) => Listener::Memory(listener),
        };
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = mpsc::channel();
        let (door, shared) = (door.clone(), Arc::clone(shared));
        let task = self.runtime.spawn(async move {
            let held = accept(listener, id, door, shared, stopped).await;
            // Whoever ends a listener waits for this.
            let _ = end.send(held);
        });
        Ok(Running { stop, ended, task: task.abort_handle(), place: self.place })
    }
    /// Lets one more broker listen, at all of its listeners or at none; says what its id is and where clients find it.
    pub(super) fn add_broker(
        &mut self,
        places: &Places,
        shared: &Arc<Shared>,
    ) -> Result<(NodeId, Vec<Endpoint>), String> {
        let id = self.by_id.last_key_value().map_or(1, |(id, _)| id.get().saturating_add(1));
        let (id, others) = (NodeId::new(id), self.by_id.len());
        let sockets = match self.place {
            Place::OwnThread => places.listen_after(others, self.doors.len())?,
            Place::Caller => Vec::new(),
        };
        let addresses = match self.place {
            Place::OwnThread => addresses(std::slice::from_ref(&sockets))?.into_iter().flatten().collect(),
            Place::Caller => places.in_memory_at(id, self.doors.len())?,
        };
        let endpoints = places.told_after(others, &addresses)?;
        shared.links().add(id);
        self.open(id, sockets, &addresses, shared).map_err(|error| {
            self.end(id);
            format!("node {id} does not listen: {error}")
        })?;
        Ok((id, endpoints))
    }
    fn open(
        &mut self,
        id: NodeId,
        sockets: Vec<std::net::TcpListener>,
        addresses: &[SocketAddr],
        shared: &Arc<Shared>,
    ) -> io::Result<()> {
        for (door, socket) in self.doors.clone().into_iter().zip(sockets) {
            self.add(id, door, socket, shared)?;
        }
        #[cfg(feature = "client")]
        if self.place == Place::Caller {
            for (door, address) in self.doors.clone().into_iter().zip(addresses) {
                self.add_in_memory(id, door, *address, shared)?;
            }
        }
        #[cfg(not(feature = "client"))]
        let _: &[SocketAddr] = addresses;
        Ok(())
    }
    /// Ends a broker for good, if it has begun.
    fn end(&mut self, id: NodeId) {
        if self.by_id.contains_key(&id) {
            self.crash(id);
            self.by_id.remove(&id);
        }
    }
    /// Ends all brokers but these, for good.
    pub(super) fn keep(&mut self, ids: &[NodeId]) {
        let others: Vec<NodeId> = self.by_id.keys().copied().filter(|id| !ids.contains(id)).collect();
        others.into_iter().for_each(|id| self.end(id));
    }
    /// Ends a broker's listeners and their connections.
    pub(super) fn crash(&mut self, id: NodeId) {
        self.close(id, Ending::Cut);
    }
    /// The same, once the connections have written what was answered, or have had time for it.
    pub(super) fn stop(&mut self, id: NodeId) {
        self.close(id, Ending::InOrder);
    }
    fn close(&mut self, id: NodeId, ending: Ending) {
        let running =
            self.find(id).iter_mut().filter_map(|listening| Some((listening.running.take()?, &mut listening.held)));
        // Each may take its time: all are told before any is waited for.
        let parted: Vec<(Parted, &mut Option<TcpSocket>)> =
            running.map(|(running, held)| (running.end(ending), held)).collect();
        parted.into_iter().for_each(|(parted, held)| *held = parted.wait());
    }
    /// Lets a broker listen again where it did.
    pub(super) fn restart(&mut self, id: NodeId, shared: &Arc<Shared>) -> io::Result<()> {
        let mut all = std::mem::take(self.find(id));
        let listens = all.iter_mut().filter(|listening| listening.running.is_none()).try_for_each(|listening| {
            let socket = match listening.held.take() {
                Some(held) => Socket::Held(held),
                None => self.listen(id, listening.address, shared)?,
            };
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
        self.by_id
            .values_mut()
            .flatten()
            .filter_map(|listening| listening.running.take())
            .for_each(|running| drop(running.end(Ending::Cut)));
    }
}

/// Where a broker in memory listens. Addresses of private use: nobody listens there, so that a client that is given them elsewhere finds out.
#[cfg(feature = "client")]
pub(super) fn memory_address(id: NodeId, listener: usize) -> io::Result<SocketAddr> {
    let port = u16::try_from(listener).ok().and_then(|listener| MEMORY_PORT.checked_add(listener));
    match (u8::try_from(id.get()), port) {
        (Ok(host), Some(port)) => Ok(SocketAddr::from((std::net::Ipv4Addr::new(10, 0, 0, host), port))),
        _ => Err(io::Error::other(format!("there is no address for listener {listener} of node {id}"))),
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
    /// Ends it. Its port stays bound while what is returned lives.
    fn close(self) -> Option<TcpSocket> {
        match self {
            Self::Tcp(listener) => {
                let address = listener.local_addr().ok()?;
                drop(listener);
                hold(address)
            }
            #[cfg(feature = "client")]
            Self::Memory(_) => None,
        }
    }
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
    mut stopped: oneshot::Receiver<Ending>,
) -> Option<TcpSocket> {
    // Owned by this task: when it ends, they end.
    let mut connections = JoinSet::new();
    let (mut next, mut trouble) = (None, Trouble::default());
    let ending = loop {
        tokio::select! {
            accepted = listener.accept(node, &door, &shared), if next.is_none() && !trouble.is_felt() => match accepted {
                Ok(serving) => {
                    trouble.is_over();
                    match shared.room().try_enter() {
                        Some(place) => drop(connections.spawn(holding(place, serving))),
                        None => next = Some(serving),
                    }
                }
                Err(error) => trouble.meet(&error, &format!("node {node}")),
            },
            Some(place) = shared.room().enter(node), if next.is_some() => {
                if let Some(serving) = next.take() {
                    connections.spawn(holding(place, serving));
                }
            }
            () = trouble.pass(), if trouble.is_felt() => {}
            Some(_) = connections.join_next() => trouble.may_be_over(),
            ending = &mut stopped => break ending.unwrap_or(Ending::Cut),
        }
    };
    let held = listener.close();
    if ending == Ending::InOrder {
        let _in_time = tokio::time::timeout(PARTING, async { while connections.join_next().await.is_some() {} }).await;
    }
    connections.shutdown().await;
    held
}
/// Serves a connection in a place that is free again when it ends.
async fn holding(place: OwnedSemaphorePermit, serving: Serving) {
    serving.await;
    drop(place);
}
/// Binds a port without listening on it. None when somebody else was quicker.
fn hold(address: SocketAddr) -> Option<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }.ok()?;
    // Connections of the listener that ended may linger. On Windows the option would share the port with anybody.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true).ok()?;
    socket.bind(address).ok()?;
    Some(socket)
}
