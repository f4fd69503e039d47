//! AddOffsetsToTxn: writes under the transactional id, reads the group.

use crate::broker::authorizer::guard::Refuse;
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::AddOffsetsToTxnRequest;

impl Guard for AddOffsetsToTxnRequest {
    const NEEDS: &'static [Need] =
        &[(ResourceType::TransactionalId, Operation::Write), (ResourceType::Group, Operation::Read)];

    fn screen(&mut self, rights: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
        if !rights.may_transactional_id(Operation::Write, &self.transactional_id.0) {
            return Verdict::Denied(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
        }
        Verdict::granted_if(rights.may_group(Operation::Read, &self.group_id.0), ErrorCode::GROUP_AUTHORIZATION_FAILED)
    }
}
