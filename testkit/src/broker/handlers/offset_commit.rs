//! OffsetCommit: classic groups and plain offset storage. Left out: expiry of offsets.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::groups::offsets::Committed;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use millstream_protocol::messages::offset_commit_response::{OffsetCommitResponsePartition, OffsetCommitResponseTopic};
use millstream_protocol::messages::{OffsetCommitRequest, OffsetCommitResponse, StrBytes};

pub(super) struct OffsetCommit;

impl Handler for OffsetCommit {
    type Request = OffsetCommitRequest;
    fn handle(broker: &mut Broker, call: &Call, request: OffsetCommitRequest) -> Answer<OffsetCommitResponse> {
        if let Err(code) = check(broker, call, &request) {
            return Answer::Reply(Self::refuse(&request, code));
        }
        Answer::Reply(answer(&request, |topic, partition| commit(broker, &request, topic, partition)))
    }
    fn refuse(request: &OffsetCommitRequest, code: ErrorCode) -> OffsetCommitResponse {
        answer(request, |_, _| code)
    }
}

fn check(broker: &mut Broker, call: &Call, request: &OffsetCommitRequest) -> Result<(), ErrorCode> {
    let group = request.group_id.0.clone();
    let generation = request.generation_id_or_member_epoch;
    // Whoever names a generation is a member of something.
    let missing = if generation < 0 { ErrorCode::NONE } else { ErrorCode::ILLEGAL_GENERATION };
    match broker.check_group(call, &group, missing) {
        Err(ErrorCode::NONE) => return Ok(()),
        result => result?,
    }
    broker.with_group(&group, |group, rules| {
        group.check_commit(&request.member_id, request.group_instance_id.as_deref(), generation, false)?;
        group.touch(&request.member_id, rules);
        Ok(())
    })
}
fn commit(
    broker: &mut Broker,
    request: &OffsetCommitRequest,
    topic: &str,
    partition: &OffsetCommitRequestPartition,
) -> ErrorCode {
    let metadata = partition.committed_metadata.as_deref().unwrap_or_default();
    if let Err(code) = broker.check_offset(topic, partition.partition_index, metadata) {
        return code;
    }
    let position = Committed {
        offset: partition.committed_offset,
        leader_epoch: partition.committed_leader_epoch,
        metadata: StrBytes::from_string(metadata.to_owned()),
    };
    let key = (StrBytes::from_string(topic.to_owned()), partition.partition_index);
    broker.groups.entry(&request.group_id.0).offsets.commit(key, position);
    ErrorCode::NONE
}
fn answer(
    request: &OffsetCommitRequest,
    mut code: impl FnMut(&str, &OffsetCommitRequestPartition) -> ErrorCode,
) -> OffsetCommitResponse {
    let topics = request.topics.iter().map(|topic| answer_topic(topic, &mut code)).collect();
    OffsetCommitResponse::default().with_topics(topics)
}
fn answer_topic(
    topic: &OffsetCommitRequestTopic,
    code: &mut impl FnMut(&str, &OffsetCommitRequestPartition) -> ErrorCode,
) -> OffsetCommitResponseTopic {
    let partitions = topic.partitions.iter().map(|partition| {
        let code = code(&topic.name.0, partition);
        OffsetCommitResponsePartition::default()
            .with_partition_index(partition.partition_index)
            .with_error_code(code.get())
    });
    OffsetCommitResponseTopic::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
}

impl Broker {
    /// Whether a position may be committed for a partition.
    pub(super) fn check_offset(&self, topic: &str, partition: i32, metadata: &str) -> Result<(), ErrorCode> {
        let known = self.topics.find(topic).and_then(|topic| topic.partition(partition));
        known.ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
        if metadata.len() > self.settings.offset_metadata_max_bytes {
            Err(ErrorCode::OFFSET_METADATA_TOO_LARGE)
        } else {
            Ok(())
        }
    }
}
