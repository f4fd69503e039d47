//! InitProducerId: ids with and without a transactional id; fencing; KIP-360's bumps.
//!
//! Versions 0 to 5. Left out: two-phase commit (KIP-939), and version 6, which has it.

use super::Handler;
use crate::broker::Broker;
use crate::broker::bounds::Comer;
use crate::broker::call::{Answer, Call};
use crate::broker::transactions::transaction::Identity;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{InitProducerIdRequest, InitProducerIdResponse, ProducerId};
use std::time::Duration;

pub(super) struct InitProducerId;

impl Handler for InitProducerId {
    type Request = InitProducerIdRequest;
    fn handle(broker: &mut Broker, call: &Call, request: InitProducerIdRequest) -> Answer<InitProducerIdResponse> {
        Answer::Reply(match init(broker, call, &request) {
            Ok(identity) => InitProducerIdResponse::default()
                .with_producer_id(ProducerId(identity.id))
                .with_producer_epoch(identity.epoch),
            Err(ErrorCode::PRODUCER_FENCED) if call.version < 4 => {
                Self::refuse(&request, ErrorCode::INVALID_PRODUCER_EPOCH)
            }
            Err(code) => Self::refuse(&request, code),
        })
    }
    fn when_full(_: &Broker, request: &InitProducerIdRequest) -> Option<ErrorCode> {
        request.transactional_id.as_ref().map(|_| ErrorCode::POLICY_VIOLATION)
    }
    /// Who begins anew is remembered already, and is written down once more.
    fn comer(broker: &Broker, request: &InitProducerIdRequest) -> Comer {
        Comer::who(request.transactional_id.as_ref().is_some_and(|id| broker.transactions.has(&id.0)))
    }
    fn refuse(_: &InitProducerIdRequest, code: ErrorCode) -> InitProducerIdResponse {
        InitProducerIdResponse::default()
            .with_error_code(code.get())
            .with_producer_id(ProducerId(-1))
            .with_producer_epoch(-1)
    }
}

fn init(broker: &mut Broker, call: &Call, request: &InitProducerIdRequest) -> Result<Identity, ErrorCode> {
    let expected = expected(request)?;
    let Some(id) = &request.transactional_id else { return Ok(broker.new_producer()) };
    if id.0.is_empty() {
        return Err(ErrorCode::INVALID_REQUEST);
    }
    if !broker.is_transaction_coordinator(call.node, &id.0) {
        return Err(ErrorCode::NOT_COORDINATOR);
    }
    let timeout_ms = request.transaction_timeout_ms;
    if timeout_ms <= 0 || timeout_ms > broker.settings.transaction_max_timeout_ms {
        return Err(ErrorCode::INVALID_TRANSACTION_TIMEOUT);
    }
    broker.take_over(&id.0, Duration::from_millis(u64::from(timeout_ms.unsigned_abs())), expected)
}
/// Whom the asker takes itself for: an id and its epoch, or neither.
fn expected(request: &InitProducerIdRequest) -> Result<Option<Identity>, ErrorCode> {
    match (request.producer_id.0, request.producer_epoch) {
        (-1, -1) => Ok(None),
        (-1, _) | (_, -1) => Err(ErrorCode::INVALID_REQUEST),
        (id, epoch) => Ok(Some(Identity { id, epoch })),
    }
}
