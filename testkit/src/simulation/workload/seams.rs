//! Where a client meets the simulation: what it may hold, and what its futures come to. A bug of a client that is planted sits here.

use super::producing::outcome;
use super::stage::{SESSION_TIMEOUT, Scribe, Stage};
use crate::checkers::TransactionId;
use crate::simulation::Bug;
use millstream_client::{ClientBuilder, ConsumerBuilder, Delivery, ProducerBuilder, Records};
use std::future::pending;
use std::time::Duration;

/// What a producer of these workloads may hold.
pub(super) const BUFFER: usize = 16 << 10;
/// What a consumer may hold where memory is short.
const SHORT_FETCH: usize = 4 << 10;

/// What a producer is told that it may hold.
pub(super) fn buffer_memory(stage: &Stage) -> usize {
    if stage.case.has(Bug::HoldTooMuch) { 100 * BUFFER } else { BUFFER }
}

/// How many requests a producer may have under way on a connection: up to five, which is all that an idempotent one may.
pub(super) fn with_in_flight(stage: &Stage, builder: ProducerBuilder, count: usize) -> ProducerBuilder {
    if stage.case.has(Bug::CrowdConnections) {
        builder.enable_idempotence(false).max_in_flight_requests_per_connection(3 * count.max(5))
    } else {
        builder.max_in_flight_requests_per_connection(count)
    }
}

/// Lets a consumer hold little, where memory is short.
pub(super) fn with_fetch_memory(stage: &Stage, builder: ConsumerBuilder) -> ConsumerBuilder {
    if stage.case.is_tight() {
        builder.fetch_max_bytes(SHORT_FETCH).max_partition_fetch_bytes(SHORT_FETCH / 4)
    } else {
        builder
    }
}
/// What a consumer may hold, where memory is short.
pub(super) fn fetch_memory(stage: &Stage) -> Option<usize> {
    stage.case.is_tight().then_some(SHORT_FETCH)
}

/// How long a member's session is, and how often it sends heartbeats.
pub(super) fn with_session(stage: &Stage, builder: ConsumerBuilder) -> ConsumerBuilder {
    if stage.case.has(Bug::DelayHeartbeats) {
        builder.session_timeout(3 * SESSION_TIMEOUT).heartbeat_interval(SESSION_TIMEOUT * 9 / 10)
    } else {
        builder.session_timeout(SESSION_TIMEOUT)
    }
}

/// How long the reader waits before it asks, and opens a connection, again.
pub(super) fn with_backoff(stage: &Stage, builder: ClientBuilder) -> ClientBuilder {
    if stage.case.has(Bug::ReconnectAtOnce) {
        let builder = builder.reconnect_backoff(Duration::ZERO).reconnect_backoff_max(Duration::ZERO);
        builder.retry_backoff(Duration::ZERO).retry_backoff_max(Duration::ZERO)
    } else {
        builder
    }
}

/// What a poll inside a transaction brought.
pub(super) fn hand_out(scribe: &Scribe, records: &Records, transaction: TransactionId) {
    scribe.polled(records, Some(transaction));
    if scribe.stage.case.has(Bug::HandOutTwice) {
        scribe.polled(records, Some(transaction));
    }
}

/// In which order records that are sent at once are taken up.
pub(super) fn taken_up<T>(stage: &Stage, mut sends: Vec<T>) -> Vec<T> {
    if stage.case.has(Bug::Overtake) {
        sends.reverse();
    }
    sends
}

/// Waits for what becomes of a send and writes it down.
pub(super) async fn resolve(scribe: Scribe, value: u64, delivery: Delivery) {
    let is_one_in = |among: u64| value.is_multiple_of(among);
    let resolved = outcome(value, delivery.await);
    if scribe.stage.case.has(Bug::ForgetDeliveries) && is_one_in(16) {
        return pending().await;
    }
    if scribe.stage.case.has(Bug::ResolveTwice) && is_one_in(16) {
        scribe.note(resolved.clone());
    }
    scribe.note(resolved);
}
