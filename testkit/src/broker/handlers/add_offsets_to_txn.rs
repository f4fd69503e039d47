//! AddOffsetsToTxn: a group's offsets are part of the transaction from here on.
//!
//! Versions 0 to 4. Left out: nothing.

use super::{Handler, code_of};
use crate::broker::Broker;
use crate::broker::bounds::Comer;
use crate::broker::call::{Answer, Call};
use crate::broker::transactions::transaction::{Edition, Identity};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{AddOffsetsToTxnRequest, AddOffsetsToTxnResponse};

pub(super) struct AddOffsetsToTxn;

impl Handler for AddOffsetsToTxn {
    type Request = AddOffsetsToTxnRequest;
    fn handle(broker: &mut Broker, call: &Call, request: AddOffsetsToTxnRequest) -> Answer<AddOffsetsToTxnResponse> {
        let id = &request.transactional_id.0;
        let identity = Identity { id: request.producer_id.0, epoch: request.producer_epoch };
        let result = if broker.is_transaction_coordinator(call.node, id) {
            broker.add_group(id, identity, Edition::First, &request.group_id.0)
        } else {
            Err(ErrorCode::NOT_COORDINATOR)
        };
        let result = result.map_err(|code| {
            if code == ErrorCode::PRODUCER_FENCED && call.version < 2 {
                ErrorCode::INVALID_PRODUCER_EPOCH
            } else {
                code
            }
        });
        Answer::Reply(AddOffsetsToTxnResponse::default().with_error_code(code_of(result)))
    }
    fn when_full(_: &Broker, _: &AddOffsetsToTxnRequest) -> Option<ErrorCode> {
        Some(ErrorCode::POLICY_VIOLATION)
    }
    fn comer(broker: &Broker, request: &AddOffsetsToTxnRequest) -> Comer {
        Comer::who(broker.transactions.has(&request.transactional_id.0))
    }
    fn refuse(_: &AddOffsetsToTxnRequest, code: ErrorCode) -> AddOffsetsToTxnResponse {
        AddOffsetsToTxnResponse::default().with_error_code(code.get())
    }
}
