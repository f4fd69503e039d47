//! What becomes of a request by a bug before the broker sees it.

use super::batches::{rewritten, unsequenced};
use super::{Bug, Network, Planted};
use crate::broker::ConnectionId;
use bytes::Bytes;
use millstream_protocol::frame::{self, Frame};
use millstream_protocol::messages::produce_response::{PartitionProduceResponse, TopicProduceResponse};
use millstream_protocol::messages::{FetchRequest, ProduceRequest, ProduceResponse, RequestKind};
use millstream_protocol::{ApiKey, ErrorCode};
use std::time::Duration;

/// When a node begins to lose fetches.
const LOSES_FROM: Duration = Duration::from_secs(20);

/// What a request becomes.
pub(in super::super) enum Bugged {
    Request(Bytes),
    Answered(Frame),
    /// It is never answered.
    Lost,
}

/// What is done about a request.
enum Outcome {
    Changed,
    /// It is acknowledged so, and nothing is written.
    Pretended(ErrorCode),
    Lost,
    Untouched,
}

impl Network {
    /// What becomes of a request by the bug that is planted, if any is.
    pub(in super::super) fn bugged(&mut self, now: Duration, id: ConnectionId, payload: Bytes) -> Bugged {
        self.changed(now, id, &payload).unwrap_or(Bugged::Request(payload))
    }
    fn changed(&mut self, now: Duration, connection: ConnectionId, payload: &Bytes) -> Option<Bugged> {
        let bug = self.planted.at(now)?;
        let is_readers = self.connections.get(&connection).is_some_and(|connection| &*connection.host == "reader");
        let header = frame::decode_request_header(payload).ok()?;
        let (api, version, id) = (header.api(), header.version(), header.correlation_id());
        if !is_met(api) {
            return None;
        }
        let mut request = frame::decode_any_request(api, version, header.body_of(payload)).ok()?;
        let outcome = match &mut request {
            RequestKind::Produce(request) => produce(&mut self.planted, bug, request),
            RequestKind::Fetch(_) if bug == Bug::LoseFetches && is_readers && now > LOSES_FROM => {
                let is_there = self.connections.get(&connection).is_some_and(|found| found.node.get() == 1);
                if is_there { Outcome::Lost } else { Outcome::Untouched }
            }
            RequestKind::Fetch(request) => fetch(bug, request),
            RequestKind::SyncGroup(request) => {
                self.planted.generations.insert(connection, request.generation_id);
                Outcome::Untouched
            }
            request if bug == Bug::RewindCommits => rewind(request),
            _ => Outcome::Untouched,
        };
        match (outcome, &request) {
            (Outcome::Lost, _) => Some(Bugged::Lost),
            (Outcome::Changed, _) => {
                let changed = frame::encode_any_request(version, id, header.client_id(), &request).ok()?;
                Some(Bugged::Request(changed.payload()))
            }
            (Outcome::Pretended(code), RequestKind::Produce(request)) => {
                let answer = self.pretend(request, code);
                frame::encode_response::<ProduceRequest>(version, id, &answer).ok().map(Bugged::Answered)
            }
            _ => None,
        }
    }
    /// Says that all is written: at the end of the log of the first topic there is, or nobody knows where.
    fn pretend(&self, request: &ProduceRequest, code: ErrorCode) -> ProduceResponse {
        let topic = self.topics.first().map(|(name, _)| name.clone()).unwrap_or_default();
        let end = |index| self.broker.span(&topic, index).map_or(0, |(_, end)| end);
        let partition = |index: i32| PartitionProduceResponse {
            index,
            error_code: code.get(),
            base_offset: if code.is_error() { -1 } else { end(index) },
            ..PartitionProduceResponse::default()
        };
        let responses = request.topic_data.iter().map(|data| TopicProduceResponse {
            name: data.name.clone(),
            topic_id: data.topic_id,
            partition_responses: data.partition_data.iter().map(|data| partition(data.index)).collect(),
            ..TopicProduceResponse::default()
        });
        ProduceResponse { responses: responses.collect(), ..ProduceResponse::default() }
    }
}

/// Whether some bug is about requests of an API.
fn is_met(api: ApiKey) -> bool {
    matches!(
        api,
        ApiKey::PRODUCE | ApiKey::FETCH | ApiKey::OFFSET_COMMIT | ApiKey::TXN_OFFSET_COMMIT | ApiKey::SYNC_GROUP
    )
}

fn produce(planted: &mut Planted, bug: Bug, request: &mut ProduceRequest) -> Outcome {
    match bug {
        Bug::LoseEveryFifthWrite if request.acks != 0 && planted.is_one_in(5) => Outcome::Pretended(ErrorCode::NONE),
        Bug::TakeForDuplicates if request.acks != 0 && planted.is_one_in(5) => {
            Outcome::Pretended(ErrorCode::DUPLICATE_SEQUENCE_NUMBER)
        }
        Bug::TakeForDuplicates | Bug::ForgetSequences | Bug::RefuseWhatIsWritten | Bug::ReuseProducerIds => {
            for partition in request.topic_data.iter_mut().flat_map(|topic| &mut topic.partition_data) {
                partition.records = rewritten(std::mem::take(&mut partition.records), unsequenced);
            }
            Outcome::Changed
        }
        _ => Outcome::Untouched,
    }
}

fn fetch(bug: Bug, request: &mut FetchRequest) -> Outcome {
    match bug {
        Bug::ForgetIsolation => request.isolation_level = 0,
        Bug::OverlookEpochs => {
            let partitions = request.topics.iter_mut().flat_map(|topic| &mut topic.partitions);
            partitions.for_each(|partition| partition.last_fetched_epoch = -1);
        }
        Bug::ForgetLimits => {
            request.max_bytes = i32::MAX;
            let partitions = request.topics.iter_mut().flat_map(|topic| &mut topic.partitions);
            partitions.for_each(|partition| partition.partition_max_bytes = i32::MAX);
        }
        _ => return Outcome::Untouched,
    }
    Outcome::Changed
}

fn rewind(request: &mut RequestKind) -> Outcome {
    let older = |offset: &mut i64| *offset = (*offset - 7).max(0);
    match request {
        RequestKind::OffsetCommit(request) => {
            let partitions = request.topics.iter_mut().flat_map(|topic| &mut topic.partitions);
            partitions.for_each(|partition| older(&mut partition.committed_offset));
        }
        RequestKind::TxnOffsetCommit(request) => {
            let partitions = request.topics.iter_mut().flat_map(|topic| &mut topic.partitions);
            partitions.for_each(|partition| older(&mut partition.committed_offset));
        }
        _ => return Outcome::Untouched,
    }
    Outcome::Changed
}
