//! The network between the processes and the nodes, and the nodes' end of it.
//!
//! A connection keeps the order of its bytes and loses none of them while it lives: what is wrong with a link makes them late, breaks the
//! connection, or lets one end believe in a connection that the other has forgotten.

mod apply;
mod bugs;
mod conditions;
mod events;
mod nodes;
mod pipe;
mod socket;

pub use bugs::Bug;
pub use conditions::{Links, Trouble};
pub(crate) use socket::SimSocket;

use super::fault::{Fault, FaultCounts};
use super::process::ProcessId;
use super::random::Random;
use super::trace::{Place, Trace};
use crate::broker::{Broker, ConnectionId};
use bugs::Planted;
use bytes::Bytes;
use conditions::{Conditions, Direction};
use events::{Event, Events};
use millstream_protocol::NodeId;
use millstream_protocol::frame::FrameBuffer;
use nodes::{Asked, Machine};
use pipe::{Piece, Pipe};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// The port that all nodes listen on.
pub(crate) const PORT: u16 = 9092;
/// Kafka's `socket.request.max.bytes`.
const MAX_REQUEST: usize = 104_857_600;
/// How long bytes take at least, and how much longer at most.
const LATENCY: (Duration, Duration) = (Duration::from_micros(200), Duration::from_micros(2500));
/// How long a process believes in a connection that the node has forgotten: what its sockets' keep-alive comes to.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// How much of what is sent at once a link that splits takes apart; the rest goes in one.
const MOST_SPLIT: usize = 512;

/// All connections, and the cluster behind them.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) broker: Broker,
    pub(crate) trace: Trace,
    counts: FaultCounts,
    /// The kinds of the broker's rules, by their numbers: they count when a request has met them.
    planned: BTreeMap<u64, &'static str>,
    conditions: Conditions,
    connections: BTreeMap<ConnectionId, Connection>,
    events: Events,
    machines: BTreeMap<NodeId, Machine>,
    /// Topics that faults may choose among.
    topics: Vec<(String, i32)>,
    /// Groups and transactional ids whose coordinators faults may move.
    coordinated: Vec<String>,
    /// A topic that faults make anew.
    renewed: Option<String>,
    /// A topic that gets more partitions.
    growing: Option<String>,
    /// A topic whose followers lag and then lead.
    parted: Option<String>,
    /// What is wrong on purpose.
    planted: Planted,
    next_connection: u64,
    random: Random,
}

/// One connection, both ends.
#[derive(Debug)]
pub(crate) struct Connection {
    process: ProcessId,
    host: Arc<str>,
    node: NodeId,
    pub(crate) phase: Phase,
    pub(crate) opener: Option<Waker>,
    pub(crate) to_node: Pipe,
    pub(crate) to_process: Pipe,
    /// What the process has sent, for the log.
    sent: FrameBuffer,
    /// What the node has read.
    buffer: FrameBuffer,
    /// The request that the node works for; it reads no other meanwhile.
    asked: Option<Asked>,
    /// The answers on their way to the process, and how many bytes of each are still to come.
    coming: VecDeque<(Asked, usize)>,
    /// The process has closed its end.
    is_left: bool,
    /// The node has forgotten it, and nobody tells the process.
    is_forgotten: bool,
}

/// How far the process's end is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Opening,
    Open,
    Refused,
    Reset,
}

impl Network {
    pub(crate) fn new(broker: Broker, nodes: usize, random: Random) -> Self {
        let ids = (1..).map(NodeId::new).take(nodes);
        Self {
            broker,
            trace: Trace::default(),
            counts: FaultCounts::default(),
            planned: BTreeMap::new(),
            conditions: Conditions::default(),
            connections: BTreeMap::new(),
            events: Events::default(),
            machines: ids.map(|id| (id, Machine::default())).collect(),
            topics: Vec::new(),
            coordinated: Vec::new(),
            renewed: None,
            growing: None,
            parted: None,
            planted: Planted::default(),
            next_connection: 0,
            random,
        }
    }
    /// The address of a node's name.
    pub(crate) fn resolve(&self, host: &str, port: u16) -> io::Result<SocketAddr> {
        let node = self.machines.keys().find(|node| host_of(**node) == host);
        let unknown = || io::Error::new(io::ErrorKind::NotFound, format!("nobody knows the host `{host}`"));
        node.map(|node| address_of(*node, port)).ok_or_else(unknown)
    }
    /// Begins to open a connection.
    pub(crate) fn open(
        &mut self,
        now: Duration,
        process: ProcessId,
        host: Arc<str>,
        address: SocketAddr,
    ) -> io::Result<ConnectionId> {
        let node = self.machines.keys().copied().find(|node| address_of(*node, PORT) == address);
        let node = node.ok_or(io::ErrorKind::HostUnreachable)?;
        let id = ConnectionId(self.next_connection);
        self.next_connection += 1;
        let there_and_back = self.latency(now, &host, node) + self.latency(now, &host, node);
        let connection = Connection {
            process,
            host,
            node,
            phase: Phase::Opening,
            opener: None,
            to_node: Pipe::default(),
            to_process: Pipe::default(),
            sent: FrameBuffer::new(MAX_REQUEST),
            buffer: FrameBuffer::new(MAX_REQUEST),
            asked: None,
            coming: VecDeque::new(),
            is_left: false,
            is_forgotten: false,
        };
        self.connections.insert(id, connection);
        self.events.add(now + there_and_back, Event::Open(id));
        Ok(id)
    }
    pub(crate) fn find(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.connections.get_mut(&id)
    }
    /// Sends something on its way.
    pub(crate) fn send(&mut self, now: Duration, id: ConnectionId, direction: Direction, piece: Piece) {
        let Some(connection) = self.connections.get(&id) else { return };
        let (host, node) = (Arc::clone(&connection.host), connection.node);
        let splits = self.conditions.splits(now, &host, node);
        for piece in self.cut(piece, splits) {
            let mut at = now + self.latency(now, &host, node);
            if direction == Direction::ToProcess {
                at = at.max(self.paused_until(node).unwrap_or_default());
            }
            let Some(connection) = self.connections.get_mut(&id) else { return };
            if connection.pipe(direction).push(at, piece) {
                self.events.add(at, Event::Arrive(id, direction));
            }
        }
    }
    /// A process sends bytes.
    pub(crate) fn write(&mut self, now: Duration, id: ConnectionId, bytes: Bytes) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.sent.extend(&bytes);
        let place = connection.place(now, id);
        while let Ok(Some(payload)) = connection.sent.next_frame() {
            self.trace.sent(place, &payload);
        }
        self.send(now, id, Direction::ToNode, Piece::Bytes(bytes));
    }
    /// The process closes its end.
    pub(crate) fn close(&mut self, now: Duration, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.is_left = true;
        if connection.phase == Phase::Open && !connection.is_forgotten {
            self.send(now, id, Direction::ToNode, Piece::End);
        } else {
            self.forget(id);
        }
    }
    /// The connections of a dead process are reset.
    pub(crate) fn process_died(&mut self, _now: Duration, process: ProcessId) {
        let own = |(id, connection): (&ConnectionId, &Connection)| (connection.process == process).then_some(*id);
        let ids: Vec<ConnectionId> = self.connections.iter().filter_map(own).collect();
        ids.into_iter().for_each(|id| self.reset(id));
    }
    /// When there is next something to do.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.events.next()
    }
    /// Does what is due.
    pub(crate) fn handle_time(&mut self, now: Duration) {
        while let Some(event) = self.events.pop(now) {
            match event {
                Event::Open(id) => self.handle_open(now, id),
                Event::Arrive(id, direction) => self.handle_arrival(now, id, direction),
                Event::Fault(fault) => self.apply(now, &fault),
                Event::Broker => self.handle_broker_time(now),
                Event::Restart(node) => self.restart(now, node),
                Event::GiveUp(id) => self.give_up(id),
                Event::Unspoil(topic, partition, offset) => _ = self.broker.spoil(&topic, partition, offset),
                Event::ReleaseMarkers => self.release_markers(now),
                Event::Elect(node) => self.elect_lagging(now, node),
            }
        }
    }
    /// Has a fault happen at a time.
    pub(crate) fn schedule(&mut self, at: Duration, fault: Fault) {
        self.events.add(at, Event::Fault(Box::new(fault)));
    }

    fn handle_open(&mut self, now: Duration, id: ConnectionId) {
        let Some(connection) = self.connections.get(&id) else { return };
        let (host, node) = (&*connection.host, connection.node);
        let there = self.conditions.blocked_until(now, host, node, Direction::ToNode);
        let back = self.conditions.blocked_until(now, host, node, Direction::ToProcess);
        if let Some(until) =
            [there, back, self.paused_until(node).filter(|until| *until > now)].into_iter().flatten().max()
        {
            self.events.add(until, Event::Open(id));
            return;
        }
        let is_up = self.is_up(node);
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.phase = if is_up { Phase::Open } else { Phase::Refused };
            connection.opener.take().into_iter().for_each(Waker::wake);
        }
    }
    fn handle_arrival(&mut self, now: Duration, id: ConnectionId, direction: Direction) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let blocked = self.conditions.blocked_until(now, &connection.host, connection.node, direction);
        let paused = self.machines.get(&connection.node).map(|machine| machine.paused_until);
        let paused = paused.filter(|until| direction == Direction::ToNode && *until > now);
        if let Some(until) = blocked.max(paused) {
            self.events.add(until, Event::Arrive(id, direction));
            return;
        }
        match direction {
            Direction::ToProcess => {
                let bytes = connection.to_process.arrive(now);
                let (place, arrived) = (connection.place(now, id), connection.received(bytes));
                // Of what comes after the process has closed its end it knows nothing.
                let known = arrived.into_iter().filter(|_| !connection.is_left);
                known.for_each(|about| self.trace.received(place, about));
            }
            Direction::ToNode => {
                let piece = connection.to_node.pop(now);
                piece.into_iter().for_each(|piece| self.take_in(now, id, piece));
            }
        }
        let next = self.connections.get_mut(&id).and_then(|connection| connection.pipe(direction).next());
        next.into_iter().for_each(|at| self.events.add(at.max(now), Event::Arrive(id, direction)));
    }
    fn latency(&mut self, now: Duration, host: &str, node: NodeId) -> Duration {
        self.random.between(LATENCY.0, LATENCY.1) + self.conditions.delay(now, host, node)
    }
    /// Takes bytes apart: at any place, now and then; at every byte, where a link splits.
    fn cut(&mut self, piece: Piece, splits: bool) -> Vec<Piece> {
        let Piece::Bytes(mut bytes) = piece else { return vec![piece] };
        let mut pieces = Vec::new();
        if splits {
            while bytes.len() > 1 && pieces.len() < MOST_SPLIT {
                pieces.push(Piece::Bytes(bytes.split_to(1)));
            }
        } else if bytes.len() > 1 && self.random.one_in(16) {
            let at = 1 + self.random.below(bytes.len() - 1);
            pieces.push(Piece::Bytes(bytes.split_to(at)));
        }
        pieces.push(Piece::Bytes(bytes));
        pieces
    }
    /// Breaks a connection: both ends see it.
    fn reset(&mut self, id: ConnectionId) {
        self.broker.handle_disconnect(id);
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.phase = Phase::Reset;
        connection.to_node.break_off();
        connection.to_process.break_off();
        connection.opener.take().into_iter().for_each(Waker::wake);
        if connection.is_left {
            self.connections.remove(&id);
        }
    }
    /// Nobody has it any more.
    fn forget(&mut self, id: ConnectionId) {
        if self.connections.remove(&id).is_some_and(|connection| !connection.is_forgotten) {
            self.broker.handle_disconnect(id);
        }
    }
    fn connections_at(&self, node: NodeId) -> Vec<ConnectionId> {
        let at = |(id, connection): (&ConnectionId, &Connection)| (connection.node == node).then_some(*id);
        self.connections.iter().filter_map(at).collect()
    }
}

impl Connection {
    /// Where in the log a frame is that passes now.
    const fn place(&self, at: Duration, connection: ConnectionId) -> Place {
        Place { at, process: self.process, connection, node: self.node }
    }
    /// Counts bytes that have come to the process; says which answers are whole by them.
    fn received(&mut self, mut bytes: usize) -> Vec<Asked> {
        let mut whole = Vec::new();
        while let Some((about, left)) = self.coming.front_mut() {
            let taken = bytes.min(*left);
            (bytes, *left) = (bytes - taken, *left - taken);
            if *left > 0 {
                break;
            }
            whole.push(*about);
            self.coming.pop_front();
        }
        whole
    }
    fn pipe(&mut self, direction: Direction) -> &mut Pipe {
        match direction {
            Direction::ToNode => &mut self.to_node,
            Direction::ToProcess => &mut self.to_process,
        }
    }
}

/// The name of a node's host.
pub(crate) fn host_of(node: NodeId) -> String {
    format!("node-{node}")
}
fn address_of(node: NodeId, port: u16) -> SocketAddr {
    let last = u8::try_from(node.get()).unwrap_or(0);
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)), port)
}
