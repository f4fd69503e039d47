//! What a Fetch brought, partition by partition.

use super::filter::{Filtered, filter};
use super::partition::{Item, Partition, Phase};
use super::take::FetchProblem;
use super::{Fetcher, OffsetReset, Position, Stream};
use crate::cluster::{Broker, LeaderHint};
use millstream_protocol::messages::FetchResponse;
use millstream_protocol::messages::fetch_response::{FetchableTopicResponse, NodeEndpoint, PartitionData};
use millstream_protocol::{ErrorCode, LeaderEpoch, NodeId, TopicName, TopicPartition};
use std::time::Instant;

/// How a Fetch ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// With an answer in this version.
    Answered(i16, Box<FetchResponse>),
    /// Without one: the connection broke, or time ran out.
    Failed,
}

/// What the driver does after an answer.
#[derive(Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchFollowUp {
    /// The picture of the cluster is old.
    pub refresh_metadata: bool,
    /// Leaders that the broker named (KIP-951).
    pub hints: Vec<LeaderHint>,
    /// Where they are.
    pub brokers: Vec<Broker>,
    /// There is something new to take.
    pub ready: bool,
}

impl Fetcher {
    /// Files what a Fetch brought.
    pub fn handle_fetch(&mut self, now: Instant, stream: Stream, outcome: Outcome) -> FetchFollowUp {
        let backoff = self.config.clone();
        let node = stream.node();
        let session = self.streams.entry(stream).or_default();
        session.in_flight = None;
        let Outcome::Answered(version, answer) = outcome else {
            session.reset();
            session.not_before = Some(now + backoff.backoff(session.attempts));
            session.attempts = session.attempts.saturating_add(1);
            return self.unreachable(node);
        };
        session.version = Some(version);
        let code = ErrorCode::new(answer.error_code);
        if code.is_error() {
            // The session is unknown, or out of step, or its topics are: a full request makes a new one (C-11).
            tracing::debug!(%node, %code, "fetch session ends");
            session.reset();
            session.not_before = Some(now + backoff.backoff(session.attempts));
            session.attempts = session.attempts.saturating_add(1);
            return FetchFollowUp { refresh_metadata: code.refreshes_metadata(), ..FetchFollowUp::default() };
        }
        session.attempts = 0;
        session.not_before = None;
        session.handle_answer(if stream.is_beside() { 0 } else { answer.session_id });
        self.file(now, stream, *answer)
    }

    /// Partitions read from a replica nearby go back to their leader.
    fn unreachable(&mut self, node: NodeId) -> FetchFollowUp {
        for partition in self.partitions.values_mut() {
            partition.give_up_replica(node);
        }
        FetchFollowUp { refresh_metadata: true, ..FetchFollowUp::default() }
    }
    fn file(&mut self, now: Instant, stream: Stream, answer: FetchResponse) -> FetchFollowUp {
        let mut follow_up = FetchFollowUp::default();
        let response = self.responses.next_id();
        let (mut pinned, mut live) = (0, 0);
        for topic in answer.responses {
            let Some(name) = self.name_of(stream, &topic) else { continue };
            for data in topic.partitions {
                let id = TopicPartition::new(name.clone(), data.partition_index);
                pinned += data.records.len();
                follow_up.hint(&id, &data);
                live += self.file_partition(now, stream, &id, data, response, &mut follow_up);
            }
        }
        if !follow_up.hints.is_empty() {
            follow_up.brokers = answer.node_endpoints.iter().filter_map(broker).collect();
        }
        self.responses.hold(response, pinned, live);
        follow_up
    }
    fn name_of(&self, stream: Stream, topic: &FetchableTopicResponse) -> Option<TopicName> {
        if !topic.topic.as_str().is_empty() {
            return Some(topic.topic.clone());
        }
        self.streams.get(&stream)?.topic_name(&topic.topic_id).cloned()
    }
    /// Bytes of what is buffered. Partitions that were not asked for, or that have moved since, are passed over (C-12, C-16).
    fn file_partition(
        &mut self,
        now: Instant,
        stream: Stream,
        id: &TopicPartition,
        data: PartitionData,
        response: u64,
        follow_up: &mut FetchFollowUp,
    ) -> usize {
        let (node, Some(session)) = (stream.node(), self.streams.get(&stream)) else { return 0 };
        let (picture, request, Some(entry)) = (session.picture, session.request, session.entry(id)) else { return 0 };
        let (generation, offset) = (entry.generation, entry.offset);
        let (config, isolation) = (self.config.clone(), self.config.isolation);
        let Some(partition) = self.current(id, generation) else { return 0 };
        if partition.phase != Phase::Fetching || partition.position.offset != offset {
            return 0;
        }
        let code = ErrorCode::new(data.error_code);
        if code.is_error() {
            follow_up.refresh_metadata |= code.refreshes_metadata();
            if code == ErrorCode::NOT_LEADER_OR_FOLLOWER {
                partition.denied = Some((node, picture));
            }
            partition.refused(now, node, code, &config);
            self.queue(id, follow_up);
            return 0;
        }
        partition.calm();
        if partition.preferred.is_some_and(|(preferred, _)| preferred == node) {
            partition.vain_leases = 0;
        }
        partition.note_ends(&data);
        if data.diverging_epoch.epoch >= 0 || data.diverging_epoch.end_offset >= 0 {
            let end = Position {
                offset: data.diverging_epoch.end_offset,
                epoch: Some(data.diverging_epoch.epoch).filter(|epoch| *epoch >= 0).map(LeaderEpoch::new),
            };
            self.truncated(id, end);
            self.queue(id, follow_up);
            return 0;
        }
        if data.preferred_read_replica >= 0 {
            // The leader sends it there again and at once, until the cluster is looked at anew.
            follow_up.refresh_metadata |= std::mem::take(&mut partition.is_replica_unknown);
            partition.prefer(now, NodeId::new(data.preferred_read_replica), &config);
        }
        let Some(records) = data.records.into_bytes().filter(|records| !records.is_empty()) else {
            partition.goes_back = stream.is_beside() && partition.fetched_by == request;
            return 0;
        };
        partition.goes_back = false;
        let filtered = filter(records, offset, data.aborted_transactions.unwrap_or_default(), isolation, response);
        let bytes = filtered.bytes;
        partition.extend(filtered);
        self.queue(id, follow_up);
        bytes
    }
    /// The leader's log parts from what was read: for the term of the position it ends before it, or knows only earlier terms. What lies beyond
    /// the position was not read, so the position never moves forward (C-10). What was read and waits for the application may be of the log that
    /// is lost: it is dropped, as after a seek, for an application that got it would be taken to have read what lies at the same offsets now.
    pub(super) fn truncated(&mut self, id: &TopicPartition, log: Position) {
        let Some(partition) = self.partitions.get_mut(id) else { return };
        let (position, checked) = (partition.position, partition.checked_epoch);
        let end = partition.terms.parting(Position { offset: log.offset.min(position.offset), ..log });
        tracing::warn!(partition = %id, position = position.offset, end = end.offset, "the log was truncated");
        if self.config.reset == OffsetReset::None {
            return partition.halt(FetchProblem::Truncated { end: end.offset });
        }
        let terms = std::mem::take(&mut partition.terms);
        let place = partition.consumed.filter(|place| place.offset < end.offset).unwrap_or(end);
        self.restart(id, |partition| {
            partition.go_back_to(place, terms);
            // Of a term before the one that was asked for the log may end earlier still.
            partition.checked_epoch = checked.filter(|_| place.epoch == log.epoch);
        });
    }
    /// Notes that a partition has something to take.
    fn queue(&mut self, id: &TopicPartition, follow_up: &mut FetchFollowUp) {
        if self.partitions.get(id).is_none_or(|partition| partition.items.is_empty()) {
            return;
        }
        if !self.ready.contains(id) {
            self.ready.push_back(id.clone());
        }
        follow_up.ready = true;
    }
}

impl FetchFollowUp {
    fn hint(&mut self, id: &TopicPartition, data: &PartitionData) {
        let named = &data.current_leader;
        if named.leader_id >= 0 && named.leader_epoch >= 0 {
            let (leader, epoch) = (NodeId::new(named.leader_id), LeaderEpoch::new(named.leader_epoch));
            self.hints.push(LeaderHint::new(id.clone(), leader, epoch));
        }
    }
}

impl Partition {
    fn note_ends(&mut self, data: &PartitionData) {
        self.high_watermark = Some(data.high_watermark).filter(|offset| *offset >= 0).or(self.high_watermark);
        self.last_stable_offset = Some(data.last_stable_offset).filter(|offset| *offset >= 0);
        self.log_start_offset = Some(data.log_start_offset).filter(|offset| *offset >= 0).or(self.log_start_offset);
    }
    fn extend(&mut self, filtered: Filtered) {
        if let Some(position) = filtered.position {
            self.position = position;
        }
        self.terms.extend(filtered.terms);
        self.buffered_bytes += filtered.bytes;
        for item in filtered.items {
            if matches!(item, Item::Problem(_)) {
                self.phase = Phase::Halted;
            }
            self.items.push_back(item);
        }
    }
    fn refused(&mut self, now: Instant, node: NodeId, code: ErrorCode, config: &super::FetchConfig) {
        let from_replica = self.give_up_replica(node);
        self.preferred = None;
        match code {
            // A replica that lags may not have the offset yet: only the leader's word counts (C-8).
            ErrorCode::OFFSET_OUT_OF_RANGE if from_replica => {}
            ErrorCode::OFFSET_OUT_OF_RANGE => self.out_of_range(config.reset),
            ErrorCode::FENCED_LEADER_EPOCH | ErrorCode::UNKNOWN_LEADER_EPOCH => {
                self.back_off(now, config);
                if self.position.epoch.is_some() {
                    self.phase = Phase::Validating;
                }
            }
            ErrorCode::CORRUPT_MESSAGE => self.halt(FetchProblem::Refused(code)),
            code if code.is_retriable() || code == ErrorCode::UNKNOWN_SERVER_ERROR => self.back_off(now, config),
            code => self.halt(FetchProblem::Refused(code)),
        }
    }
    fn out_of_range(&mut self, reset: OffsetReset) {
        tracing::info!(partition = %self.id, offset = self.position.offset, ?reset, "the position is out of range");
        match reset {
            OffsetReset::None => self.halt(FetchProblem::OutOfRange),
            _ => self.phase = Phase::Resetting(None),
        }
    }
}

fn broker(endpoint: &NodeEndpoint) -> Option<Broker> {
    let port = u16::try_from(endpoint.port).ok()?;
    Some(Broker::new(NodeId::new(endpoint.node_id), endpoint.host.as_str(), port))
}
