//! Bugs of a broker, planted on purpose: what checkers are there to find.

use super::Network;
use bytes::Bytes;
use millstream_protocol::ApiKey;
use millstream_protocol::frame::{self, Frame};
use millstream_protocol::messages::produce_response::{PartitionProduceResponse, TopicProduceResponse};
use millstream_protocol::messages::{ProduceRequest, ProduceResponse, RequestKind};

/// A bug of a broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bug {
    /// Every fifth produce request is acknowledged and not written.
    LoseEveryFifthWrite,
    /// Readers of committed records are served like any others.
    ForgetIsolation,
    /// Commits are taken with older offsets than were asked for.
    RewindCommits,
}

/// What a request becomes.
pub(super) enum Bugged {
    Request(Bytes),
    Answered(Frame),
}

impl Network {
    /// What becomes of a request by the bug that is planted, if any is.
    pub(super) fn bugged(&mut self, payload: Bytes) -> Bugged {
        self.changed(&payload).unwrap_or(Bugged::Request(payload))
    }
    fn changed(&mut self, payload: &Bytes) -> Option<Bugged> {
        let bug = self.bug?;
        let header = frame::decode_request_header(payload).ok()?;
        let (api, version, id) = (header.api(), header.version(), header.correlation_id());
        if !matches!(api, ApiKey::PRODUCE | ApiKey::FETCH | ApiKey::OFFSET_COMMIT) {
            return None;
        }
        let mut request = frame::decode_any_request(api, version, header.body_of(payload)).ok()?;
        match (&mut request, bug) {
            (RequestKind::Produce(request), Bug::LoseEveryFifthWrite) => {
                self.produced += 1;
                let is_lost = self.produced.is_multiple_of(5) && request.acks != 0;
                let answer = is_lost.then(|| self.pretend(request))?;
                return frame::encode_response::<ProduceRequest>(version, id, &answer).ok().map(Bugged::Answered);
            }
            (RequestKind::Fetch(request), Bug::ForgetIsolation) => request.isolation_level = 0,
            (RequestKind::OffsetCommit(request), Bug::RewindCommits) => {
                for partition in request.topics.iter_mut().flat_map(|topic| &mut topic.partitions) {
                    partition.committed_offset = (partition.committed_offset - 7).max(0);
                }
            }
            _ => return None,
        }
        let changed = frame::encode_any_request(version, id, header.client_id(), &request).ok()?;
        Some(Bugged::Request(changed.payload()))
    }
    /// Says that all is written, at the end of the log of the first topic there is.
    fn pretend(&self, request: &ProduceRequest) -> ProduceResponse {
        let topic = self.topics.first().map(|(name, _)| name.clone()).unwrap_or_default();
        let partition = |index: i32| PartitionProduceResponse {
            index,
            base_offset: self.broker.span(&topic, index).map_or(0, |(_, end)| end),
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
