//! DescribeCluster: for everybody; what may be done to the cluster is told to those who may describe it.

use crate::broker::authorizer::guard::Refuse;
use crate::broker::authorizer::{CLUSTER, Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::messages::{DescribeClusterRequest, DescribeClusterResponse};

impl Guard for DescribeClusterRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Cluster, Operation::Describe)];

    fn screen(&mut self, _: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
        if !self.include_cluster_authorized_operations {
            return Verdict::GRANTED;
        }
        Verdict::patched(|rights, answer: &mut DescribeClusterResponse| {
            if answer.error_code == 0 {
                answer.cluster_authorized_operations = cluster_operations(rights);
            }
        })
    }
}
/// What may be done to the cluster; nothing, to whoever may not describe it.
pub(super) fn cluster_operations(rights: &Rights<'_>) -> i32 {
    if rights.may_cluster(Operation::Describe) { rights.operations(ResourceType::Cluster, CLUSTER) } else { 0 }
}
