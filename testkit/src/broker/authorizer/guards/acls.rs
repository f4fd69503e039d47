//! DescribeAcls, CreateAcls and DeleteAcls: the cluster. What Kafka cannot read is nobody's, so that it ends the connection.

use crate::broker::authorizer::catalog::UNKNOWN;
use crate::broker::authorizer::guard::Refuse;
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest};

impl Guard for DescribeAclsRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Cluster, Operation::Describe)];
    fn screen(&mut self, rights: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
        let numbers = [self.resource_type_filter, self.pattern_type_filter, self.operation, self.permission_type];
        judge(rights, Operation::Describe, numbers.contains(&UNKNOWN))
    }
}
impl Guard for CreateAclsRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Cluster, Operation::Alter)];
    fn screen(&mut self, rights: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
        let mut numbers = self
            .creations
            .iter()
            .flat_map(|rule| [rule.resource_type, rule.resource_pattern_type, rule.operation, rule.permission_type]);
        judge(rights, Operation::Alter, numbers.any(|number| number == UNKNOWN))
    }
}
impl Guard for DeleteAclsRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Cluster, Operation::Alter)];
    fn screen(&mut self, rights: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
        let mut numbers = self.filters.iter().flat_map(|filter| {
            [filter.resource_type_filter, filter.pattern_type_filter, filter.operation, filter.permission_type]
        });
        judge(rights, Operation::Alter, numbers.any(|number| number == UNKNOWN))
    }
}

fn judge<A>(rights: &Rights<'_>, operation: Operation, is_unreadable: bool) -> Verdict<A> {
    Verdict::granted_if(is_unreadable || rights.may_cluster(operation), ErrorCode::CLUSTER_AUTHORIZATION_FAILED)
}
