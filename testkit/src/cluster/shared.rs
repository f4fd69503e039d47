//! What all tasks of a cluster share: the broker under one lock, held for one request at a time, and who awaits a reply.

use super::buffers::Buffers;
use super::clock::{Clock, TooFar};
use super::panics::Panics;
use super::room::Room;
use super::unread::{Answer, Unread};
use crate::broker::{Broker, ConnectionId, NodeState, Outcome, Peer};
use crate::network::Links;
use bytes::Bytes;
use millstream_protocol::hash::HashMap;
use millstream_protocol::{NodeId, Timestamp};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    clock: Clock,
    links: Links,
    seed: u64,
    seeds_given: AtomicU64,
    panics: Panics,
    buffers: Buffers,
    unread: Arc<Unread>,
    room: Room,
    deadline: watch::Sender<Option<Timestamp>>,
    changes: watch::Sender<()>,
}

#[derive(Debug)]
struct State {
    broker: Broker,
    connections: HashMap<ConnectionId, (NodeId, mpsc::Sender<Delivered>)>,
    next_connection: u64,
}

/// A reply on its way to its connection; while it lives, it counts as what no client has read.
#[derive(Debug)]
pub(super) struct Delivered {
    pub(super) outcome: Outcome,
    /// None when it is small.
    pub(super) answer: Option<Answer>,
}

impl Shared {
    pub(super) fn new(broker: Broker, clock: Clock, links: Links, seed: u64) -> Self {
        let buffers = Buffers::new(broker.buffer_bytes());
        let unread = Arc::new(Unread::new(broker.unread_bytes()));
        let state = State { broker, connections: HashMap::default(), next_connection: 0 };
        let (deadline, changes) = (watch::Sender::new(None), watch::Sender::new(()));
        Self {
            state: Mutex::new(state),
            clock,
            links,
            seed,
            seeds_given: AtomicU64::new(1),
            panics: Panics::default(),
            buffers,
            unread,
            room: Room::default(),
            deadline,
            changes,
        }
    }
    pub(super) fn room(&self) -> &Room {
        &self.room
    }
    pub(super) fn links(&self) -> &Links {
        &self.links
    }
    /// What chance in this cluster comes from.
    #[cfg(feature = "client")]
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }
    /// Puts another cluster in place of this one; connections end.
    pub(super) fn reset(&self, broker: Broker) {
        let mut state = self.lock();
        state.broker = broker;
        let ended = std::mem::take(&mut state.connections);
        drop(state);
        for link in self.links.all() {
            link.heal();
            link.reset();
        }
        // Only now: they end by a reset, and not in order.
        drop(ended);
        self.with_broker(|_| {});
    }
    pub(super) fn buffers(&self) -> &Buffers {
        &self.buffers
    }
    pub(super) fn unread(&self) -> &Unread {
        &self.unread
    }
    pub(super) fn panics(&self) -> &Panics {
        &self.panics
    }
    /// Another seed each time.
    pub(super) fn next_seed(&self) -> u64 {
        self.seed ^ self.seeds_given.fetch_add(1, Ordering::Relaxed)
    }
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }
    /// Moves the brokers' clock on, and lets them do what is due then.
    pub(super) fn advance(&self, by: Duration) -> Result<(), TooFar> {
        self.clock.advance(by)?;
        self.handle_time();
        // Whoever waits for the deadline measures again.
        self.deadline.send_modify(|_| {});
        Ok(())
    }
    /// Registers a connection. It has one request open at a time, so that its queue holds one reply. One that comes while its node stops is
    /// parted from at once, as those that were there.
    pub(super) fn connect(&self, node: NodeId) -> (ConnectionId, mpsc::Receiver<Delivered>) {
        let mut state = self.lock();
        let id = ConnectionId(state.next_connection);
        state.next_connection += 1;
        let (sender, receiver) = mpsc::channel(1);
        if state.broker.node_state(node) != NodeState::Stopped {
            state.connections.insert(id, (node, sender));
        }
        (id, receiver)
    }
    /// Lets a node's connections end once they have written what was answered.
    pub(super) fn part_from(&self, node: NodeId) {
        self.lock().connections.retain(|_, (at, _)| *at != node);
    }
    pub(super) fn disconnect(&self, id: ConnectionId) {
        let mut state = self.lock();
        state.connections.remove(&id);
        state.broker.handle_disconnect(id);
    }
    pub(super) fn handle(&self, peer: &Peer, payload: &Bytes) {
        let now = self.clock.now();
        self.with_broker(|broker| {
            let handled = catch_unwind(AssertUnwindSafe(|| broker.handle(now, peer, payload)));
            if let Err(reason) = handled {
                self.panics.note(broker, peer, &*reason);
            }
        });
    }
    /// Lets the broker do what is due.
    pub(super) fn handle_time(&self) {
        let now = self.clock.now();
        let done = self.with_broker(|broker| catch_unwind(AssertUnwindSafe(|| broker.handle_time(now))));
        if let Err(reason) = done {
            self.panics.note_in_time(&*reason);
        }
    }
    /// Does something with the broker, then delivers its replies.
    pub(super) fn with_broker<T>(&self, act: impl FnOnce(&mut Broker) -> T) -> T {
        let mut state = self.lock();
        let result = act(&mut state.broker);
        for reply in state.broker.poll_replies() {
            if let Some((_, connection)) = state.connections.get(&reply.connection) {
                let answer = self.unread.hold(&reply.outcome);
                // Full or closed only when the connection is going.
                let _ = connection.try_send(Delivered { outcome: reply.outcome, answer });
            }
        }
        let deadline = state.broker.next_deadline();
        drop(state);
        self.deadline.send_if_modified(|known| std::mem::replace(known, deadline) != deadline);
        self.changes.send_replace(());
        result
    }
    /// Looks at the broker; nothing happens by that.
    pub(super) fn look<T>(&self, look: impl FnOnce(&Broker) -> T) -> T {
        look(&self.lock().broker)
    }
    /// Ticks whenever something may have happened.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }
    /// Calls the broker when it has asked to be called; never ends.
    pub(super) async fn keep_time(&self) {
        let mut deadlines = self.deadline.subscribe();
        loop {
            let deadline = *deadlines.borrow_and_update();
            let due = async {
                match deadline {
                    Some(at) => tokio::time::sleep_until(self.clock.instant_of(at)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => self.handle_time(),
                _ = deadlines.changed() => {}
            }
        }
    }
    // A panic is told of, and fails the test in the end; whoever asks meanwhile is served.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use crate::TestCluster;
    use tokio::sync::mpsc::error::TryRecvError;

    /// It was not among those that had been told to end, and was waited for.
    #[test]
    fn a_connection_that_comes_to_a_node_that_stops_ends_with_the_others() {
        let cluster = TestCluster::builder().brokers(2).try_start().expect("loopback has free ports");
        let [stopped, other] = [1, 2].map(millstream_protocol::NodeId::new);
        cluster.stop(stopped);
        let mut outcomes = [stopped, other].map(|node| cluster.shared.connect(node).1);
        assert_eq!(
            outcomes.each_mut().map(|each| each.try_recv().map(drop)),
            [Err(TryRecvError::Disconnected), Err(TryRecvError::Empty)]
        );
    }
}
