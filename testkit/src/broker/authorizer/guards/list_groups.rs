//! ListGroups: all groups, to those who may describe the cluster; to others, the groups that they may describe.

use crate::broker::authorizer::guard::Refuse;
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::messages::{ListGroupsRequest, ListGroupsResponse};

impl Guard for ListGroupsRequest {
    const NEEDS: &'static [Need] =
        &[(ResourceType::Cluster, Operation::Describe), (ResourceType::Group, Operation::Describe)];

    fn screen(&mut self, rights: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
        if rights.may_cluster(Operation::Describe) {
            return Verdict::GRANTED;
        }
        Verdict::patched(|rights, answer: &mut ListGroupsResponse| {
            answer.groups.retain(|group| rights.may_group(Operation::Describe, &group.group_id.0));
        })
    }
}
