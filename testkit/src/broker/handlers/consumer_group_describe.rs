//! ConsumerGroupDescribe (KIP-848): epochs, members, what they have and are to have. Version 1 tells members of the classic protocol apart.
//!
//! Versions 0 to 1. Left out: nothing.

use super::describe_groups::OPERATIONS;
use super::told::tells_too_much_of_groups;
use super::{Handler, MOST_COSTLY_THINGS};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::groups::Group;
use crate::broker::groups::consumer::ConsumerGroup;
use crate::broker::groups::consumer::member::{Assignment as Partitions, Member as GroupMember};
use crate::broker::topics::Topics;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::consumer_group_describe_response::{
    Assignment, DescribedGroup, Member, TopicPartitions,
};
use millstream_protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, GroupId, StrBytes, TopicName,
};

const CLASSIC_MEMBER: i8 = 0;
const CONSUMER_MEMBER: i8 = 1;

pub(super) struct ConsumerGroupDescribe;

impl Handler for ConsumerGroupDescribe {
    type Request = ConsumerGroupDescribeRequest;
    const MOST_THINGS: usize = MOST_COSTLY_THINGS;
    fn handle(
        broker: &mut Broker,
        call: &Call,
        request: ConsumerGroupDescribeRequest,
    ) -> Answer<ConsumerGroupDescribeResponse> {
        if !broker.features.has_consumer_groups() {
            return Answer::Reply(Self::refuse(&request, ErrorCode::UNSUPPORTED_VERSION));
        }
        if tells_too_much_of_groups(broker, request.group_ids.iter()) {
            return Answer::Reply(Self::refuse(&request, ErrorCode::INVALID_REQUEST));
        }
        let operations = if request.include_authorized_operations { OPERATIONS } else { i32::MIN };
        let groups = request.group_ids.iter().map(|id| {
            let found = find(broker, call, id);
            if found.error_code == 0 { found.with_authorized_operations(operations) } else { found }
        });
        Answer::Reply(ConsumerGroupDescribeResponse::default().with_groups(groups.collect()))
    }
    fn refuse(request: &ConsumerGroupDescribeRequest, code: ErrorCode) -> ConsumerGroupDescribeResponse {
        let groups = request.group_ids.iter().map(|id| refused(id, code, None)).collect();
        ConsumerGroupDescribeResponse::default().with_groups(groups)
    }
}

fn refused(id: &GroupId, code: ErrorCode, reason: Option<String>) -> DescribedGroup {
    DescribedGroup::default()
        .with_group_id(id.clone())
        .with_error_code(code.get())
        .with_error_message(reason.map(StrBytes::from_string))
}
fn find(broker: &Broker, call: &Call, id: &GroupId) -> DescribedGroup {
    if id.0.is_empty() {
        return refused(id, ErrorCode::INVALID_GROUP_ID, None);
    }
    if !broker.is_coordinator(call.node, &id.0) {
        return refused(id, ErrorCode::NOT_COORDINATOR, None);
    }
    let Some(group) = broker.groups.find_shown(&id.0) else {
        return refused(id, ErrorCode::GROUP_ID_NOT_FOUND, Some(format!("Group {} not found.", id.0)));
    };
    let Some(consumer) = Group::consumer(group) else {
        return refused(id, ErrorCode::GROUP_ID_NOT_FOUND, Some(format!("Group {} is not a consumer group.", id.0)));
    };
    describe(broker, consumer)
}
fn describe(broker: &Broker, group: &ConsumerGroup) -> DescribedGroup {
    let members = group.members.values().map(|member| describe_member(broker, group, member));
    DescribedGroup::default()
        .with_group_id(GroupId(group.id.clone()))
        .with_error_message(None)
        .with_group_state(StrBytes::from_static_str(group.state().name()))
        .with_group_epoch(group.epoch)
        .with_assignment_epoch(group.assignment_epoch)
        .with_assignor_name(StrBytes::from_static_str(group.assignor(&broker.settings.consumer_groups).name()))
        .with_members(members.collect())
}
fn describe_member(broker: &Broker, group: &ConsumerGroup, member: &GroupMember) -> Member {
    let kind = if member.classic.is_some() { CLASSIC_MEMBER } else { CONSUMER_MEMBER };
    Member::default()
        .with_member_id(member.id.clone())
        .with_instance_id(member.instance_id.clone())
        .with_rack_id(member.rack_id.clone())
        .with_member_epoch(member.epoch)
        .with_client_id(member.client_id.clone())
        .with_client_host(member.client_host.clone())
        .with_subscribed_topic_names(member.topics.iter().cloned().map(TopicName).collect())
        .with_subscribed_topic_regex(Some(member.regex.clone().unwrap_or_default()))
        .with_assignment(partitions(&member.holds(), &broker.topics))
        .with_target_assignment(partitions(&group.target_of(&member.id), &broker.topics))
        .with_member_type(kind)
}
fn partitions(assignment: &Partitions, topics: &Topics) -> Assignment {
    let known = assignment.iter().filter_map(|(id, partitions)| {
        let name = topics.name_of(*id)?.clone();
        let partitions = partitions.iter().copied().collect();
        Some(TopicPartitions::default().with_topic_id(*id).with_topic_name(TopicName(name)).with_partitions(partitions))
    });
    Assignment::default().with_topic_partitions(known.collect())
}
