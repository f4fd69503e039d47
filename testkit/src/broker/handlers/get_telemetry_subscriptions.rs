//! GetTelemetrySubscriptions (KIP-714): which metrics a client is to report, as the subscriptions that match it say.
//!
//! Version 0. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::configs::client_metrics::{Client, Wanted, wanted};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{
    GetTelemetrySubscriptionsRequest, GetTelemetrySubscriptionsResponse, StrBytes, Uuid,
};

/// zstd, lz4, gzip, snappy: what Kafka takes, best first.
const CODECS: [i8; 4] = [4, 3, 1, 2];
/// Kafka's `telemetry.max.bytes`.
pub(super) const MAX_BYTES: i32 = 1_048_576;

pub(super) struct GetTelemetrySubscriptions;

impl Handler for GetTelemetrySubscriptions {
    type Request = GetTelemetrySubscriptionsRequest;
    fn handle(
        broker: &mut Broker,
        call: &Call,
        request: GetTelemetrySubscriptionsRequest,
    ) -> Answer<GetTelemetrySubscriptionsResponse> {
        let is_new = request.client_instance_id.is_nil();
        let id = if is_new { broker.unique_uuid() } else { request.client_instance_id };
        let wanted = broker.wanted_metrics(call, id);
        if let Err(code) = broker.telemetry.ask((id, call.connection), broker.now, wanted.interval_ms) {
            return Answer::Reply(Self::refuse(&request, code));
        }
        Answer::Reply(
            GetTelemetrySubscriptionsResponse::default()
                .with_client_instance_id(id)
                .with_subscription_id(wanted.id)
                .with_accepted_compression_types(CODECS.to_vec())
                .with_push_interval_ms(wanted.interval_ms)
                .with_telemetry_max_bytes(MAX_BYTES)
                .with_delta_temporality(true)
                .with_requested_metrics(wanted.metrics.into_iter().map(StrBytes::from_string).collect()),
        )
    }
    fn refuse(_: &GetTelemetrySubscriptionsRequest, code: ErrorCode) -> GetTelemetrySubscriptionsResponse {
        GetTelemetrySubscriptionsResponse::default().with_error_code(code.get())
    }
}

impl Broker {
    /// What a client is to report.
    pub(super) fn wanted_metrics(&self, call: &Call, client_instance_id: Uuid) -> Wanted {
        let (id, host) = (client_instance_id.to_string(), call.host.trim_start_matches('/'));
        let client = Client::from([
            ("client_id", call.client_id.as_str()),
            ("client_instance_id", id.as_str()),
            ("client_source_address", host),
        ]);
        wanted(&self.configs.client_metrics, &client)
    }
}
