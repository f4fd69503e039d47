//! What the lines of a node share: the conditions in force, and what has happened to those that were open.

use super::LinkConditions;
use millstream_protocol::NodeId;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;

/// Where a line leaves whom to wake.
pub(crate) type Waiter = Arc<Mutex<Option<Waker>>>;

/// The link between clients and one node.
#[derive(Debug, Default)]
pub(crate) struct Link {
    /// Counts changes, so that a line looks only when there is something new.
    version: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    all: LinkConditions,
    by_client: BTreeMap<String, LinkConditions>,
    resets: u64,
    half_opens: u64,
    waiters: Vec<Weak<Mutex<Option<Waker>>>>,
}

/// What a line knows of its link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    version: u64,
    pub(crate) conditions: LinkConditions,
    pub(crate) resets: u64,
    pub(crate) half_opens: u64,
}

impl Link {
    /// What is in force for a client.
    pub(crate) fn look(&self, client: Option<&str>) -> Known {
        let version = self.version.load(Ordering::Acquire);
        let state = self.lock();
        let own = client.and_then(|client| state.by_client.get(client));
        let conditions = own.copied().unwrap_or(state.all);
        Known { version, conditions, resets: state.resets, half_opens: state.half_opens }
    }
    /// Whether something has changed since.
    pub(crate) fn has_changed(&self, since: &Known) -> bool {
        self.version.load(Ordering::Acquire) != since.version
    }
    /// Registers a line that wants to be woken at changes.
    pub(crate) fn watch(&self, waiter: &Waiter) {
        let mut state = self.lock();
        // Those that are gone are looked for when there is no more room, so that a crowd is registered in linear time.
        if state.waiters.len() == state.waiters.capacity() {
            state.waiters.retain(|each| each.strong_count() > 0);
        }
        state.waiters.push(Arc::downgrade(waiter));
    }
    /// Sets the conditions, for one client or for all others.
    pub(crate) fn set(&self, client: Option<&str>, conditions: LinkConditions) {
        self.change(|state| match client {
            Some(client) => {
                state.by_client.insert(client.to_owned(), conditions);
            }
            None => state.all = conditions,
        });
    }
    /// As on the first day, for all clients.
    pub(crate) fn heal(&self) {
        self.change(|state| {
            state.all = LinkConditions::default();
            state.by_client.clear();
        });
    }
    /// Resets all connections.
    pub(crate) fn reset(&self) {
        self.change(|state| state.resets += 1);
    }
    /// Lets the broker forget all connections without a word.
    pub(crate) fn half_open(&self) {
        self.change(|state| state.half_opens += 1);
    }
    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        self.version.fetch_add(1, Ordering::Release);
        let waiters: Vec<Waiter> = state.waiters.iter().filter_map(Weak::upgrade).collect();
        drop(state);
        for waiter in waiters {
            let waker = waiter.lock().unwrap_or_else(PoisonError::into_inner).take();
            waker.into_iter().for_each(Waker::wake);
        }
    }
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All links of a cluster.
#[derive(Debug)]
pub(crate) struct Links(Mutex<BTreeMap<NodeId, Arc<Link>>>);

impl Links {
    pub(crate) fn new(nodes: impl IntoIterator<Item = NodeId>) -> Self {
        Self(Mutex::new(nodes.into_iter().map(|node| (node, Arc::default())).collect()))
    }
    pub(crate) fn of(&self, node: NodeId) -> Option<Arc<Link>> {
        self.lock().get(&node).cloned()
    }
    pub(crate) fn all(&self) -> Vec<Arc<Link>> {
        self.lock().values().cloned().collect()
    }
    /// A node has come.
    pub(crate) fn add(&self, node: NodeId) {
        self.lock().entry(node).or_default();
    }
    fn lock(&self) -> MutexGuard<'_, BTreeMap<NodeId, Arc<Link>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
