//! OffsetDelete (KIP-496): offsets of topics that no member is subscribed to.
//!
//! Version 0. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::groups::Group;
use crate::broker::groups::offsets::OffsetKey;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::offset_delete_request::OffsetDeleteRequestTopic;
use millstream_protocol::messages::offset_delete_response::{OffsetDeleteResponsePartition, OffsetDeleteResponseTopic};
use millstream_protocol::messages::{OffsetDeleteRequest, OffsetDeleteResponse};
use std::collections::BTreeSet;

pub(super) struct OffsetDelete;

impl Handler for OffsetDelete {
    type Request = OffsetDeleteRequest;
    fn handle(broker: &mut Broker, call: &Call, request: OffsetDeleteRequest) -> Answer<OffsetDeleteResponse> {
        let id = &request.group_id.0;
        let is_subscribed = match find(broker, call, id) {
            Ok(group) => group.subscriptions(),
            Err(code) => return Answer::Reply(Self::refuse(&request, code)),
        };
        let keys = request.topics.iter().flat_map(keys).filter(|key| has(broker, key));
        let free: BTreeSet<OffsetKey> = keys.filter(|(topic, _)| !is_subscribed(topic)).collect();
        let answered = |topic| answer(topic, codes(broker, topic, is_subscribed(&topic.name.0)));
        let topics = request.topics.iter().map(answered).collect();
        drop(is_subscribed);
        let gone = broker.groups.find_mut(id).map(|group| remove(group, &free)).unwrap_or_default();
        broker.write_positions_end(id, &gone);
        Answer::Reply(OffsetDeleteResponse::default().with_topics(topics))
    }
    fn refuse(_: &OffsetDeleteRequest, code: ErrorCode) -> OffsetDeleteResponse {
        OffsetDeleteResponse::default().with_error_code(code.get())
    }
}

fn find<'b>(broker: &'b Broker, call: &Call, id: &str) -> Result<&'b Group, ErrorCode> {
    broker.check_group(call, id, ErrorCode::GROUP_ID_NOT_FOUND)?;
    let group = broker.groups.find(id).ok_or(ErrorCode::GROUP_ID_NOT_FOUND)?;
    let is_consumer = group.protocol_type().as_str() == "consumer";
    if group.is_empty() || is_consumer { Ok(group) } else { Err(ErrorCode::NON_EMPTY_GROUP) }
}
fn keys(topic: &OffsetDeleteRequestTopic) -> impl Iterator<Item = OffsetKey> {
    topic.partitions.iter().map(|partition| (topic.name.0.clone(), partition.partition_index))
}
fn has(broker: &Broker, (topic, partition): &OffsetKey) -> bool {
    broker.topics.find(topic).is_some_and(|topic| topic.partition(*partition).is_some())
}
fn codes(broker: &Broker, topic: &OffsetDeleteRequestTopic, is_subscribed: bool) -> Vec<ErrorCode> {
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
/// Removes positions; gives those that there were.
fn remove(group: &mut Group, keys: &BTreeSet<OffsetKey>) -> Vec<OffsetKey> {
    let is_there = |key: &&OffsetKey| group.offsets.find(key).is_some() || group.offsets.is_pending(key);
    let gone: Vec<OffsetKey> = keys.iter().filter(is_there).cloned().collect();
    gone.iter().for_each(|key| group.offsets.remove(key));
    gone
}
