//! Asks for a producer id.

use crate::client::{Call, Target};
use crate::{Client, Error};
use millstream_client_core::cluster::CoordinatorKey;
use millstream_client_core::produce::Identity;
use millstream_client_core::transaction::{Step, Verdict, judge};
use millstream_protocol::messages::{InitProducerIdRequest, StrBytes};
use millstream_protocol::{ErrorCode, ProducerEpoch, ProducerId};
use std::time::Duration;

/// Asks for a producer id: a new one, the one of a transactional id at its next epoch, or the next epoch of `current` (KIP-360).
pub(crate) async fn init_producer_id(
    client: &Client,
    transaction: Option<(&str, Duration)>,
    current: Option<Identity>,
) -> Result<Identity, Error> {
    let (operation, target) = match transaction {
        Some((id, _)) => (
            format!("start the producer of transactional id `{id}`"),
            Target::Coordinator(CoordinatorKey::Transaction(id.to_owned())),
        ),
        None => ("get a producer id, as enable.idempotence=true needs".to_owned(), Target::Any),
    };
    let id = transaction.map(|(id, timeout)| (id.to_owned(), timeout));
    let call = Call::new(operation.clone(), target);
    let reply = client
        .call(call, move |version| request(id.as_ref(), current, version), |answer| code(answer.error_code))
        .await?;
    let code = ErrorCode::new(reply.body.error_code);
    match judge(Step::Init, code) {
        Verdict::Done => {
            Ok(Identity::new(ProducerId::new(reply.body.producer_id.0), ProducerEpoch::new(reply.body.producer_epoch)))
        }
        _ => Err(Error::broker(code, operation).reason(code)),
    }
}

const fn code(code: i16) -> ErrorCode {
    ErrorCode::new(code)
}

fn request(transaction: Option<&(String, Duration)>, current: Option<Identity>, version: i16) -> InitProducerIdRequest {
    let mut request = InitProducerIdRequest::default();
    let (id, timeout) = match transaction {
        Some((id, timeout)) => (Some(StrBytes::from_string(id.clone()).into()), *timeout),
        None => (None, Duration::from_secs(60)),
    };
    request.transactional_id = id;
    request.transaction_timeout_ms = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
    request.producer_id = (-1).into();
    request.producer_epoch = -1;
    // Older brokers bump by themselves and know no such fields.
    if let Some(current) = current.filter(|_| version >= 3) {
        request.producer_id = current.id.get().into();
        request.producer_epoch = current.epoch.get();
    }
    request
}
