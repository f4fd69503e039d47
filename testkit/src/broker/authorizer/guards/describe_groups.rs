//! DescribeGroups: each group.

use crate::broker::authorizer::guard::{Refuse, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{DescribeGroupsRequest, DescribeGroupsResponse};

impl Guard for DescribeGroupsRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Group, Operation::Describe)];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        let denied = split(&mut self.groups, |group| rights.may_group(Operation::Describe, &group.0));
        let refused = (!denied.is_empty())
            .then(|| refuse(&self.clone().with_groups(denied), ErrorCode::GROUP_AUTHORIZATION_FAILED));
        let tells_operations = self.include_authorized_operations;
        Verdict::patched(move |rights, answer: &mut DescribeGroupsResponse| {
            for group in answer.groups.iter_mut().filter(|group| tells_operations && group.error_code == 0) {
                group.authorized_operations = rights.operations(ResourceType::Group, &group.group_id.0);
            }
            answer.groups.extend(refused.into_iter().flat_map(|refused| refused.groups));
        })
    }
}
