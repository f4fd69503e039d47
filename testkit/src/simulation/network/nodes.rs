//! The nodes' end of the network: requests are read one at a time per connection, answers go back.

use super::bugs::Bugged;
use super::conditions::Direction;
use super::events::Event;
use super::pipe::Piece;
use super::{KEEPALIVE, Network, Phase};
use crate::broker::{ConnectionId, Outcome, Peer, Reply};
use crate::simulation::fault::NODE_RESTART;
use crate::simulation::runtime::{EPOCH_MS, timestamp};
use crate::simulation::trace::Place;
use bytes::Bytes;
use millstream_protocol::messages::StrBytes;
use millstream_protocol::{ApiKey, NodeId, Timestamp, frame};
use std::time::Duration;

/// What a node runs on.
#[derive(Debug, Default)]
pub(super) struct Machine {
    pub(super) is_down: bool,
    /// It stands still until then.
    pub(super) paused_until: Duration,
}

/// The request that a connection's node works for: its API and version.
pub(super) type Asked = (ApiKey, i16);
/// A request whose header cannot be read.
const UNKNOWN: Asked = (ApiKey::API_VERSIONS, 0);

impl Network {
    pub(super) fn is_up(&self, node: NodeId) -> bool {
        self.machines.get(&node).is_some_and(|machine| !machine.is_down)
    }
    pub(super) fn paused_until(&self, node: NodeId) -> Option<Duration> {
        self.machines.get(&node).map(|machine| machine.paused_until)
    }
    /// Reads what arrived at a node.
    pub(super) fn take_in(&mut self, now: Duration, id: ConnectionId, piece: Piece) {
        match piece {
            Piece::End => self.forget(id),
            Piece::Bytes(bytes) => {
                let Some(connection) = self.connections.get_mut(&id) else { return };
                if connection.is_forgotten || connection.phase != Phase::Open {
                    return;
                }
                connection.buffer.extend(&bytes);
                self.serve(now, id);
            }
        }
    }
    /// Hands the next whole request to the broker, unless it still works for another.
    fn serve(&mut self, now: Duration, id: ConnectionId) {
        let mut served = vec![id];
        while let Some(id) = served.pop() {
            while let Some((peer, payload)) = self.next_request(now, id) {
                let answered = match self.bugged(now, id, payload) {
                    Bugged::Request(payload) => {
                        self.broker.handle(timestamp(now), &peer, &payload);
                        self.send_replies(now)
                    }
                    Bugged::Answered(frame) => {
                        self.deliver(now, Reply { connection: peer.connection, outcome: Outcome::Frame(frame) });
                        Vec::new()
                    }
                    Bugged::Lost => Vec::new(),
                };
                served.extend(answered.into_iter().filter(|other| *other != id));
            }
        }
        self.ask_to_be_called(now);
    }
    fn next_request(&mut self, now: Duration, id: ConnectionId) -> Option<(Peer, Bytes)> {
        let connection = self.connections.get_mut(&id)?;
        if connection.asked.is_some() || connection.is_forgotten || connection.phase != Phase::Open {
            return None;
        }
        let place = connection.place(now, id);
        let Ok(frame) = connection.buffer.next_frame() else {
            self.reset(id);
            return None;
        };
        let payload = frame?;
        let about = frame::decode_request_header(&payload).ok().map(|header| (header.api(), header.version()));
        connection.asked = about.or(Some(UNKNOWN));
        self.trace.request(place, about, &payload);
        let host = StrBytes::from_static_str("/10.0.1.1");
        Some((Peer::new(id, place.node, host), payload))
    }
    /// Sends what the broker has answered; says whose turn it is again.
    fn send_replies(&mut self, now: Duration) -> Vec<ConnectionId> {
        let mut answered = Vec::new();
        for reply in self.broker.poll_replies() {
            answered.push(reply.connection);
            self.deliver(now, reply);
        }
        answered
    }
    fn deliver(&mut self, now: Duration, reply: Reply) {
        let id = reply.connection;
        let Some(connection) = self.connections.get_mut(&id).filter(|found| !found.is_forgotten) else { return };
        let (about, place) = (connection.asked.take().unwrap_or(UNKNOWN), connection.place(now, id));
        match reply.outcome {
            Outcome::Frame(frame) => self.answer(place, about, frame.to_bytes()),
            Outcome::Raw(bytes) => {
                self.trace.garbage(place, about, &bytes);
                self.send_answer(place, about, bytes);
            }
            Outcome::Last(frame, _) => {
                self.answer(place, about, frame.to_bytes());
                self.send(now, id, Direction::ToProcess, Piece::End);
            }
            Outcome::Silence => {}
            Outcome::Close(_) => self.send(now, id, Direction::ToProcess, Piece::End),
        }
    }
    fn answer(&mut self, place: Place, about: Asked, bytes: Bytes) {
        let bytes = self.bugged_answer(place, about, bytes);
        self.trace.response(place, about, &bytes);
        let bytes = self.understood(place, about, bytes);
        self.send_answer(place, about, bytes);
    }
    fn send_answer(&mut self, place: Place, about: Asked, bytes: Bytes) {
        if let Some(connection) = self.connections.get_mut(&place.connection) {
            connection.coming.push_back((about, bytes.len()));
        }
        self.send(place.at, place.connection, Direction::ToProcess, Piece::Bytes(bytes));
    }
    pub(super) fn handle_broker_time(&mut self, now: Duration) {
        if self.broker.next_deadline().is_some_and(|at| at <= timestamp(now)) {
            self.broker.handle_time(timestamp(now));
        }
        self.flush(now);
    }
    /// Delivers what the broker has to say after something happened to it.
    pub(super) fn flush(&mut self, now: Duration) {
        for id in self.send_replies(now) {
            self.serve(now, id);
        }
        self.ask_to_be_called(now);
    }
    fn ask_to_be_called(&mut self, now: Duration) {
        let since_beginning = |at: Timestamp| u64::try_from(at.as_millis() - EPOCH_MS).unwrap_or(0);
        let deadline = self.broker.next_deadline().map(|at| Duration::from_millis(since_beginning(at)).max(now));
        self.events.call_broker(deadline);
    }

    /// Takes a node down, as when its process is killed.
    pub(super) fn crash(&mut self, now: Duration, node: NodeId, lasts: Duration) -> bool {
        let others = self.machines.iter().filter(|(id, machine)| **id != node && !machine.is_down).count();
        let Some(machine) = self.machines.get_mut(&node).filter(|machine| !machine.is_down && others > 0) else {
            return false;
        };
        machine.is_down = true;
        // What stood still is gone; what starts in its place runs.
        machine.paused_until = Duration::ZERO;
        self.connections_at(node).into_iter().for_each(|id| self.reset(id));
        // No move is refused: its machine stands still, never the broker.
        let _ = self.broker.crash(node);
        self.events.add(now + lasts, Event::Restart(node));
        self.flush(now);
        true
    }
    pub(super) fn restart(&mut self, now: Duration, node: NodeId) {
        if let Some(machine) = self.machines.get_mut(&node) {
            machine.is_down = false;
            self.counts.add(NODE_RESTART);
        }
        let _ = self.broker.restart(node);
        self.flush(now);
    }
    /// Stops a node, as when its process gets `SIGSTOP`; one that is down has no process to be stopped.
    pub(super) fn pause(&mut self, now: Duration, node: NodeId, lasts: Duration) -> bool {
        let Some(machine) = self.machines.get_mut(&node).filter(|machine| !machine.is_down) else { return false };
        machine.paused_until = machine.paused_until.max(now + lasts);
        true
    }
    /// The node forgets its connections, and no word of that gets to the processes, until their systems find out.
    pub(super) fn forget_at(&mut self, now: Duration, node: NodeId) -> bool {
        let ids = self.connections_at(node);
        for id in &ids {
            self.events.add(now + KEEPALIVE, Event::GiveUp(*id));
            self.broker.handle_disconnect(*id);
            if let Some(connection) = self.connections.get_mut(id) {
                connection.is_forgotten = true;
            }
        }
        !ids.is_empty()
    }
    pub(super) fn give_up(&mut self, id: ConnectionId) {
        if self.connections.contains_key(&id) {
            self.reset(id);
        }
    }
    pub(super) fn reset_at(&mut self, node: NodeId) -> bool {
        let ids = self.connections_at(node);
        ids.iter().for_each(|id| self.reset(*id));
        !ids.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PORT, address_of};
    use super::*;
    use crate::simulation::Simulation;
    use crate::simulation::process::ProcessId;

    // A node that crashed while it stood still went on standing still when it had started again, and one that was down was stopped for later.
    #[test]
    fn a_node_that_starts_again_runs_whatever_was_stopped_before() {
        let (simulation, node, secs) = (Simulation::new(1), NodeId::new(1), Duration::from_secs);
        let network = &mut simulation.world.lock().network;
        assert!(network.pause(secs(1), node, secs(60)));
        assert!(network.crash(secs(2), node, secs(5)));
        assert!(!network.pause(secs(3), node, secs(60)), "nothing is there to be stopped, and to be counted");
        network.restart(secs(7), node);
        assert!(network.is_up(node));
        assert_eq!(network.paused_until(node), Some(Duration::ZERO));
    }

    // Members of a group that waited to be let in again believed in connections that the node had forgotten until JoinGroup itself had taken too
    // long, as no client's do whose sockets are kept alive: the group stood still to the end of the run.
    #[test]
    fn a_connection_that_the_node_has_forgotten_fails_when_its_process_finds_out() {
        let simulation = Simulation::new(1);
        let process = ProcessId(simulation.handle().start_process("member").number());
        let network = &mut simulation.world.lock().network;
        let id =
            network.open(Duration::ZERO, process, "member".into(), address_of(NodeId::new(1), PORT)).expect("a node");
        network.handle_time(Duration::from_secs(1));
        assert!(network.forget_at(Duration::from_secs(1), NodeId::new(1)));
        let phase_at = |network: &mut Network, at| {
            network.handle_time(at);
            network.find(id).map(|connection| connection.phase)
        };
        assert_eq!(phase_at(network, KEEPALIVE), Some(Phase::Open));
        assert_eq!(phase_at(network, KEEPALIVE + Duration::from_secs(1)), Some(Phase::Reset));
    }
}
