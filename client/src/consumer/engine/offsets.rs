//! OffsetFetch: what a group has committed.

use crate::client::{Call, Client, Target};
use crate::{Error, OffsetAndMetadata, Offsets};
use millstream_client_core::cluster::CoordinatorKey;
use millstream_protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use millstream_protocol::messages::{OffsetFetchRequest, OffsetFetchResponse, StrBytes};
use millstream_protocol::{ErrorCode, LeaderEpoch, Offset, TopicName, TopicPartition};
use std::collections::BTreeMap;

/// OffsetFetch and OffsetCommit name topics up to this version; from the next on they want their ids.
pub(crate) const NAMES_UP_TO: i16 = 9;

/// What a group has committed; partitions without a commit are absent. Offsets that an open transaction is about to commit
/// are waited for (KIP-447).
pub(crate) async fn committed(
    client: &Client,
    group: &CoordinatorKey,
    partitions: Vec<TopicPartition>,
) -> Result<Offsets, Error> {
    if partitions.is_empty() {
        return Ok(Offsets::new());
    }
    let operation = format!("fetch the offsets of {group}");
    let name = group.name().to_owned();
    let topics = by_topic(&partitions);
    let build = move |version| request(&name, &topics, version);
    let call = Call::new(operation.clone(), Target::Coordinator(group.clone())).max_version(NAMES_UP_TO);
    let reply = client.call::<OffsetFetchRequest>(call, build, worst_code).await?;
    let mut offsets = Offsets::new();
    for (partition, code, next) in answers(&reply.body) {
        if code.is_error() {
            return Err(Error::broker(code, operation).reason(code).about(partition));
        }
        if next.offset.get() >= 0 {
            offsets.add(partition, next);
        }
    }
    let code = whole_code(&reply.body);
    if code.is_error() { Err(Error::broker(code, operation).reason(code)) } else { Ok(offsets) }
}

fn by_topic(partitions: &[TopicPartition]) -> BTreeMap<TopicName, Vec<i32>> {
    let mut topics: BTreeMap<TopicName, Vec<i32>> = BTreeMap::new();
    for each in partitions {
        topics.entry(each.topic.clone()).or_default().push(each.partition.get());
    }
    topics
}

fn request(group: &str, topics: &BTreeMap<TopicName, Vec<i32>>, version: i16) -> OffsetFetchRequest {
    let text = |text: &str| StrBytes::from_string(text.to_owned());
    let mut request = OffsetFetchRequest::default();
    request.require_stable = version >= 7;
    if version < 8 {
        request.group_id = text(group).into();
        let topic = |(name, partitions): (&TopicName, &Vec<i32>)| {
            let mut topic = OffsetFetchRequestTopic::default();
            topic.name = text(name.as_str()).into();
            topic.partition_indexes.clone_from(partitions);
            topic
        };
        request.topics = Some(topics.iter().map(topic).collect());
        return request;
    }
    let topic = |(name, partitions): (&TopicName, &Vec<i32>)| {
        let mut topic = OffsetFetchRequestTopics::default();
        topic.name = text(name.as_str()).into();
        topic.partition_indexes.clone_from(partitions);
        topic
    };
    let mut asked = OffsetFetchRequestGroup::default();
    asked.group_id = text(group).into();
    asked.member_id = None;
    asked.member_epoch = -1;
    asked.topics = Some(topics.iter().map(topic).collect());
    request.groups = vec![asked];
    request
}

fn whole_code(answer: &OffsetFetchResponse) -> ErrorCode {
    let of_group = answer.groups.first().map_or(0, |group| group.error_code);
    ErrorCode::new(if answer.error_code == 0 { of_group } else { answer.error_code })
}

/// A code that another try may mend, if there is one: of the whole, or of a partition whose commit is not decided.
fn worst_code(answer: &OffsetFetchResponse) -> ErrorCode {
    let whole = whole_code(answer);
    if whole.is_error() {
        return whole;
    }
    let retriable =
        |(_, code, _): (TopicPartition, ErrorCode, OffsetAndMetadata)| Some(code).filter(|code| code.is_retriable());
    answers(answer).find_map(retriable).unwrap_or(ErrorCode::NONE)
}

fn answers(answer: &OffsetFetchResponse) -> impl Iterator<Item = (TopicPartition, ErrorCode, OffsetAndMetadata)> + '_ {
    let new = answer.groups.iter().flat_map(|group| &group.topics).flat_map(|topic| {
        let name = TopicName::from(topic.name.as_str());
        topic.partitions.iter().map(move |each| {
            let next = next(each.committed_offset, each.committed_leader_epoch, each.metadata.as_deref());
            (TopicPartition::new(name.clone(), each.partition_index), ErrorCode::new(each.error_code), next)
        })
    });
    let old = answer.topics.iter().flat_map(|topic| {
        let name = TopicName::from(topic.name.as_str());
        topic.partitions.iter().map(move |each| {
            let next = next(each.committed_offset, each.committed_leader_epoch, each.metadata.as_deref());
            (TopicPartition::new(name.clone(), each.partition_index), ErrorCode::new(each.error_code), next)
        })
    });
    new.chain(old)
}

fn next(offset: i64, leader_epoch: i32, metadata: Option<&str>) -> OffsetAndMetadata {
    OffsetAndMetadata {
        offset: Offset::new(offset),
        leader_epoch: Some(leader_epoch).filter(|epoch| *epoch >= 0).map(LeaderEpoch::new),
        metadata: metadata.filter(|metadata| !metadata.is_empty()).map(str::to_owned),
    }
}
