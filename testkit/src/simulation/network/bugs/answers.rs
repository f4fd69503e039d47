//! What becomes of an answer by a bug on its way out.

use super::batches::{hollow, mixed_up, rewritten, shown};
use super::{Bug, Network};
use crate::simulation::trace::Place;
use bytes::{BufMut, Bytes, BytesMut};
use millstream_protocol::messages::fetch_response::PartitionData;
use millstream_protocol::messages::{
    FetchResponse, InitProducerIdResponse, OffsetCommitResponse, OffsetForLeaderEpochResponse, ProduceResponse,
    RecordData, ResponseKind, SyncGroupResponse,
};
use millstream_protocol::record::{Batch, rewrite};
use millstream_protocol::{ApiKey, ErrorCode, frame};

impl Network {
    /// What becomes of an answer's frame, its size included.
    pub(in super::super) fn bugged_answer(
        &mut self,
        place: Place,
        (api, version): (ApiKey, i16),
        frame: Bytes,
    ) -> Bytes {
        self.other_answer(place, (api, version), &frame).unwrap_or(frame)
    }
    fn other_answer(&mut self, place: Place, (api, version): (ApiKey, i16), frame: &Bytes) -> Option<Bytes> {
        let bug = self.planted.at(place.at)?;
        if bug == Bug::WidenLengths {
            return (api == ApiKey::HEARTBEAT && version >= 4 && self.planted.is_one_in(3)).then(|| widened(frame));
        }
        if !is_met(api) {
            return None;
        }
        let payload = frame.get(4..).map(|_| frame.slice(4..))?;
        let (id, mut response) = frame::decode_any_response(api, version, payload).ok()?;
        let is_changed = match &mut response {
            ResponseKind::Produce(response) => bug == Bug::RefuseWhatIsWritten && self.refuse(response),
            ResponseKind::Fetch(response) => self.fetched(bug, place, response),
            ResponseKind::InitProducerId(response) => bug == Bug::ReuseProducerIds && reuse(response),
            ResponseKind::OffsetCommit(response) => bug == Bug::TakeOldCommits && take(response),
            ResponseKind::OffsetForLeaderEpoch(response) => bug == Bug::OverlookEpochs && overlook(response),
            ResponseKind::SyncGroup(response) => bug == Bug::ShareAssignments && self.share(place, response),
            _ => false,
        };
        let changed = is_changed.then(|| frame::encode_any_response(version, id, &response).ok());
        changed.flatten().map(|frame| frame.to_bytes())
    }
    /// What a client makes of an answer, its size included, by a bug of its own.
    pub(in super::super) fn understood(&self, place: Place, (api, version): (ApiKey, i16), frame: Bytes) -> Bytes {
        let is_mistaken = self.planted.at(place.at) == Some(Bug::MistakeRefusals);
        let changed = || {
            let payload = frame.get(4..).map(|_| frame.slice(4..))?;
            let (id, mut response) = frame::decode_any_response(api, version, payload).ok()?;
            mistake(&mut response).then(|| frame::encode_any_response(version, id, &response).ok()).flatten()
        };
        let changed = if is_mistaken && is_met(api) { changed() } else { None };
        changed.map_or(frame.clone(), |frame| frame.to_bytes())
    }
    fn refuse(&mut self, response: &mut ProduceResponse) -> bool {
        if !self.planted.is_one_in(5) {
            return false;
        }
        let partitions = response.responses.iter_mut().flat_map(|topic| &mut topic.partition_responses);
        for partition in partitions.filter(|partition| partition.error_code == 0) {
            partition.error_code = ErrorCode::INVALID_RECORD.get();
            partition.base_offset = -1;
        }
        true
    }
    fn share(&mut self, place: Place, response: &mut SyncGroupResponse) -> bool {
        let Some(generation) = self.planted.generations.remove(&place.connection) else { return false };
        if response.error_code != 0 || response.assignment.is_empty() {
            return false;
        }
        let first = self.planted.assignments.entry(generation).or_insert_with(|| response.assignment.clone());
        response.assignment = first.clone();
        true
    }
    fn fetched(&mut self, bug: Bug, place: Place, response: &mut FetchResponse) -> bool {
        let host = self.connections.get(&place.connection).map(|connection| &*connection.host);
        let is_one_of = |name| host.is_some_and(|host| host.starts_with(name));
        let (is_reader, is_member) = (is_one_of("reader"), is_one_of("member"));
        let change: fn(&Batch) -> Option<Bytes> = match bug {
            Bug::LoseFirstBatches => |batch| empty_at(batch, |offset| offset == 0),
            Bug::SkipBatches if is_reader => |batch| empty_at(batch, |offset| offset % 7 == 3),
            Bug::MixUpValues if is_member => mixed_up,
            Bug::ShowMarkers if is_reader => shown,
            Bug::HollowAnswers if is_one_of("copier") => return each_records(response, hollow),
            Bug::DenyOffsets if is_reader => return self.deny(response),
            _ => return false,
        };
        each_records(response, |records| rewritten(records, change))
    }
    fn deny(&mut self, response: &mut FetchResponse) -> bool {
        let mut partitions = response.responses.iter_mut().flat_map(|topic| &mut topic.partitions);
        let Some(partition) = partitions.find(|partition| !partition.records.is_empty()) else { return false };
        let denies = self.planted.is_one_in(20);
        if denies {
            let (error_code, partition_index) = (ErrorCode::OFFSET_OUT_OF_RANGE.get(), partition.partition_index);
            *partition = PartitionData { partition_index, error_code, high_watermark: -1, ..PartitionData::default() };
        }
        denies
    }
}

/// Whether some bug is about answers of an API.
fn is_met(api: ApiKey) -> bool {
    matches!(
        api,
        ApiKey::PRODUCE
            | ApiKey::FETCH
            | ApiKey::INIT_PRODUCER_ID
            | ApiKey::SYNC_GROUP
            | ApiKey::OFFSET_COMMIT
            | ApiKey::OFFSET_FOR_LEADER_EPOCH
    )
}

/// Takes a word on leaders for one that has nothing to do with them.
fn mistake(response: &mut ResponseKind) -> bool {
    let codes: Vec<(&mut i16, ErrorCode)> = match response {
        ResponseKind::Produce(response) => {
            let all = response.responses.iter_mut().flat_map(|topic| &mut topic.partition_responses);
            all.map(|partition| (&mut partition.error_code, ErrorCode::NOT_ENOUGH_REPLICAS)).collect()
        }
        ResponseKind::Fetch(response) => {
            let all = response.responses.iter_mut().flat_map(|topic| &mut topic.partitions);
            all.map(|partition| (&mut partition.error_code, ErrorCode::UNKNOWN_SERVER_ERROR)).collect()
        }
        _ => Vec::new(),
    };
    let refusals = codes.into_iter().filter(|(code, _)| **code == ErrorCode::NOT_LEADER_OR_FOLLOWER.get());
    refusals.map(|(code, other)| *code = other.get()).count() > 0
}

/// Whatever was asked for ends nowhere.
fn overlook(response: &mut OffsetForLeaderEpochResponse) -> bool {
    let all = response.topics.iter_mut().flat_map(|topic| &mut topic.partitions);
    all.map(|partition| partition.end_offset = i64::MAX).count() > 0
}

fn each_records(response: &mut FetchResponse, change: impl Fn(RecordData) -> RecordData) -> bool {
    for partition in response.responses.iter_mut().flat_map(|topic| &mut topic.partitions) {
        partition.records = change(std::mem::take(&mut partition.records));
    }
    true
}

/// Takes what was refused since the group has gone on without the member.
fn take(response: &mut OffsetCommitResponse) -> bool {
    let all = response.topics.iter_mut().flat_map(|topic| &mut topic.partitions);
    let old = [ErrorCode::ILLEGAL_GENERATION.get(), ErrorCode::UNKNOWN_MEMBER_ID.get()];
    let refused = all.filter(|each| old.contains(&each.error_code));
    refused.map(|each| each.error_code = 0).count() > 0
}

/// A batch whose records a cleaner took, if it begins at such an offset.
fn empty_at(batch: &Batch, is_taken: fn(i64) -> bool) -> Option<Bytes> {
    is_taken(batch.header().base_offset).then(|| rewrite::without_records(batch)).flatten()
}

fn reuse(response: &mut InitProducerIdResponse) -> bool {
    response.producer_id = 7.into();
    response.producer_epoch = 0;
    response.error_code == 0
}

/// The same frame, whose last length, a zero, takes two bytes.
fn widened(frame: &Bytes) -> Bytes {
    let mut wide = BytesMut::with_capacity(frame.len() + 1);
    wide.put_u32(u32::try_from(frame.len() - 4 + 1).unwrap_or(0));
    wide.extend_from_slice(frame.get(4..frame.len() - 1).unwrap_or_default());
    wide.extend_from_slice(&[0x80, 0]);
    wide.freeze()
}
