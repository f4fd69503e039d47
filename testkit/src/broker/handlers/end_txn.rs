//! EndTxn: commit or abort. From version 5 on (KIP-890) the answer names the producer id and epoch of the next transaction.
//!
//! Versions 0 to 5. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::bounds::Comer;
use crate::broker::call::{Answer, Call};
use crate::broker::log::batch::Marker;
use crate::broker::transactions::transaction::Identity;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{EndTxnRequest, EndTxnResponse, ProducerId};

/// From this version on each transaction has an epoch of its own.
const BUMPS_SINCE: i16 = 5;

pub(super) struct EndTxn;

impl Handler for EndTxn {
    type Request = EndTxnRequest;
    fn handle(broker: &mut Broker, call: &Call, request: EndTxnRequest) -> Answer<EndTxnResponse> {
        Answer::Reply(match end(broker, call, &request) {
            Ok(identity) if call.version >= BUMPS_SINCE => {
                EndTxnResponse::default().with_producer_id(ProducerId(identity.id)).with_producer_epoch(identity.epoch)
            }
            Ok(_) => EndTxnResponse::default(),
            Err(ErrorCode::PRODUCER_FENCED) if call.version < 2 => {
                Self::refuse(&request, ErrorCode::INVALID_PRODUCER_EPOCH)
            }
            Err(code) => Self::refuse(&request, code),
        })
    }
    fn when_full(_: &Broker, _: &EndTxnRequest) -> Option<ErrorCode> {
        Some(ErrorCode::POLICY_VIOLATION)
    }
    /// An abort of nothing is written down, too, as often as it is asked for.
    fn comer(broker: &Broker, request: &EndTxnRequest) -> Comer {
        match broker.transactions.find(&request.transactional_id.0) {
            Some(transaction) if transaction.is_open() => Comer::Ending,
            known => Comer::who(known.is_some()),
        }
    }
    fn refuse(_: &EndTxnRequest, code: ErrorCode) -> EndTxnResponse {
        EndTxnResponse::default().with_error_code(code.get())
    }
}

fn end(broker: &mut Broker, call: &Call, request: &EndTxnRequest) -> Result<Identity, ErrorCode> {
    let id = &request.transactional_id.0;
    if !broker.is_transaction_coordinator(call.node, id) {
        return Err(ErrorCode::NOT_COORDINATOR);
    }
    let asked = Identity { id: request.producer_id.0, epoch: request.producer_epoch };
    let marker = if request.committed { Marker::Commit } else { Marker::Abort };
    broker.end_transaction(id, asked, marker, call.version >= BUMPS_SINCE)
}
