//! ListPartitionReassignments (KIP-455): the moves under way.
//!
//! Version 0. Left out: nothing.

use super::Handler;
use super::metadata::wire_ids;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::topics::partition::Partition;
use crate::broker::topics::topic::Topic;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::list_partition_reassignments_request::ListPartitionReassignmentsTopics;
use millstream_protocol::messages::list_partition_reassignments_response::{
    OngoingPartitionReassignment, OngoingTopicReassignment,
};
use millstream_protocol::messages::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse, StrBytes, TopicName,
};
use std::collections::BTreeSet;

pub(super) struct ListPartitionReassignments;

impl Handler for ListPartitionReassignments {
    type Request = ListPartitionReassignmentsRequest;
    fn handle(
        broker: &mut Broker,
        _: &Call,
        request: ListPartitionReassignmentsRequest,
    ) -> Answer<ListPartitionReassignmentsResponse> {
        let topics = match &request.topics {
            None => broker.topics.all().filter_map(|topic| describe(topic, topic.numbered())).collect(),
            Some(asked) => asked.iter().filter_map(|asked| find(broker, asked)).collect(),
        };
        Answer::Reply(ListPartitionReassignmentsResponse::default().with_error_message(None).with_topics(topics))
    }
    fn refuse(_: &ListPartitionReassignmentsRequest, code: ErrorCode) -> ListPartitionReassignmentsResponse {
        let message = Some(StrBytes::from_static_str(code.message()));
        ListPartitionReassignmentsResponse::default().with_error_code(code.get()).with_error_message(message)
    }
}

fn find(broker: &Broker, asked: &ListPartitionReassignmentsTopics) -> Option<OngoingTopicReassignment> {
    let topic = broker.topics.find(&asked.name.0)?;
    // Not all of the topic's, which may be asked for any number of times.
    let indexes: BTreeSet<i32> = asked.partition_indexes.iter().copied().collect();
    describe(topic, indexes.into_iter().filter_map(|index| Some((index, topic.partition(index)?))))
}
fn describe<'t>(topic: &Topic, asked: impl Iterator<Item = (i32, &'t Partition)>) -> Option<OngoingTopicReassignment> {
    let partitions: Vec<OngoingPartitionReassignment> = asked
        .filter_map(|(index, partition)| {
            let under_way = partition.reassignment.as_ref()?;
            Some(
                OngoingPartitionReassignment::default()
                    .with_partition_index(index)
                    .with_replicas(wire_ids(&partition.replicas))
                    .with_adding_replicas(wire_ids(&under_way.adding))
                    .with_removing_replicas(wire_ids(&under_way.removing)),
            )
        })
        .collect();
    let name = TopicName(topic.name.clone());
    (!partitions.is_empty()).then(|| OngoingTopicReassignment::default().with_name(name).with_partitions(partitions))
}
