//! The listening side of each broker.

use super::door::Door;
use super::shared::Shared;
use millstream_protocol::NodeId;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// Before the next try to accept, when there was nothing to accept with.
const PAUSE: Duration = Duration::from_millis(1);

/// One listener of a broker.
#[derive(Debug)]
struct Listening {
    address: SocketAddr,
    door: Door,
    running: Option<Running>,
}

/// A listener's task, and how to end it.
#[derive(Debug)]
struct Running {
    stop: oneshot::Sender<()>,
    ended: mpsc::Receiver<()>,
}
impl Running {
    /// Ends the listener and its connections; they are gone when this returns.
    fn end(self) {
        drop(self.stop);
        // An error says that the other half is gone: ended, too.
        let _ = self.ended.recv();
    }
}

/// All brokers' listeners.
#[derive(Debug)]
pub(super) struct Nodes {
    runtime: Handle,
    by_id: BTreeMap<NodeId, Vec<Listening>>,
}
impl Nodes {
    pub(super) fn new(runtime: Handle) -> Self {
        Self { runtime, by_id: BTreeMap::new() }
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
        let running = Some(self.run(id, &door, listener, shared)?);
        self.by_id.entry(id).or_default().push(Listening { address, door, running });
        Ok(())
    }
    fn run(
        &self,
        id: NodeId,
        door: &Door,
        listener: std::net::TcpListener,
        shared: &Arc<Shared>,
    ) -> io::Result<Running> {
        listener.set_nonblocking(true)?;
        let _inside = self.runtime.enter();
        let listener = TcpListener::from_std(listener)?;
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = mpsc::channel();
        let (door, shared) = (door.clone(), Arc::clone(shared));
        self.runtime.spawn(async move {
            accept(listener, id, door, shared, stopped).await;
            drop(end);
        });
        Ok(Running { stop, ended })
    }
    /// Ends a broker's listeners and their connections.
    pub(super) fn crash(&mut self, id: NodeId) {
        self.find(id).iter_mut().filter_map(|listening| listening.running.take()).for_each(Running::end);
    }
    /// Lets a broker listen again where it did.
    pub(super) fn restart(&mut self, id: NodeId, shared: &Arc<Shared>) -> io::Result<()> {
        let mut all = std::mem::take(self.find(id));
        let listens = all.iter_mut().filter(|listening| listening.running.is_none()).try_for_each(|listening| {
            let listener = std::net::TcpListener::bind(listening.address)?;
            listening.running = Some(self.run(id, &listening.door, listener, shared)?);
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

async fn accept(
    listener: TcpListener,
    node: NodeId,
    door: Door,
    shared: Arc<Shared>,
    mut stopped: oneshot::Receiver<()>,
) {
    // Owned by this task: when it ends, they end.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, from)) => {
                    connections.spawn(door.clone().serve(stream, from, node, Arc::clone(&shared)));
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
