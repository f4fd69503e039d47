//! OffsetFetch: describes each group, and each topic that is named; of all topics, those that may be described.

use crate::broker::authorizer::guard::{Refuse, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::offset_fetch_request::{OffsetFetchRequestTopic, OffsetFetchRequestTopics};
use millstream_protocol::messages::offset_fetch_response::{
    OffsetFetchResponsePartition, OffsetFetchResponsePartitions, OffsetFetchResponseTopic, OffsetFetchResponseTopics,
};
use millstream_protocol::messages::{OffsetFetchRequest, OffsetFetchResponse, StrBytes};

const BATCHED_SINCE: i16 = 8;
const DENIED: i16 = ErrorCode::TOPIC_AUTHORIZATION_FAILED.get();

impl Guard for OffsetFetchRequest {
    const NEEDS: &'static [Need] =
        &[(ResourceType::Group, Operation::Describe), (ResourceType::Topic, Operation::Describe)];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        if rights.version() < BATCHED_SINCE { screen_one(self, rights) } else { screen_all(self, rights, refuse) }
    }
}

fn screen_one(request: &mut OffsetFetchRequest, rights: &Rights<'_>) -> Verdict<OffsetFetchResponse> {
    if !rights.may_group(Operation::Describe, &request.group_id.0) {
        return Verdict::Denied(ErrorCode::GROUP_AUTHORIZATION_FAILED);
    }
    let may = |topic: &OffsetFetchRequestTopic| rights.may_topic(Operation::Describe, &topic.name.0);
    let denied = request.topics.as_mut().map(|topics| split(topics, may)).unwrap_or_default();
    Verdict::patched(move |rights, answer: &mut OffsetFetchResponse| {
        answer.topics.retain(|topic| rights.may_topic(Operation::Describe, &topic.name.0));
        answer.topics.extend(denied.iter().map(refused_topic));
    })
}
fn screen_all(
    request: &mut OffsetFetchRequest,
    rights: &Rights<'_>,
    refuse: Refuse<OffsetFetchRequest>,
) -> Verdict<OffsetFetchResponse> {
    let denied = split(&mut request.groups, |group| rights.may_group(Operation::Describe, &group.group_id.0));
    let refused = (!denied.is_empty())
        .then(|| refuse(&request.clone().with_groups(denied), ErrorCode::GROUP_AUTHORIZATION_FAILED));
    let mut topics: Vec<Vec<OffsetFetchRequestTopics>> = Vec::new();
    for group in &mut request.groups {
        let may =
            |topic: &OffsetFetchRequestTopics| rights.may_meant(Operation::Describe, &topic.name.0, topic.topic_id);
        topics.push(group.topics.as_mut().map(|topics| split(topics, may)).unwrap_or_default());
    }
    Verdict::patched(move |rights, answer: &mut OffsetFetchResponse| {
        for (group, denied) in answer.groups.iter_mut().zip(&topics) {
            group
                .topics
                .retain(|topic| topic.name.0.is_empty() || rights.may_topic(Operation::Describe, &topic.name.0));
            // Of a group that is refused itself no topics are told.
            if group.error_code == 0 {
                group.topics.extend(denied.iter().map(refused_topics));
            }
        }
        answer.groups.extend(refused.into_iter().flat_map(|refused| refused.groups));
    })
}
fn refused_topic(topic: &OffsetFetchRequestTopic) -> OffsetFetchResponseTopic {
    let partition = |index: &i32| {
        OffsetFetchResponsePartition::default()
            .with_partition_index(*index)
            .with_committed_offset(-1)
            .with_metadata(Some(StrBytes::new()))
            .with_error_code(DENIED)
    };
    OffsetFetchResponseTopic::default()
        .with_name(topic.name.clone())
        .with_partitions(topic.partition_indexes.iter().map(partition).collect())
}
fn refused_topics(topic: &OffsetFetchRequestTopics) -> OffsetFetchResponseTopics {
    let partition = |index: &i32| {
        OffsetFetchResponsePartitions::default()
            .with_partition_index(*index)
            .with_committed_offset(-1)
            .with_metadata(Some(StrBytes::new()))
            .with_error_code(DENIED)
    };
    OffsetFetchResponseTopics::default()
        .with_name(topic.name.clone())
        .with_topic_id(topic.topic_id)
        .with_partitions(topic.partition_indexes.iter().map(partition).collect())
}
