//! K-11: committed offsets do not go back, are not ahead of their reader, and come from the owner of the partition.

use super::{Checker, ClientId, Event, Frame, FrameKind, History, Violation};
use millstream_protocol::messages::{OffsetCommitRequest, RequestKind, ResponseKind};
use millstream_protocol::{ApiKey, TopicPartition};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    by_events(history, found);
    on_the_wire(history, found);
}

/// What coordinators took and gave out, in the order in which they did: no offset is less than one that was committed before.
fn on_the_wire(history: &History, found: &mut Vec<Violation>) {
    let mut wire = Wire::default();
    for frame in &history.frames {
        match frame.kind {
            FrameKind::Sent | FrameKind::Received => {}
            FrameKind::Request => wire.request(frame),
            FrameKind::Response => wire.response(frame),
        }
    }
    found.extend(wire.texts.into_iter().map(violation));
}
fn violation(text: String) -> Violation {
    Violation::new(Checker::K11, "commit", text)
}

#[derive(Debug, Default)]
struct Wire {
    /// Commits without an answer, by connection.
    asked: BTreeMap<u64, OffsetCommitRequest>,
    /// By group and partition.
    taken: BTreeMap<(String, String), i64>,
    texts: Vec<String>,
}

impl Wire {
    fn request(&mut self, frame: &Frame) {
        if frame.api == ApiKey::OFFSET_COMMIT
            && let Some(RequestKind::OffsetCommit(request)) = frame.request()
        {
            self.asked.insert(frame.connection, request);
        }
    }
    fn response(&mut self, frame: &Frame) {
        match frame.api {
            ApiKey::OFFSET_COMMIT => self.committed(frame),
            ApiKey::OFFSET_FETCH => self.fetched(frame),
            _ => {}
        }
    }
    fn committed(&mut self, frame: &Frame) {
        let Some(request) = self.asked.remove(&frame.connection) else { return };
        let Some(ResponseKind::OffsetCommit(response)) = frame.response() else { return };
        let codes = response.topics.iter().flat_map(|topic| &topic.partitions).map(|each| each.error_code);
        let asked = request.topics.iter().flat_map(|topic| topic.partitions.iter().map(move |each| (topic, each)));
        for ((topic, partition), _) in asked.zip(codes).filter(|(_, code)| *code == 0) {
            let name = format!("{}{}-{}", topic.name.as_str(), topic.topic_id, partition.partition_index);
            let offset = partition.committed_offset;
            let before = self.taken.insert((request.group_id.to_string(), name.clone()), offset);
            if let Some(before) = before.filter(|before| *before > offset) {
                self.texts.push(format!("{name}@{offset} was taken at {:?}, after {before}", frame.at));
            }
        }
    }
    fn fetched(&mut self, frame: &Frame) {
        let Some(ResponseKind::OffsetFetch(response)) = frame.response() else { return };
        for group in &response.groups {
            let all = group.topics.iter().flat_map(|topic| topic.partitions.iter().map(move |each| (topic, each)));
            for (topic, partition) in all.filter(|(_, partition)| partition.error_code == 0) {
                let name = format!("{}{}-{}", topic.name.as_str(), topic.topic_id, partition.partition_index);
                let offset = partition.committed_offset;
                let before = self.taken.get(&(group.group_id.to_string(), name.clone()));
                if let Some(before) = before.filter(|before| **before > offset) {
                    let text = format!("{name}@{offset} was given out at {:?}, after {before} was committed", frame.at);
                    self.texts.push(text);
                }
            }
        }
    }
}

/// What each member did: it commits what it has read, of what is its own.
fn by_events(history: &History, found: &mut Vec<Violation>) {
    let mut committed: BTreeMap<(ClientId, TopicPartition), i64> = BTreeMap::new();
    let mut position: BTreeMap<(ClientId, TopicPartition), i64> = BTreeMap::new();
    let mut owned: BTreeSet<(ClientId, TopicPartition)> = BTreeSet::new();
    let mut violate = |text: String| found.push(violation(text));
    for (at, client, event) in history.events() {
        match event {
            Event::Polled { records, .. } => {
                for read in records {
                    position.insert((client, read.partition.clone()), read.offset + 1);
                }
            }
            Event::Assigned { partitions, .. } => {
                partitions.iter().for_each(|partition| _ = committed.remove(&(client, partition.clone())));
                owned.extend(partitions.iter().map(|partition| (client, partition.clone())));
            }
            Event::Revoked { partitions } | Event::Lost { partitions } => {
                partitions.iter().for_each(|partition| _ = owned.remove(&(client, partition.clone())));
            }
            Event::OffsetCommitted { group, partition, offset } => {
                let what = || format!("{client:?} committed {partition}@{offset} for `{group}` at {at:?}");
                let before = committed.insert((client, partition.clone()), *offset);
                if let Some(before) = before.filter(|before| before > offset) {
                    violate(format!("{}, after {before}", what()));
                }
                let read = position.get(&(client, partition.clone()));
                // Nothing read yet: it commits where it began.
                if let Some(read) = read.filter(|read| *read < offset) {
                    violate(format!("{}, having read up to {read}", what()));
                }
                if !owned.contains(&(client, partition.clone())) {
                    violate(format!("{}, which is not its own", what()));
                }
            }
            _ => {}
        }
    }
}
