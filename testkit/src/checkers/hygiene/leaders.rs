//! What a node said that it does not lead goes to it once more at most, or is asked of it, before its client has heard news of leaders: a metadata
//! answer, or who leads instead. That is known by connection: a process may have several clients, and each knows for itself.
//!
//! Once, since a batch that is due again may go to the leader that the client knows while news are still on their way.

use super::super::sequences::{headers, read};
use super::super::{ClientId, Frame};
use millstream_protocol::messages::{FetchRequest, FetchResponse, ProduceResponse, RequestKind, ResponseKind, Uuid};
use millstream_protocol::{ApiKey, ErrorCode, NodeId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Display;
use std::time::Duration;

/// What clients know of who does not lead what.
#[derive(Debug, Default)]
pub(super) struct Leaders {
    /// By connection and partition.
    not_led: BTreeMap<(u64, String), Refusal>,
    /// What fetch sessions are about: a request says only what changes.
    sessions: BTreeMap<(NodeId, i32), BTreeSet<String>>,
    /// What is asked for by fetches without an answer, by connection.
    asked: BTreeMap<u64, VecDeque<BTreeSet<String>>>,
}

/// That a node does not lead a partition.
#[derive(Debug)]
struct Refusal {
    client: ClientId,
    /// Since when the client knows.
    since: Duration,
    /// How often it went there all the same.
    times: usize,
    /// When it did so last. Batches that go at once after one wait are one try: none of them knows what becomes of the other.
    last: Option<Duration>,
}

impl Leaders {
    /// A request: what it has to do with partitions that its node is known not to lead.
    pub(super) fn sent(&mut self, frame: &Frame, texts: &mut Vec<String>) {
        let partitions = match frame.api {
            ApiKey::PRODUCE => read(frame).map(|request| headers(&request).into_iter().map(|(name, _)| name).collect()),
            ApiKey::FETCH => self.fetch(frame),
            _ => None,
        };
        for partition in partitions.unwrap_or_default() {
            let (client, node, at) = (frame.client, frame.node, frame.at);
            let Some(refusal) = self.not_led.get_mut(&(frame.connection, partition.clone())) else { continue };
            // What goes in the moment in which the refusal comes was on its way.
            refusal.times += usize::from(refusal.since < at && refusal.last != Some(at));
            refusal.last = Some(at);
            if refusal.times > 1 {
                let (times, since) = (refusal.times, refusal.since);
                texts.push(format!(
                    "{client:?} sent {:?} for {partition} to node {node} {times} times until {at:?}, and knew since {since:?} that it does not lead",
                    frame.api
                ));
            }
        }
    }
    fn fetch(&mut self, frame: &Frame) -> Option<BTreeSet<String>> {
        let Some(RequestKind::Fetch(request)) = frame.request() else { return None };
        let session = self.sessions.get(&(frame.node, request.session_id));
        let goes_on = request.session_epoch > 0;
        let mut asked = session.filter(|_| goes_on).cloned().unwrap_or_default();
        forgotten(&request).for_each(|name| _ = asked.remove(&name));
        asked.extend(named(&request));
        self.asked.entry(frame.connection).or_default().push_back(asked.clone());
        Some(asked)
    }
    /// An answer, which the client has had since then.
    pub(super) fn received(&mut self, frame: &Frame, at: Duration) {
        match (frame.api, frame.response()) {
            (ApiKey::METADATA, _) => self.not_led.retain(|_, refusal| refusal.client != frame.client),
            (ApiKey::PRODUCE, Some(ResponseKind::Produce(response))) => self.produced(frame, at, &response),
            (ApiKey::FETCH, response) => {
                let asked = self.asked.get_mut(&frame.connection).and_then(VecDeque::pop_front);
                if let (Some(ResponseKind::Fetch(response)), Some(asked)) = (response, asked) {
                    self.fetched(frame, at, &response, asked);
                }
            }
            _ => {}
        }
    }
    fn produced(&mut self, frame: &Frame, at: Duration, response: &ProduceResponse) {
        for topic in &response.responses {
            for partition in &topic.partition_responses {
                let name = name(&topic.name, topic.topic_id, partition.index);
                self.told((frame, at), name, partition.error_code, partition.current_leader.leader_id);
            }
        }
    }
    fn fetched(&mut self, frame: &Frame, at: Duration, response: &FetchResponse, asked: BTreeSet<String>) {
        if response.error_code == 0 && response.session_id != 0 {
            self.sessions.insert((frame.node, response.session_id), asked);
        }
        for topic in &response.responses {
            for partition in &topic.partitions {
                let name = name(&topic.topic, topic.topic_id, partition.partition_index);
                self.told((frame, at), name, partition.error_code, partition.current_leader.leader_id);
            }
        }
    }
    /// What a node says of a partition.
    fn told(&mut self, (frame, at): (&Frame, Duration), partition: String, code: i16, leader: i32) {
        match ErrorCode::new(code) {
            ErrorCode::NOT_LEADER_OR_FOLLOWER if leader < 0 => {
                let refusal = Refusal { client: frame.client, since: at, times: 0, last: None };
                self.not_led.entry((frame.connection, partition)).or_insert(refusal);
            }
            // By its word somebody else leads: perhaps who has refused before.
            ErrorCode::NOT_LEADER_OR_FOLLOWER => {
                self.not_led.retain(|(_, other), refusal| refusal.client != frame.client || *other != partition);
            }
            // It leads after all.
            ErrorCode::NONE => _ = self.not_led.remove(&(frame.connection, partition)),
            _ => {}
        }
    }
}

fn named(request: &FetchRequest) -> impl Iterator<Item = String> {
    request
        .topics
        .iter()
        .flat_map(|topic| topic.partitions.iter().map(|each| name(&topic.topic, topic.topic_id, each.partition)))
}
fn forgotten(request: &FetchRequest) -> impl Iterator<Item = String> {
    request
        .forgotten_topics_data
        .iter()
        .flat_map(|topic| topic.partitions.iter().map(|index| name(&topic.topic, topic.topic_id, *index)))
}
fn name(topic: impl Display, id: Uuid, index: i32) -> String {
    format!("{topic}{id}-{index}")
}
