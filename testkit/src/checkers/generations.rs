//! K-11, generations: a coordinator takes a commit of the generation that it let members into last, and of no other.

use super::{Checker, Frame, FrameKind, History, Violation};
use millstream_protocol::messages::{RequestKind, ResponseKind};
use millstream_protocol::{ApiKey, ErrorCode};
use std::collections::BTreeMap;

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let mut groups = Groups::default();
    for frame in &history.frames {
        match frame.kind {
            FrameKind::Sent | FrameKind::Received => {}
            FrameKind::Request => groups.asked(frame),
            FrameKind::Response => found.extend(groups.answered(frame)),
        }
    }
}

#[derive(Debug, Default)]
struct Groups {
    /// The generation of each group that members were let into last.
    generations: BTreeMap<String, i32>,
    /// Requests without an answer, by connection: a node works for one at a time.
    asked: BTreeMap<u64, Asked>,
}

#[derive(Debug)]
enum Asked {
    Join { group: String },
    Commit { group: String, generation: i32 },
}

impl Groups {
    fn asked(&mut self, frame: &Frame) {
        let is_about_groups = matches!(
            frame.api,
            ApiKey::JOIN_GROUP | ApiKey::OFFSET_COMMIT | ApiKey::TXN_OFFSET_COMMIT | ApiKey::CONSUMER_GROUP_HEARTBEAT
        );
        let Some(request) = is_about_groups.then(|| frame.request()).flatten() else { return };
        let asked = match request {
            RequestKind::JoinGroup(request) => Asked::Join { group: request.group_id.to_string() },
            RequestKind::OffsetCommit(request) => {
                Asked::Commit { group: request.group_id.to_string(), generation: request.generation_id_or_member_epoch }
            }
            RequestKind::TxnOffsetCommit(request) => {
                Asked::Commit { group: request.group_id.to_string(), generation: request.generation_id_or_member_epoch }
            }
            // Its epochs are told to each member by itself.
            RequestKind::ConsumerGroupHeartbeat(request) => {
                self.generations.remove(request.group_id.as_str());
                return;
            }
            _ => return,
        };
        self.asked.insert(frame.connection, asked);
    }
    fn answered(&mut self, frame: &Frame) -> Option<Violation> {
        match (self.asked.remove(&frame.connection)?, frame.response()?) {
            (Asked::Join { group }, ResponseKind::JoinGroup(response)) if response.error_code == 0 => {
                self.generations.insert(group, response.generation_id);
                None
            }
            (Asked::Commit { group, generation }, response) if generation >= 0 && is_taken(&response) => {
                let last = self.generations.get(&group).filter(|last| **last != generation)?;
                let text = format!(
                    "a commit of generation {generation} of `{group}` was taken at {:?}, in generation {last}",
                    frame.at
                );
                Some(Violation::new(Checker::K11, "commit", text))
            }
            _ => None,
        }
    }
}

/// Whether some partition's offset was taken.
fn is_taken(response: &ResponseKind) -> bool {
    let is_good = |code: &i16| !ErrorCode::new(*code).is_error();
    match response {
        ResponseKind::OffsetCommit(response) => {
            response.topics.iter().flat_map(|topic| &topic.partitions).any(|each| is_good(&each.error_code))
        }
        ResponseKind::TxnOffsetCommit(response) => {
            response.topics.iter().flat_map(|topic| &topic.partitions).any(|each| is_good(&each.error_code))
        }
        _ => false,
    }
}
