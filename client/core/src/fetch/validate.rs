//! After a change of leader: does its log still have the record before the position? OffsetForLeaderEpoch (KIP-320).

use super::partition::Phase;
use super::{Fetcher, Generation, Position};
use crate::cluster::Image;
use millstream_protocol::messages::offset_for_leader_epoch_request::{OffsetForLeaderPartition, OffsetForLeaderTopic};
use millstream_protocol::messages::offset_for_leader_epoch_response::EpochEndOffset;
use millstream_protocol::messages::{BrokerId, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, StrBytes};
use millstream_protocol::{ErrorCode, LeaderEpoch, NodeId, TopicName, TopicPartition};
use std::collections::BTreeMap;
use std::time::Instant;

/// An OffsetForLeaderEpoch to be sent to a leader. Answer it with `handle_validation`.
#[derive(Debug, Clone)]
#[must_use = "the partitions wait for the answer"]
pub struct Validation {
    node: NodeId,
    partitions: BTreeMap<TopicPartition, Asked>,
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    generation: Generation,
    position: Position,
    epoch: LeaderEpoch,
    leader_epoch: Option<LeaderEpoch>,
}

impl Validation {
    /// The broker to ask.
    #[must_use]
    pub const fn node(&self) -> NodeId {
        self.node
    }
    /// The request.
    #[must_use]
    pub fn request(&self) -> OffsetForLeaderEpochRequest {
        let mut request = OffsetForLeaderEpochRequest::default();
        request.replica_id = BrokerId(-1);
        for (id, asked) in &self.partitions {
            let mut partition = OffsetForLeaderPartition::default();
            partition.partition = id.partition.get();
            partition.current_leader_epoch = asked.leader_epoch.map_or(-1, LeaderEpoch::get);
            partition.leader_epoch = asked.epoch.get();
            match request.topics.last_mut().filter(|topic| topic.topic.as_str() == id.topic.as_str()) {
                Some(topic) => topic.partitions.push(partition),
                None => {
                    let mut topic = OffsetForLeaderTopic::default();
                    topic.topic = StrBytes::from_string(id.topic.as_str().to_owned()).into();
                    topic.partitions = vec![partition];
                    request.topics.push(topic);
                }
            }
        }
        request
    }
}

impl Fetcher {
    /// The next question about truncation, for all partitions of one leader.
    pub fn poll_validation(&mut self, now: Instant, image: &Image) -> Option<Validation> {
        let mut validation: Option<Validation> = None;
        for partition in self.partitions.values_mut() {
            if partition.phase != Phase::Validating || partition.waits(now) {
                continue;
            }
            let Some(epoch) = partition.position.epoch else {
                partition.phase = Phase::Fetching;
                continue;
            };
            let Some((node, leader_epoch)) = image.leader(&partition.id) else { continue };
            let validation = validation.get_or_insert_with(|| Validation { node, partitions: BTreeMap::new() });
            if validation.node == node {
                partition.asking = true;
                let asked =
                    Asked { generation: partition.generation, position: partition.position, epoch, leader_epoch };
                validation.partitions.insert(partition.id.clone(), asked);
            }
        }
        validation
    }
    /// Files what it brought; none when there was no answer, which says nothing about the log (C-10). True when the picture of the
    /// cluster is old.
    pub fn handle_validation(
        &mut self,
        now: Instant,
        validation: &Validation,
        answer: Option<&OffsetForLeaderEpochResponse>,
    ) -> bool {
        let mut found: BTreeMap<TopicPartition, &EpochEndOffset> = BTreeMap::new();
        for topic in answer.iter().flat_map(|answer| &answer.topics) {
            let name = TopicName::from(topic.topic.as_str());
            for partition in &topic.partitions {
                found.insert(TopicPartition::new(name.clone(), partition.partition), partition);
            }
        }
        let mut refresh = answer.is_none();
        for (id, asked) in &validation.partitions {
            refresh |= self.handle_end(now, id, asked, found.get(id).copied());
        }
        refresh
    }
    /// The leader cannot be asked this: it is too old. Reading goes on as it is.
    pub fn handle_validation_unsupported(&mut self, validation: &Validation) {
        for (id, asked) in &validation.partitions {
            let waiting = |partition: &&mut super::Partition| partition.phase == Phase::Validating;
            if let Some(partition) = self.current(id, asked.generation).filter(waiting) {
                partition.validated(asked.leader_epoch);
            }
        }
    }

    fn handle_end(
        &mut self,
        now: Instant,
        id: &TopicPartition,
        asked: &Asked,
        answer: Option<&EpochEndOffset>,
    ) -> bool {
        let config = self.config.clone();
        let Some(partition) = self.current(id, asked.generation) else { return false };
        if partition.phase != Phase::Validating || partition.position != asked.position {
            partition.asking = false;
            return false;
        }
        let code = answer.map_or(ErrorCode::UNKNOWN_SERVER_ERROR, |answer| ErrorCode::new(answer.error_code));
        let Some(end) = answer.filter(|_| !code.is_error()) else {
            partition.back_off(now, &config);
            return code.refreshes_metadata();
        };
        partition.validated(asked.leader_epoch);
        // −1 says that the leader does not know the term: no proof of loss.
        let epoch = Some(end.leader_epoch).filter(|epoch| *epoch >= 0).map(LeaderEpoch::new);
        let parts = end.end_offset < asked.position.offset || epoch.is_some_and(|epoch| epoch < asked.epoch);
        if end.end_offset >= 0 && parts {
            self.truncated(id, Position { offset: end.end_offset, epoch });
            let waits = self.partitions.get(id).is_some_and(|partition| !partition.items.is_empty());
            if waits && !self.ready.contains(id) {
                self.ready.push_back(id.clone());
            }
        }
        false
    }
}

impl super::Partition {
    fn validated(&mut self, leader_epoch: Option<LeaderEpoch>) {
        self.phase = Phase::Fetching;
        self.asking = false;
        self.checked_epoch = leader_epoch;
        self.calm();
    }
}
