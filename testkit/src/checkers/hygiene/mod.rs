//! K-15: few requests in flight, none again and again to the wrong node, none too soon after a failure, few connections, and
//! heartbeats in time.

mod leaders;

use super::sequences::{headers, read};
use super::{Checker, ClientId, Frame, FrameKind, History, Policy, Violation};
use leaders::Leaders;
use millstream_protocol::messages::ResponseKind;
use millstream_protocol::{ApiKey, NodeId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// How often in a row batches go again too soon before that is called a loop.
const IN_A_ROW: usize = 3;
/// How long connections are counted together.
const WHILE: Duration = Duration::from_secs(10);

pub(super) fn check(history: &History, policy: &Policy, found: &mut Vec<Violation>) {
    let mut texts = Vec::new();
    let mut wire = Wire::default();
    let tells_receipt = history.frames.iter().any(|frame| frame.kind == FrameKind::Received);
    let mut coming: BTreeMap<u64, VecDeque<&Frame>> = BTreeMap::new();
    for frame in &history.frames {
        match frame.kind {
            FrameKind::Sent => wire.sent(frame, policy, &mut texts),
            FrameKind::Request => {}
            FrameKind::Response if tells_receipt => coming.entry(frame.connection).or_default().push_back(frame),
            FrameKind::Response => wire.received(frame, frame.at),
            FrameKind::Received => {
                let answer = coming.get_mut(&frame.connection).and_then(VecDeque::pop_front);
                answer.into_iter().for_each(|answer| wire.received(answer, frame.at));
            }
        }
    }
    found.extend(texts.into_iter().map(|text| Violation::new(Checker::K15, "hygiene", text)));
}

/// A producer's partition: of whom, in which epoch, where.
type LaneKey = (i64, i16, String);

/// What clients have sent, and what they know from answers.
#[derive(Debug, Default)]
struct Wire {
    /// Produce requests without an answer, by connection, which several producers of a client share.
    in_flight: BTreeMap<u64, VecDeque<Vec<LaneKey>>>,
    /// Where a node refused batches, since when. Those behind the first go again with it, however late they were refused.
    refused: BTreeMap<(NodeId, LaneKey), Duration>,
    /// How often in a row batches went again too soon.
    quick: BTreeMap<(NodeId, LaneKey), usize>,
    leaders: Leaders,
    /// When connections were first used, of a client to a node.
    opened: BTreeMap<(ClientId, NodeId), VecDeque<Duration>>,
    connections: BTreeSet<u64>,
    /// When a member knew that its last heartbeat was taken, by connection: over another it owes none before it has reached the coordinator.
    beat: BTreeMap<u64, (ClientId, Duration)>,
    /// Connections over which a member joins, waits for its assignment, or leaves.
    moving: BTreeSet<u64>,
}

impl Wire {
    fn sent(&mut self, frame: &Frame, policy: &Policy, texts: &mut Vec<String>) {
        texts.extend(self.connection(frame, policy));
        self.leaders.sent(frame, texts);
        match frame.api {
            ApiKey::PRODUCE => self.produce(frame, policy, texts),
            ApiKey::HEARTBEAT => texts.extend(self.heartbeat(frame, policy)),
            ApiKey::JOIN_GROUP | ApiKey::SYNC_GROUP | ApiKey::LEAVE_GROUP => {
                self.moving.insert(frame.connection);
                self.beat.remove(&frame.connection);
            }
            // It does not know whom to send a heartbeat to.
            ApiKey::FIND_COORDINATOR => self.beat.retain(|_, (client, _)| *client != frame.client),
            _ => {}
        }
    }
    /// An answer, which the client has had since then.
    fn received(&mut self, frame: &Frame, at: Duration) {
        self.leaders.received(frame, at);
        match frame.api {
            ApiKey::PRODUCE => self.produced(frame, at),
            ApiKey::HEARTBEAT => self.heart_beat(frame, at),
            _ => {}
        }
    }
    fn connection(&mut self, frame: &Frame, policy: &Policy) -> Option<String> {
        if !self.connections.insert(frame.connection) {
            return None;
        }
        let opened = self.opened.entry((frame.client, frame.node)).or_default();
        opened.push_back(frame.at);
        while opened.front().is_some_and(|at| *at + WHILE < frame.at) {
            opened.pop_front();
        }
        let many = opened.len() > policy.reconnects;
        many.then(|| {
            format!(
                "{:?} opened {} connections to node {} in ten seconds, at {:?}",
                frame.client,
                opened.len(),
                frame.node,
                frame.at
            )
        })
    }
    fn produce(&mut self, frame: &Frame, policy: &Policy, texts: &mut Vec<String>) {
        let Some(request) = read(frame).filter(|request| request.acks != 0) else { return };
        let (client, node, at) = (frame.client, frame.node, frame.at);
        let mut keys = Vec::new();
        for (partition, header) in headers(&request) {
            let key = (header.producer_id, header.producer_epoch, partition.clone());
            if let Some(since) = self.refused.remove(&(node, key.clone())) {
                let waited = at.saturating_sub(since);
                let quick = self.quick.entry((node, key.clone())).or_default();
                *quick = if waited < policy.retry_backoff { *quick + 1 } else { 0 };
                // A batch that failed with the one before it goes again with it, and so does what was on its way meanwhile.
                if *quick >= IN_A_ROW {
                    texts.push(format!("{client:?} sent {key:?} to node {node} again after {waited:?}, at {at:?}"));
                }
            }
            keys.push(key);
        }
        let in_flight = self.in_flight.entry(frame.connection).or_default();
        in_flight.push_back(keys.clone());
        for key in keys {
            let count = in_flight.iter().filter(|keys| keys.contains(&key)).count();
            if count > policy.max_in_flight {
                texts.push(format!("{client:?} has {count} batches of {key:?} in flight to node {node} at {at:?}"));
            }
        }
    }
    fn produced(&mut self, frame: &Frame, at: Duration) {
        let keys = self.in_flight.get_mut(&frame.connection).and_then(VecDeque::pop_front).unwrap_or_default();
        let Some(ResponseKind::Produce(response)) = frame.response() else { return };
        for topic in &response.responses {
            for partition in &topic.partition_responses {
                let name = format!("{}{}-{}", topic.name, topic.topic_id, partition.index);
                if partition.error_code == 0 {
                    continue;
                }
                for key in keys.iter().filter(|key| key.2 == name) {
                    self.refused.entry((frame.node, key.clone())).or_insert(at);
                }
            }
        }
    }
    fn heartbeat(&mut self, frame: &Frame, policy: &Policy) -> Option<String> {
        self.moving.remove(&frame.connection);
        let (_, since) = self.beat.remove(&frame.connection)?;
        let waited = frame.at.saturating_sub(since);
        (waited > policy.session_timeout / 3)
            .then(|| format!("{:?} waited {waited:?} before the next heartbeat, at {:?}", frame.client, frame.at))
    }
    fn heart_beat(&mut self, frame: &Frame, at: Duration) {
        let is_taken = matches!(frame.response(), Some(ResponseKind::Heartbeat(response)) if response.error_code == 0);
        if is_taken && !self.moving.contains(&frame.connection) {
            self.beat.insert(frame.connection, (frame.client, at));
        }
    }
}
