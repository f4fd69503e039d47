//! WriteTxnMarkers: the brokers' own, and administrators' who end a hanging transaction (KIP-664).

use crate::broker::authorizer::guard::Refuse;
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::WriteTxnMarkersRequest;

impl Guard for WriteTxnMarkersRequest {
    const NEEDS: &'static [Need] =
        &[(ResourceType::Cluster, Operation::Alter), (ResourceType::Cluster, Operation::ClusterAction)];

    fn screen(&mut self, rights: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
        let may = rights.may_cluster(Operation::Alter) || rights.may_cluster(Operation::ClusterAction);
        Verdict::granted_if(may, ErrorCode::CLUSTER_AUTHORIZATION_FAILED)
    }
}
