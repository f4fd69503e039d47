//! The listening side of each broker.

use super::connection;
use super::shared::Shared;
use millstream_protocol::NodeId;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, JoinSet};

/// Between two tries to listen at the address of a broker that is on its way out.
const RETRY: Duration = Duration::from_millis(1);

#[derive(Debug)]
struct Listening {
    address: SocketAddr,
    task: Option<JoinHandle<()>>,
}

/// All brokers' listeners.
#[derive(Debug)]
pub(super) struct Nodes {
    runtime: Handle,
    by_id: BTreeMap<NodeId, Listening>,
}
impl Nodes {
    pub(super) fn new(runtime: Handle) -> Self {
        Self { runtime, by_id: BTreeMap::new() }
    }
    pub(super) fn add(&mut self, id: NodeId, listener: std::net::TcpListener, shared: &Arc<Shared>) -> io::Result<()> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let listener = {
            let _inside = self.runtime.enter();
            TcpListener::from_std(listener)?
        };
        let task = self.runtime.spawn(accept(listener, id, Arc::clone(shared)));
        self.by_id.insert(id, Listening { address, task: Some(task) });
        Ok(())
    }
    /// Ends a broker's listener and with it its connections.
    pub(super) fn crash(&mut self, id: NodeId) {
        if let Some(task) = self.find(id).task.take() {
            task.abort();
        }
    }
    pub(super) fn restart(&mut self, id: NodeId, shared: &Arc<Shared>) {
        let (runtime, shared) = (self.runtime.clone(), Arc::clone(shared));
        let listening = self.find(id);
        if listening.task.is_some() {
            return;
        }
        let address = listening.address;
        listening.task = Some(runtime.spawn(async move {
            let listener = listen(address).await;
            accept(listener, id, shared).await;
        }));
    }
    fn find(&mut self, id: NodeId) -> &mut Listening {
        match self.by_id.get_mut(&id) {
            Some(listening) => listening,
            None => panic!("the cluster has no node {id}"),
        }
    }
}
impl Drop for Nodes {
    fn drop(&mut self) {
        self.by_id.values().filter_map(|listening| listening.task.as_ref()).for_each(JoinHandle::abort);
    }
}

async fn listen(address: SocketAddr) -> TcpListener {
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            Err(_) => tokio::time::sleep(RETRY).await,
        }
    }
}
async fn accept(listener: TcpListener, node: NodeId, shared: Arc<Shared>) {
    // Owned by this task: when it ends, they end.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, from)) => {
                    connections.spawn(connection::serve(stream, from, node, Arc::clone(&shared)));
                }
                // Out of file descriptors, most likely: it passes.
                Err(_) => tokio::time::sleep(RETRY).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
