//! DescribeTopicPartitions (KIP-966): topics page by page, with the replicas that may lead besides those in sync.
//!
//! Version 0. Left out: nothing.

use super::Handler;
use super::metadata::{TOPIC_OPERATIONS, wire_ids};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::topics::check_name;
use crate::broker::topics::partition::Partition;
use crate::broker::topics::topic::Topic;
use millstream_protocol::messages::describe_topic_partitions_response::{
    Cursor, DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use millstream_protocol::messages::{
    BrokerId, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, StrBytes, TopicName,
};
use millstream_protocol::{ErrorCode, NodeId};

/// Kafka's `max.request.partition.size.limit`.
const MAX_PARTITIONS: usize = 2000;

pub(super) struct DescribeTopicPartitions;

impl Handler for DescribeTopicPartitions {
    type Request = DescribeTopicPartitionsRequest;
    fn handle(
        broker: &mut Broker,
        _: &Call,
        request: DescribeTopicPartitionsRequest,
    ) -> Answer<DescribeTopicPartitionsResponse> {
        // Where there is an authorizer, its guard has looked at the whole request.
        let refusal = if broker.settings.security.has_authorizer { None } else { page_refusal(&request, |_| true) };
        if let Some(code) = refusal {
            return Answer::Reply(Self::refuse(&request, code));
        }
        let mut names: Vec<StrBytes> = if request.topics.is_empty() {
            broker.topics.all().map(|topic| topic.name.clone()).collect()
        } else {
            request.topics.iter().map(|topic| topic.name.0.clone()).collect()
        };
        names.sort();
        names.dedup();
        let (from_topic, mut from_partition) = request
            .cursor
            .as_ref()
            .map_or((StrBytes::new(), 0), |cursor| (cursor.topic_name.0.clone(), cursor.partition_index));
        let mut left = usize::try_from(request.response_partition_limit).unwrap_or(0).clamp(1, MAX_PARTITIONS);
        let mut topics = Vec::new();
        for name in names.into_iter().filter(|name| *name >= from_topic) {
            let start = if name == from_topic { from_partition } else { 0 };
            from_partition = 0;
            if left == 0 {
                return Answer::Reply(page(topics, Some((name, 0))));
            }
            let Some(topic) = broker.topics.find(&name) else {
                let invalid = check_name(&name).is_err();
                let code =
                    if invalid { ErrorCode::INVALID_TOPIC_EXCEPTION } else { ErrorCode::UNKNOWN_TOPIC_OR_PARTITION };
                topics.push(refused(&name, code));
                continue;
            };
            let described = describe(broker, topic, start, left);
            left -= described.partitions.len().min(left);
            let next = start + i32::try_from(described.partitions.len()).unwrap_or(0);
            topics.push(described);
            if topic.partition(next).is_some() {
                return Answer::Reply(page(topics, Some((name, next))));
            }
        }
        Answer::Reply(page(topics, None))
    }
    fn refuse(request: &DescribeTopicPartitionsRequest, code: ErrorCode) -> DescribeTopicPartitionsResponse {
        page(request.topics.iter().map(|topic| refused(&topic.name.0, code)).collect(), None)
    }
}

/// Why no page is told to somebody who may see some topics.
pub(in crate::broker) fn page_refusal(
    request: &DescribeTopicPartitionsRequest,
    may: impl Fn(&str) -> bool,
) -> Option<ErrorCode> {
    let has = |name: &str| request.topics.iter().any(|topic| *topic.name.0 == *name);
    match &request.cursor {
        // A page begins at a topic that is asked for.
        Some(cursor) => {
            let is_asked = request.topics.is_empty() || has(&cursor.topic_name.0);
            (!is_asked || cursor.partition_index < 0).then_some(ErrorCode::INVALID_REQUEST)
        }
        // A Kafka takes an empty name for that of the cursor which there is not, and fails.
        None => (has("") && may("")).then_some(ErrorCode::UNKNOWN_SERVER_ERROR),
    }
}
fn page(
    topics: Vec<DescribeTopicPartitionsResponseTopic>,
    next: Option<(StrBytes, i32)>,
) -> DescribeTopicPartitionsResponse {
    let cursor =
        next.map(|(name, index)| Cursor::default().with_topic_name(TopicName(name)).with_partition_index(index));
    DescribeTopicPartitionsResponse::default().with_topics(topics).with_next_cursor(cursor)
}
fn refused(name: &StrBytes, code: ErrorCode) -> DescribeTopicPartitionsResponseTopic {
    DescribeTopicPartitionsResponseTopic::default().with_name(Some(TopicName(name.clone()))).with_error_code(code.get())
}
fn describe(broker: &Broker, topic: &Topic, start: i32, limit: usize) -> DescribeTopicPartitionsResponseTopic {
    let shown = topic.numbered().filter(|(index, _)| *index >= start).take(limit);
    DescribeTopicPartitionsResponseTopic::default()
        .with_name(Some(TopicName(topic.name.clone())))
        .with_topic_id(topic.id)
        .with_is_internal(topic.is_internal())
        .with_partitions(shown.map(|(index, partition)| describe_partition(broker, index, partition)).collect())
        .with_topic_authorized_operations(TOPIC_OPERATIONS)
}
fn describe_partition(broker: &Broker, index: i32, partition: &Partition) -> DescribeTopicPartitionsResponsePartition {
    let offline: Vec<NodeId> = partition.replicas.iter().copied().filter(|id| !broker.nodes.is_up(*id)).collect();
    DescribeTopicPartitionsResponsePartition::default()
        .with_partition_index(index)
        .with_leader_id(BrokerId(partition.leader_id()))
        .with_leader_epoch(partition.leader_epoch)
        .with_replica_nodes(wire_ids(&partition.replicas))
        .with_isr_nodes(wire_ids(&partition.isr))
        .with_eligible_leader_replicas(Some(wire_ids(&partition.elr)))
        .with_last_known_elr(Some(wire_ids(partition.last_leader.as_slice())))
        .with_offline_replicas(wire_ids(&offline))
}
