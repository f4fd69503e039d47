//! OffsetCommit: members of either protocol, and whoever only keeps offsets.
//!
//! Versions 2 to 10. Left out: nothing.

use super::committed::{Told, arranged};
use super::{Handler, MOST_COSTLY_THINGS};
use crate::broker::Broker;
use crate::broker::bounds::Comer;
use crate::broker::call::{Answer, Call};
use crate::broker::groups::committing::{CONSUMERS_SINCE, Committer, Position, TopicRef};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use millstream_protocol::messages::offset_commit_response::{OffsetCommitResponsePartition, OffsetCommitResponseTopic};
use millstream_protocol::messages::{OffsetCommitRequest, OffsetCommitResponse, TopicName, Uuid};

/// From this version on topics have ids instead of names.
const IDS_SINCE: i16 = 10;

pub(super) struct OffsetCommit;

impl Handler for OffsetCommit {
    type Request = OffsetCommitRequest;
    const MOST_THINGS: usize = MOST_COSTLY_THINGS;
    fn handle(broker: &mut Broker, call: &Call, request: OffsetCommitRequest) -> Answer<OffsetCommitResponse> {
        let by = Committer {
            group: &request.group_id,
            member_id: &request.member_id,
            instance_id: request.group_instance_id.as_deref(),
            epoch: request.generation_id_or_member_epoch,
            producer: None,
            version: call.version,
            knows_missing_groups: call.version >= CONSUMERS_SINCE,
        };
        let admit = |broker: &mut Broker| broker.check_committer(call, &by);
        let mut codes = broker.commit(&by, positions(&request, call.version), admit).into_iter();
        Answer::Reply(answer(&request, || codes.next().unwrap_or(ErrorCode::UNKNOWN_SERVER_ERROR)))
    }
    fn when_full(_: &Broker, _: &OffsetCommitRequest) -> Option<ErrorCode> {
        Some(ErrorCode::INVALID_COMMIT_OFFSET_SIZE)
    }
    fn comer(broker: &Broker, request: &OffsetCommitRequest) -> Comer {
        Comer::who(broker.groups.has_member(
            &request.group_id.0,
            &request.member_id,
            request.group_instance_id.as_deref(),
        ))
    }
    fn refuse(request: &OffsetCommitRequest, code: ErrorCode) -> OffsetCommitResponse {
        answer(request, || code)
    }
}

fn positions(request: &OffsetCommitRequest, version: i16) -> Vec<Position> {
    let retention_ms = Some(request.retention_time_ms).filter(|ms| *ms >= 0);
    let topics =
        request.topics.iter().flat_map(|topic| topic.partitions.iter().map(move |partition| (topic, partition)));
    let position = |(topic, partition): (&OffsetCommitRequestTopic, &OffsetCommitRequestPartition)| Position {
        topic: if version >= IDS_SINCE { TopicRef::Id(topic.topic_id) } else { TopicRef::Name(topic.name.0.clone()) },
        partition: partition.partition_index,
        offset: partition.committed_offset,
        leader_epoch: partition.committed_leader_epoch,
        metadata: partition.committed_metadata.clone(),
        retention_ms,
    };
    topics.map(position).collect()
}
fn answer(request: &OffsetCommitRequest, mut code: impl FnMut() -> ErrorCode) -> OffsetCommitResponse {
    let became = |topic: &OffsetCommitRequestTopic| {
        let told = topic.partitions.iter().map(|partition| (partition.partition_index, code()));
        ((topic.name.clone(), topic.topic_id), told.collect())
    };
    let topics = arranged(request.topics.iter().map(became).collect());
    OffsetCommitResponse::default().with_topics(topics.into_iter().map(told_topic).collect())
}
fn told_topic(((name, id), told): ((TopicName, Uuid), Told)) -> OffsetCommitResponseTopic {
    let partitions = told.into_iter().map(|(index, code)| {
        OffsetCommitResponsePartition::default().with_partition_index(index).with_error_code(code.get())
    });
    OffsetCommitResponseTopic::default().with_name(name).with_topic_id(id).with_partitions(partitions.collect())
}
