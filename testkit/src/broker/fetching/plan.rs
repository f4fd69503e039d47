//! What one fetch wants, and what there is for it.

use crate::broker::Broker;
use crate::broker::authorizer::{Guard, Operation, Rights};
use crate::broker::call::Call;
use crate::broker::log::{Isolation, Slice};
use crate::broker::topics::Topics;
use crate::broker::topics::partition::Partition;
use crate::broker::topics::topic::Topic;
use millstream_protocol::messages::fetch_response::{
    AbortedTransaction, EpochEndOffset, FetchResponse, FetchableTopicResponse, LeaderIdAndEpoch, NodeEndpoint,
    PartitionData,
};
use millstream_protocol::messages::{FetchRequest, RecordData, StrBytes, Uuid};
use millstream_protocol::{ErrorCode, Timestamp, TopicName};

/// From this version on topics are known by id.
pub(crate) const IDS_SINCE: i16 = 13;
/// From this version on a consumer says where it is, and followers serve it (KIP-392).
const FOLLOWERS_SINCE: i16 = 11;
/// From this version on a leader is named to those who asked somebody else, or of another epoch (KIP-951). Kafka leaves the field empty that is
/// there since version 12.
const HINTS_SINCE: i16 = 16;

/// A partition by its topic's id, or by its name where there is none.
pub(crate) type WantKey = (Uuid, Option<TopicName>, i32);

pub(crate) fn key_of(topic: &TopicName, topic_id: Uuid, partition: i32) -> WantKey {
    (topic_id, topic_id.is_nil().then(|| topic.clone()), partition)
}

/// One partition that is wanted.
#[derive(Debug, Clone)]
pub(crate) struct Want {
    pub(crate) topic: TopicName,
    pub(crate) topic_id: Uuid,
    /// The name that the id had when it was first known.
    pub(crate) named: Option<StrBytes>,
    pub(crate) partition: i32,
    pub(crate) offset: i64,
    pub(crate) leader_epoch: i32,
    pub(crate) last_fetched_epoch: i32,
    pub(crate) max_bytes: usize,
    /// What it is to fail with, whatever there is.
    pub(crate) fault: Option<ErrorCode>,
}
impl Want {
    /// Which partition it is, by whichever name requests of its version use.
    pub(crate) fn key(&self) -> WantKey {
        key_of(&self.topic, self.topic_id, self.partition)
    }
    /// Notes the name of an id, as soon as there is one.
    pub(crate) fn learn_name(&mut self, topics: &Topics) {
        if self.named.is_none() {
            self.named = topics.name_of(self.topic_id).cloned();
        }
    }
    /// The topic's name, under which it is looked for: an id that once was known is a name from then on.
    fn name(&self) -> Result<&str, ErrorCode> {
        let name = if self.topic_id.is_nil() { Some(self.topic.as_str()) } else { self.named.as_deref() };
        name.ok_or(ErrorCode::UNKNOWN_TOPIC_ID)
    }
    pub(crate) fn find<'b>(&self, broker: &'b Broker) -> Result<(&'b Topic, &'b Partition), ErrorCode> {
        let topic = broker.topics.find(self.name()?).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
        let partition = topic.partition(self.partition).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
        if !self.topic_id.is_nil() && self.topic_id != topic.id {
            // The topic was made anew meanwhile.
            return Err(ErrorCode::INCONSISTENT_TOPIC_ID);
        }
        Ok((topic, partition))
    }
}

/// A fetch, its session's memory included.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) call: Call,
    pub(crate) wants: Vec<Want>,
    /// The session whose incremental answer this is, or that the answer opens.
    pub(crate) session: Session,
    pub(crate) min_bytes: usize,
    pub(crate) max_bytes: usize,
    pub(crate) isolation: Isolation,
    /// Where the consumer is; empty when it does not say.
    pub(crate) rack: StrBytes,
    pub(crate) until: Timestamp,
}

/// How an answer is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Session {
    None,
    /// In full, under a session's id.
    Full(i32),
    /// Only what changed.
    Incremental(i32),
}

impl Broker {
    /// Whether a fetch need not wait any longer: there is enough, or something is wrong.
    pub(crate) fn is_ready(&self, plan: &Plan) -> bool {
        let mut found = 0;
        for want in &plan.wants {
            let Ok(partition) = self.check_want(plan, want) else { return true };
            if diverging(partition, want).is_some() || self.preferred_replica(plan, want, partition).is_some() {
                return true;
            }
            let enough = plan.min_bytes.saturating_sub(found);
            found += partition.log.readable_bytes(want.offset, bound(partition, plan), enough);
            if found >= plan.min_bytes {
                return true;
            }
        }
        plan.min_bytes == 0 || plan.wants.is_empty()
    }
    fn check_want(&self, plan: &Plan, want: &Want) -> Result<&Partition, ErrorCode> {
        want.fault.map_or(Ok(()), Err)?;
        self.check_right(plan, want)?;
        let (_, partition) = want.find(self)?;
        if plan.call.version >= FOLLOWERS_SINCE {
            partition.check_replica(plan.call.node, want.leader_epoch)?;
        } else {
            partition.check_leader(plan.call.node, want.leader_epoch)?;
        }
        let is_in_range =
            want.offset >= partition.start_of(plan.call.node) && want.offset <= partition.end_of(plan.call.node);
        let is_known = want.last_fetched_epoch < 0 || partition.log.end_of_epoch(want.last_fetched_epoch).is_some();
        let may_read = is_known && (is_in_range || diverging(partition, want).is_some());
        if may_read { Ok(partition) } else { Err(ErrorCode::OFFSET_OUT_OF_RANGE) }
    }
    fn check_right(&self, plan: &Plan, want: &Want) -> Result<(), ErrorCode> {
        let may = Rights::new(self, &plan.call, FetchRequest::NEEDS).may_topic(Operation::Read, want.name()?);
        if may { Ok(()) } else { Err(ErrorCode::TOPIC_AUTHORIZATION_FAILED) }
    }
    /// Answers a fetch with what there is.
    pub(crate) fn fetch_now(&mut self, plan: &Plan) -> FetchResponse {
        let mut left = plan.max_bytes;
        let mut has_records = false;
        let mut topics: Vec<FetchableTopicResponse> = Vec::new();
        let mut answers = Vec::with_capacity(plan.wants.len());
        for want in &plan.wants {
            let data = self.fetch_partition(plan, want, left, !has_records);
            let len = data.records.len();
            has_records |= len > 0;
            left = left.saturating_sub(len);
            answers.push((want.clone(), data));
        }
        let node_endpoints = self.endpoints(plan, &answers);
        for (want, data) in self.fetch_sessions.choose(plan.session, answers) {
            put(&mut topics, &want, data);
        }
        let session_id = match plan.session {
            Session::None => 0,
            Session::Full(id) | Session::Incremental(id) => id,
        };
        FetchResponse { session_id, responses: topics, node_endpoints, ..FetchResponse::default() }
    }
    fn fetch_partition(&mut self, plan: &Plan, want: &Want, left: usize, even_if_larger: bool) -> PartitionData {
        let result = self.check_want(plan, want).map(|partition| {
            let preferred = self.preferred_replica(plan, want, partition);
            match preferred {
                Some(replica) => {
                    (PartitionData { preferred_read_replica: replica.get(), ..told(partition, plan, want) }, 0)
                }
                None => read(partition, plan, want, left, even_if_larger),
            }
        });
        match result {
            Ok((data, records)) => {
                self.count_fetched(want, records);
                data
            }
            Err(code) => self.refuse_partition(plan, want, code),
        }
    }
    fn count_fetched(&mut self, want: &Want, records: u64) {
        let id = want.find(self).map(|(topic, _)| topic.id);
        let partition =
            id.ok().and_then(|id| self.topics.find_id_mut(id)).and_then(|topic| topic.partition_mut(want.partition));
        if let Some(partition) = partition {
            partition.fetched_records += records;
        }
    }
    fn refuse_partition(&self, plan: &Plan, want: &Want, code: ErrorCode) -> PartitionData {
        let mut data = refused(want.partition, code);
        let is_about_leader = matches!(code, ErrorCode::NOT_LEADER_OR_FOLLOWER | ErrorCode::FENCED_LEADER_EPOCH);
        if is_about_leader
            && plan.call.version >= HINTS_SINCE
            && let Ok((_, partition)) = want.find(self)
        {
            data.current_leader = LeaderIdAndEpoch {
                leader_id: partition.leader_id(),
                leader_epoch: partition.leader_epoch,
                ..LeaderIdAndEpoch::default()
            };
        }
        data
    }
    fn endpoints(&self, plan: &Plan, answers: &[(Want, PartitionData)]) -> Vec<NodeEndpoint> {
        if plan.call.version < HINTS_SINCE {
            return Vec::new();
        }
        let is_named =
            |id: i32| answers.iter().any(|(_, data)| data.error_code != 0 && data.current_leader.leader_id == id);
        let nodes = self.nodes.up().filter(|node| is_named(node.id.get()));
        nodes
            .map(|node| NodeEndpoint {
                node_id: node.id.get(),
                host: node.host(plan.call.listener),
                port: node.port(plan.call.listener),
                rack: node.rack.clone(),
                ..NodeEndpoint::default()
            })
            .collect()
    }
}

/// A partition answered with a code.
pub(crate) fn refused(partition_index: i32, code: ErrorCode) -> PartitionData {
    // Kafka leaves this list as it is made where it never came to the log, and takes it away where it did.
    let is_before_log = matches!(
        code,
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
            | ErrorCode::UNKNOWN_TOPIC_ID
            | ErrorCode::INCONSISTENT_TOPIC_ID
            | ErrorCode::TOPIC_AUTHORIZATION_FAILED
    );
    PartitionData {
        partition_index,
        error_code: code.get(),
        high_watermark: -1,
        aborted_transactions: is_before_log.then(Vec::new),
        records: RecordData::from(Vec::new()),
        ..PartitionData::default()
    }
}

/// How far a fetch may read at its node.
fn bound(partition: &Partition, plan: &Plan) -> i64 {
    partition.log.bound(plan.isolation).min(partition.end_of(plan.call.node))
}
/// What an answer tells besides records.
fn told(partition: &Partition, plan: &Plan, want: &Want) -> PartitionData {
    let (log, own_end) = (&partition.log, partition.end_of(plan.call.node));
    PartitionData {
        partition_index: want.partition,
        high_watermark: log.high_watermark().min(own_end),
        last_stable_offset: log.last_stable_offset().min(own_end),
        log_start_offset: partition.start_of(plan.call.node),
        aborted_transactions: None,
        records: RecordData::from(Vec::new()),
        ..PartitionData::default()
    }
}
fn read(partition: &Partition, plan: &Plan, want: &Want, left: usize, even_if_larger: bool) -> (PartitionData, u64) {
    let mut data = told(partition, plan, want);
    if let Some(diverging) = diverging(partition, want) {
        data.diverging_epoch = diverging;
        return (data, 0);
    }
    let to = bound(partition, plan);
    let slice = partition.log.read(want.offset, to, want.max_bytes.min(left), even_if_larger);
    if plan.isolation == Isolation::ReadCommitted {
        data.aborted_transactions = Some(aborted(partition, want.offset, &slice));
    }
    let records = slice.records;
    data.records = RecordData::from(slice.into_pieces());
    (data, records)
}
fn aborted(partition: &Partition, from: i64, slice: &Slice) -> Vec<AbortedTransaction> {
    let found = partition.log.aborted_between(from, slice.end);
    found
        .into_iter()
        .map(|aborted| AbortedTransaction {
            producer_id: aborted.producer_id,
            first_offset: aborted.first_offset,
            ..AbortedTransaction::default()
        })
        .collect()
}
/// Where the reader's history leaves the log's (KIP-595).
fn diverging(partition: &Partition, want: &Want) -> Option<EpochEndOffset> {
    if want.last_fetched_epoch < 0 {
        return None;
    }
    let (epoch, end_offset) = partition.log.end_of_epoch(want.last_fetched_epoch)?;
    let diverges =
        want.offset >= partition.log.start() && (epoch < want.last_fetched_epoch || end_offset < want.offset);
    diverges.then_some(EpochEndOffset { epoch, end_offset, ..EpochEndOffset::default() })
}
fn put(topics: &mut Vec<FetchableTopicResponse>, want: &Want, data: PartitionData) {
    match topics.last_mut() {
        Some(topic) if topic.topic == want.topic && topic.topic_id == want.topic_id => topic.partitions.push(data),
        _ => topics.push(FetchableTopicResponse {
            topic: want.topic.clone(),
            topic_id: want.topic_id,
            partitions: vec![data],
            ..FetchableTopicResponse::default()
        }),
    }
}
