//! Clients' own metrics (KIP-714): GetTelemetrySubscriptions, PushTelemetry.
//!
//! Not compared: what becomes of time, since intervals are longer than a run; and metrics that are compressed, which a Kafka looks into.

use crate::Step;
use crate::chance::Chance;
use crate::ids::Ids;
use crate::pair::{Kind, Pair, TRIES, Told};
use bytes::Bytes;
use millstream_protocol::ApiKey;
use millstream_protocol::messages::{GetTelemetrySubscriptionsRequest, PushTelemetryRequest, Uuid};

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![
        (ApiKey::GET_TELEMETRY_SUBSCRIPTIONS, subscriptions),
        (ApiKey::PUSH_TELEMETRY, push),
        (ApiKey::PUSH_TELEMETRY, push),
    ]
}

/// The one client that reports: a Kafka forgets a client with the connection that it came on.
const REPORTER: usize = 0;

/// Waits until both go by the same subscriptions: one client more asks again and again, and may only when they have changed.
pub(crate) fn settle(pair: &mut Pair) {
    pair.compare(ApiKey::GET_TELEMETRY_SUBSCRIPTIONS, "whether subscriptions have changed", |side| {
        let id = side.ids.watcher.unwrap_or_default();
        let request = GetTelemetrySubscriptionsRequest::default().with_client_instance_id(id);
        let answer = side.wire_of("watcher").ask(0, &request).expect("an answer");
        if answer.error_code == 0 {
            side.ids.watcher = Some(answer.client_instance_id);
        }
        let mut metrics = answer.requested_metrics;
        metrics.sort();
        let text = format!("{} {metrics:?} {}", answer.error_code, answer.push_interval_ms);
        Told { text, may_change: true, tries: TRIES, only_reads: false, answered: Some(0) }
    });
}
fn subscriptions(pair: &mut Pair, chance: &mut Chance) {
    let again = chance.once_in(2);
    let make = |ids: &Ids| {
        let id = ids.metrics.filter(|_| again).map_or(Uuid::nil(), |(id, _)| id);
        GetTelemetrySubscriptionsRequest::default().with_client_instance_id(id)
    };
    pair.ask_as(REPORTER, Kind::Writes, 0, make, |response, ids| {
        if response.error_code == 0 {
            ids.metrics = Some((response.client_instance_id, response.subscription_id));
        }
        // Made of the instance's own id.
        response.subscription_id = 1;
        response.client_instance_id = Uuid::from_u128(1);
        response.requested_metrics.sort();
    });
}
fn push(pair: &mut Pair, chance: &mut Chance) {
    let (has_id, is_last, off) = (!chance.once_in(5), chance.once_in(8), *chance.pick(&[0, 0, 0, 1]));
    let compression_type = *chance.pick(&[0, 0, 0, 4, 5, -1]);
    // What is compressed is nothing, so that it need not be read.
    let size = if compression_type == 0 { *chance.pick(&[0, 0, 10, 2 << 20]) } else { 0 };
    let make = |ids: &Ids| {
        let (id, subscription) = ids.metrics.filter(|_| has_id).unwrap_or((Uuid::nil(), 0));
        PushTelemetryRequest::default()
            .with_client_instance_id(id)
            .with_subscription_id(subscription + off)
            .with_compression_type(compression_type)
            .with_terminating(is_last)
            .with_metrics(Bytes::from(vec![0; size]))
    };
    pair.ask_as(REPORTER, Kind::Writes, 0, make, |_, _| {});
}
