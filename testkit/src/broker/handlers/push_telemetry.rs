//! PushTelemetry (KIP-714): metrics are taken in and dropped, as by a broker without a reporter that wants them.
//!
//! Version 0. Left out: what becomes of the metrics.

use super::Handler;
use super::get_telemetry_subscriptions::MAX_BYTES;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{PushTelemetryRequest, PushTelemetryResponse, Uuid};

/// The number of the last codec.
const NEWEST_CODEC: i8 = 4;

pub(super) struct PushTelemetry;

impl Handler for PushTelemetry {
    type Request = PushTelemetryRequest;
    const MOST_BYTES: usize = usize::MAX;
    fn handle(broker: &mut Broker, call: &Call, request: PushTelemetryRequest) -> Answer<PushTelemetryResponse> {
        let code = check(broker, call, &request).err().unwrap_or(ErrorCode::NONE);
        broker.telemetry.remember(request.client_instance_id, code);
        Answer::Reply(Self::refuse(&request, code))
    }
    fn refuse(_: &PushTelemetryRequest, code: ErrorCode) -> PushTelemetryResponse {
        PushTelemetryResponse::default().with_error_code(code.get())
    }
}

/// Whether nobody's instance has this id: Kafka keeps the first hundred for other ends.
fn is_reserved(id: Uuid) -> bool {
    matches!(id.as_u64_pair(), (0, 0..100))
}
fn check(broker: &mut Broker, call: &Call, request: &PushTelemetryRequest) -> Result<(), ErrorCode> {
    if is_reserved(request.client_instance_id) {
        return Err(ErrorCode::INVALID_REQUEST);
    }
    let wanted = broker.wanted_metrics(call, request.client_instance_id);
    let client = (request.client_instance_id, call.connection);
    broker.telemetry.push(client, broker.now, wanted.interval_ms, request.terminating)?;
    if request.subscription_id != wanted.id {
        return Err(ErrorCode::UNKNOWN_SUBSCRIPTION_ID);
    }
    if !(0..=NEWEST_CODEC).contains(&request.compression_type) {
        return Err(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE);
    }
    let fits = i32::try_from(request.metrics.len()).is_ok_and(|size| size <= MAX_BYTES);
    if fits { Ok(()) } else { Err(ErrorCode::TELEMETRY_TOO_LARGE) }
}
