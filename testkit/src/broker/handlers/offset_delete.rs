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
        let keys: Vec<OffsetKey> = request.topics.iter().flat_map(keys).filter(|key| has(broker, key)).collect();
        if let Err(code) = check(broker, call, id) {
            return Answer::Reply(Self::refuse(&request, code));
        }
        let topics = request.topics.iter().map(|topic| answer(topic, codes(broker, id, topic))).collect();
        let gone = broker.groups.find_mut(id).map(|group| remove(group, &keys)).unwrap_or_default();
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
fn keys(topic: &OffsetDeleteRequestTopic) -> impl Iterator<Item = OffsetKey> {
    topic.partitions.iter().map(|partition| (topic.name.0.clone(), partition.partition_index))
}
fn has(broker: &Broker, (topic, partition): &OffsetKey) -> bool {
    broker.topics.find(topic).is_some_and(|topic| topic.partition(*partition).is_some())
}
fn codes(broker: &Broker, id: &str, topic: &OffsetDeleteRequestTopic) -> Vec<ErrorCode> {
    let is_subscribed = broker.groups.find(id).is_some_and(|group| is_subscribed(group, &topic.name.0));
    let code = |key: OffsetKey| match (has(broker, &key), is_subscribed) {
        (false, _) => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        (true, true) => ErrorCode::GROUP_SUBSCRIBED_TO_TOPIC,
        (true, false) => ErrorCode::NONE,
    };
    keys(topic).map(code).collect()
}
fn answer(topic: &OffsetDeleteRequestTopic, codes: Vec<ErrorCode>) -> OffsetDeleteResponseTopic {
    let partitions = topic.partitions.iter().zip(codes).map(|(partition, code)| {
        OffsetDeleteResponsePartition::default()
            .with_partition_index(partition.partition_index)
            .with_error_code(code.get())
    });
    OffsetDeleteResponseTopic::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
}
/// Removes positions of topics that nobody is subscribed to; gives those that there were.
fn remove(group: &mut Group, keys: &[OffsetKey]) -> Vec<OffsetKey> {
    let free: Vec<&OffsetKey> = keys.iter().filter(|(topic, _)| !is_subscribed(group, topic)).collect();
    let mut gone = Vec::new();
    for key in free {
        if group.offsets.find(key).is_some() || group.offsets.is_pending(key) {
            group.offsets.remove(key);
            gone.push(key.clone());
        }
    }
    gone
}
fn is_subscribed(group: &Group, topic: &str) -> bool {
    match &group.body {
        Body::Classic(group) => group.is_subscribed(topic),
        Body::Consumer(group) => group.is_subscribed(topic),
    }
}
