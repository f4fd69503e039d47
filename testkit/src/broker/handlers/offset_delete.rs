//! OffsetDelete (KIP-496): offsets of topics that no member is subscribed to.
//!
//! Version 0. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::groups::offsets::OffsetKey;
use crate::broker::groups::{Body, Group};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::offset_delete_request::OffsetDeleteRequestTopic;
use millstream_protocol::messages::offset_delete_response::{OffsetDeleteResponsePartition, OffsetDeleteResponseTopic};
use millstream_protocol::messages::{OffsetDeleteRequest, OffsetDeleteResponse};

pub(super) struct OffsetDelete;

impl Handler for OffsetDelete {
    type Request = OffsetDeleteRequest;
    fn handle(broker: &mut Broker, call: &Call, request: OffsetDeleteRequest) -> Answer<OffsetDeleteResponse> {
        let id = &request.group_id.0;
        if let Err(code) = check(broker, call, id) {
            return Answer::Reply(Self::refuse(&request, code));
        }
        let group = broker.groups.entry(id, broker.now);
        let before = group.offsets.keys();
        let topics = request.topics.iter().map(|topic| delete(group, topic)).collect();
        let after = group.offsets.keys();
        let gone: Vec<OffsetKey> = before.into_iter().filter(|key| !after.contains(key)).collect();
        broker.write_positions_end(id, &gone);
        Answer::Reply(OffsetDeleteResponse::default().with_topics(topics))
    }
    fn refuse(_: &OffsetDeleteRequest, code: ErrorCode) -> OffsetDeleteResponse {
        OffsetDeleteResponse::default().with_error_code(code.get())
    }
}

fn check(broker: &Broker, call: &Call, id: &str) -> Result<(), ErrorCode> {
    broker.check_group(call, id, ErrorCode::GROUP_ID_NOT_FOUND)?;
    let is_consumer = |group: &Group| group.protocol_type().as_str() == "consumer";
    match broker.groups.find(id) {
        Some(group) if !group.is_empty() && !is_consumer(group) => Err(ErrorCode::NON_EMPTY_GROUP),
        _ => Ok(()),
    }
}
fn delete(group: &mut Group, topic: &OffsetDeleteRequestTopic) -> OffsetDeleteResponseTopic {
    let code = if is_subscribed(group, &topic.name.0) { ErrorCode::GROUP_SUBSCRIBED_TO_TOPIC } else { ErrorCode::NONE };
    let partitions = topic.partitions.iter().map(|partition| {
        if !code.is_error() {
            group.offsets.remove(&(topic.name.0.clone(), partition.partition_index));
        }
        OffsetDeleteResponsePartition::default()
            .with_partition_index(partition.partition_index)
            .with_error_code(code.get())
    });
    OffsetDeleteResponseTopic::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
}
fn is_subscribed(group: &Group, topic: &str) -> bool {
    match &group.body {
        Body::Classic(group) => group.is_subscribed(topic),
        Body::Consumer(group) => group.is_subscribed(topic),
    }
}
