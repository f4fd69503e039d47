//! Offsets that only a partition's leader knows: ListOffsets.

use super::partition::Phase;
use super::take::FetchProblem;
use super::{Fetcher, Generation, OffsetReset, OffsetTarget, Position};
use crate::cluster::Image;
use millstream_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use millstream_protocol::messages::list_offsets_response::ListOffsetsPartitionResponse;
use millstream_protocol::messages::{BrokerId, ListOffsetsRequest, ListOffsetsResponse, StrBytes};
use millstream_protocol::{ErrorCode, LeaderEpoch, NodeId, Offset, Timestamp, TopicName, TopicPartition};
use std::collections::BTreeMap;
use std::time::Instant;

/// A ListOffsets to be sent to a leader. Answer it with `handle_lookup`.
#[derive(Debug, Clone)]
#[must_use = "the partitions wait for the answer"]
pub struct Lookup {
    node: NodeId,
    isolation: i8,
    partitions: BTreeMap<TopicPartition, Asked>,
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    generation: Generation,
    target: OffsetTarget,
    leader_epoch: Option<LeaderEpoch>,
}

impl Lookup {
    /// The broker to ask.
    #[must_use]
    pub const fn node(&self) -> NodeId {
        self.node
    }
    /// The request.
    #[must_use]
    pub fn request(&self) -> ListOffsetsRequest {
        let mut request = ListOffsetsRequest::default();
        request.replica_id = BrokerId(-1);
        request.isolation_level = self.isolation;
        for (id, asked) in &self.partitions {
            let mut partition = ListOffsetsPartition::default();
            partition.partition_index = id.partition.get();
            partition.current_leader_epoch = asked.leader_epoch.map_or(-1, LeaderEpoch::get);
            partition.timestamp = asked.target.wire();
            match request.topics.last_mut().filter(|topic| topic.name.as_str() == id.topic.as_str()) {
                Some(topic) => topic.partitions.push(partition),
                None => {
                    let mut topic = ListOffsetsTopic::default();
                    topic.name = StrBytes::from_string(id.topic.as_str().to_owned()).into();
                    topic.partitions = vec![partition];
                    request.topics.push(topic);
                }
            }
        }
        request
    }
}

impl Fetcher {
    /// The partitions whose committed offset is to be fetched. Each is named once, until it is answered.
    pub fn poll_uncommitted(&mut self, now: Instant) -> Vec<(TopicPartition, Generation)> {
        let waiting = self.partitions.values_mut();
        let waiting = waiting.filter(|partition| partition.phase == Phase::Uncommitted && !partition.waits(now));
        let named = waiting.map(|partition| {
            partition.asking = true;
            (partition.id.clone(), partition.generation)
        });
        named.collect()
    }
    /// A partition's committed offset; none leaves it to the reset policy.
    pub fn handle_committed(&mut self, id: &TopicPartition, generation: Generation, committed: Option<Position>) {
        let Some(partition) = self.current(id, generation).filter(|partition| partition.phase == Phase::Uncommitted)
        else {
            return;
        };
        match committed {
            Some(position) => partition.start_at(position),
            None => {
                partition.asking = false;
                partition.phase = Phase::Resetting(None);
            }
        }
    }
    /// Committed offsets could not be fetched; they are asked for again.
    pub fn handle_committed_failed(&mut self, now: Instant, id: &TopicPartition, generation: Generation) {
        let config = self.config.clone();
        if let Some(partition) = self.current(id, generation).filter(|partition| partition.phase == Phase::Uncommitted)
        {
            partition.back_off(now, &config);
        }
    }

    /// The next ListOffsets, for all partitions of one leader that need one. `wall` is the calendar's time, for policies that go back from it.
    pub fn poll_lookup(&mut self, now: Instant, wall: Timestamp, image: &Image) -> Option<Lookup> {
        let mut lookup: Option<Lookup> = None;
        let isolation = self.config.isolation.code();
        let reset = self.config.reset;
        let mut halted = Vec::new();
        for partition in self.partitions.values_mut() {
            let Phase::Resetting(target) = partition.phase else { continue };
            if partition.waits(now) {
                continue;
            }
            let Some(target) = target.or_else(|| policy(reset, wall)) else {
                partition.halt(FetchProblem::NoPolicy);
                halted.push(partition.id.clone());
                continue;
            };
            let Some((node, leader_epoch)) = image.leader(&partition.id) else { continue };
            let lookup = lookup.get_or_insert_with(|| Lookup { node, isolation, partitions: BTreeMap::new() });
            if lookup.node == node {
                partition.asking = true;
                let asked = Asked { generation: partition.generation, target, leader_epoch };
                lookup.partitions.insert(partition.id.clone(), asked);
            }
        }
        self.ready.extend(halted);
        lookup
    }
    /// Files what a ListOffsets brought; none when there was no answer. True when the picture of the cluster is old.
    pub fn handle_lookup(&mut self, now: Instant, lookup: &Lookup, answer: Option<&ListOffsetsResponse>) -> bool {
        let mut found: BTreeMap<TopicPartition, &ListOffsetsPartitionResponse> = BTreeMap::new();
        for topic in answer.iter().flat_map(|answer| &answer.topics) {
            let name = TopicName::from(topic.name.as_str());
            for partition in &topic.partitions {
                found.insert(TopicPartition::new(name.clone(), partition.partition_index), partition);
            }
        }
        let mut refresh = answer.is_none();
        for (id, asked) in &lookup.partitions {
            refresh |= self.handle_offset(now, id, asked, found.get(id).copied());
        }
        refresh
    }

    fn handle_offset(
        &mut self,
        now: Instant,
        id: &TopicPartition,
        asked: &Asked,
        answer: Option<&ListOffsetsPartitionResponse>,
    ) -> bool {
        let config = self.config.clone();
        let Some(partition) = self.current(id, asked.generation) else { return false };
        if !matches!(partition.phase, Phase::Resetting(_)) {
            return false;
        }
        let code = answer.map_or(ErrorCode::UNKNOWN_SERVER_ERROR, |answer| ErrorCode::new(answer.error_code));
        let Some(answer) = answer.filter(|_| !code.is_error()) else {
            // An error never decides where to read from (C-20).
            if code.is_retriable() || code == ErrorCode::UNKNOWN_SERVER_ERROR {
                partition.back_off(now, &config);
            } else {
                partition.halt(FetchProblem::Refused(code));
                self.ready.push_back(id.clone());
            }
            return code.refreshes_metadata();
        };
        if answer.offset < 0 {
            // No record is that young.
            partition.asking = false;
            partition.phase = Phase::Resetting(Some(OffsetTarget::Latest));
            return false;
        }
        let epoch = Some(answer.leader_epoch).filter(|epoch| *epoch >= 0).map(LeaderEpoch::new);
        partition.start_at(Position::after(Offset::new(answer.offset), epoch));
        partition.checked_epoch = asked.leader_epoch;
        false
    }
}

fn policy(reset: OffsetReset, wall: Timestamp) -> Option<OffsetTarget> {
    match reset {
        OffsetReset::Earliest => Some(OffsetTarget::Earliest),
        OffsetReset::Latest => Some(OffsetTarget::Latest),
        OffsetReset::ByDuration(back) => Some(OffsetTarget::Since(wall - back)),
        OffsetReset::None => None,
    }
}
