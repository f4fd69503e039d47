//! InitProducerId: writes under a transactional id; without one, whoever may write anything anywhere gets a producer id (KIP-679).

use crate::broker::authorizer::guard::Refuse;
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::InitProducerIdRequest;

impl Guard for InitProducerIdRequest {
    const NEEDS: &'static [Need] = &[
        (ResourceType::TransactionalId, Operation::Write),
        (ResourceType::Cluster, Operation::IdempotentWrite),
        (ResourceType::Topic, Operation::Write),
    ];

    fn screen(&mut self, rights: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
        match &self.transactional_id {
            Some(id) => Verdict::granted_if(
                rights.may_transactional_id(Operation::Write, &id.0),
                ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            ),
            None => Verdict::granted_if(
                rights.may_cluster(Operation::IdempotentWrite) || rights.may_write_somewhere(),
                ErrorCode::CLUSTER_AUTHORIZATION_FAILED,
            ),
        }
    }
}
