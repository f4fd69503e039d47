//! OffsetForLeaderEpoch (KIP-320): where an epoch ends.
//!
//! Versions 2 to 4. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::offset_for_leader_epoch_request::{OffsetForLeaderPartition, OffsetForLeaderTopic};
use millstream_protocol::messages::offset_for_leader_epoch_response::{EpochEndOffset, OffsetForLeaderTopicResult};
use millstream_protocol::messages::{OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse};

pub(super) struct OffsetForLeaderEpoch;

impl Handler for OffsetForLeaderEpoch {
    type Request = OffsetForLeaderEpochRequest;
    fn handle(
        broker: &mut Broker,
        call: &Call,
        request: OffsetForLeaderEpochRequest,
    ) -> Answer<OffsetForLeaderEpochResponse> {
        Answer::Reply(answer(&request, |topic, asked| {
            find(broker, call, topic, asked).unwrap_or_else(|code| refused(asked, code))
        }))
    }
    fn refuse(request: &OffsetForLeaderEpochRequest, code: ErrorCode) -> OffsetForLeaderEpochResponse {
        answer(request, |_, asked| refused(asked, code))
    }
}

fn find(
    broker: &Broker,
    call: &Call,
    topic: &str,
    asked: &OffsetForLeaderPartition,
) -> Result<EpochEndOffset, ErrorCode> {
    let partition = broker
        .topics
        .find(topic)
        .and_then(|topic| topic.partition(asked.partition))
        .ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    partition.check_leader(call.node, asked.current_leader_epoch)?;
    let (epoch, end) =
        partition.log.end_of_epoch(asked.leader_epoch).filter(|_| asked.leader_epoch >= 0).unwrap_or((-1, -1));
    Ok(EpochEndOffset::default().with_partition(asked.partition).with_leader_epoch(epoch).with_end_offset(end))
}
fn refused(asked: &OffsetForLeaderPartition, code: ErrorCode) -> EpochEndOffset {
    EpochEndOffset::default()
        .with_partition(asked.partition)
        .with_error_code(code.get())
        .with_leader_epoch(-1)
        .with_end_offset(-1)
}
fn answer(
    request: &OffsetForLeaderEpochRequest,
    each: impl Fn(&str, &OffsetForLeaderPartition) -> EpochEndOffset,
) -> OffsetForLeaderEpochResponse {
    let topic = |topic: &OffsetForLeaderTopic| {
        let partitions = topic.partitions.iter().map(|asked| each(&topic.topic.0, asked)).collect();
        OffsetForLeaderTopicResult::default().with_topic(topic.topic.clone()).with_partitions(partitions)
    };
    OffsetForLeaderEpochResponse::default().with_topics(request.topics.iter().map(topic).collect())
}
