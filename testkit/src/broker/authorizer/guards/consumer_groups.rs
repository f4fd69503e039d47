//! ConsumerGroupHeartbeat and ConsumerGroupDescribe (KIP-848): the group, and the topics that it names.

use crate::broker::authorizer::guard::{Refuse, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::consumer_group_describe_response::{Assignment, DescribedGroup};
use millstream_protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, ConsumerGroupHeartbeatRequest, StrBytes,
};

impl Guard for ConsumerGroupHeartbeatRequest {
    const NEEDS: &'static [Need] =
        &[(ResourceType::Group, Operation::Read), (ResourceType::Topic, Operation::Describe)];

    fn screen(&mut self, rights: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
        if !rights.may_group(Operation::Read, &self.group_id.0) {
            return Verdict::Denied(ErrorCode::GROUP_AUTHORIZATION_FAILED);
        }
        let mut topics = self.subscribed_topic_names.iter().flatten();
        let may = topics.all(|topic| rights.may_topic(Operation::Describe, &topic.0));
        Verdict::granted_if(may, ErrorCode::TOPIC_AUTHORIZATION_FAILED)
    }
}

impl Guard for ConsumerGroupDescribeRequest {
    const NEEDS: &'static [Need] =
        &[(ResourceType::Group, Operation::Describe), (ResourceType::Topic, Operation::Describe)];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        let denied = split(&mut self.group_ids, |group| rights.may_group(Operation::Describe, &group.0));
        let refused = (!denied.is_empty())
            .then(|| refuse(&self.clone().with_group_ids(denied), ErrorCode::GROUP_AUTHORIZATION_FAILED));
        let tells_operations = self.include_authorized_operations;
        Verdict::patched(move |rights, answer: &mut ConsumerGroupDescribeResponse| {
            for group in answer.groups.iter_mut().filter(|group| group.error_code == 0) {
                show(rights, group, tells_operations);
            }
            answer.groups.extend(refused.into_iter().flat_map(|refused| refused.groups));
        })
    }
}
fn show(rights: &Rights<'_>, group: &mut DescribedGroup, tells_operations: bool) {
    if tells_operations {
        group.authorized_operations = rights.operations(ResourceType::Group, &group.group_id.0);
    }
    let may = |assignment: &Assignment| {
        assignment.topic_partitions.iter().all(|topic| rights.may_topic(Operation::Describe, &topic.topic_name.0))
    };
    if !group.members.iter().all(|member| may(&member.assignment) && may(&member.target_assignment)) {
        *group = DescribedGroup::default()
            .with_group_id(group.group_id.clone())
            .with_error_code(ErrorCode::TOPIC_AUTHORIZATION_FAILED.get())
            .with_error_message(Some(StrBytes::from_static_str(
                "The group has described topic(s) that the client is not authorized to describe.",
            )));
    }
}
