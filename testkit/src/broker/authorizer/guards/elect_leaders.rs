//! ElectLeaders: the cluster. Partitions that were asked for are refused one by one, and from version 1 on all of them together, too.

use crate::broker::authorizer::guard::Refuse;
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::ElectLeadersRequest;

impl Guard for ElectLeadersRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Cluster, Operation::Alter)];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        if rights.may_cluster(Operation::Alter) {
            return Verdict::GRANTED;
        }
        let refused = refuse(self, ErrorCode::CLUSTER_AUTHORIZATION_FAILED);
        let code = if rights.version() >= 1 { ErrorCode::CLUSTER_AUTHORIZATION_FAILED } else { ErrorCode::NONE };
        Verdict::Answered(refused.with_error_code(code.get()))
    }
}
