//! Clients that report their metrics (KIP-714): when each asked and reported last decides how soon it may do so again.

use super::call::ConnectionId;
use millstream_protocol::messages::Uuid;
use millstream_protocol::{ErrorCode, Timestamp};
use std::collections::{BTreeMap, VecDeque};

/// So many clients are remembered, as by Kafka; the one that came first is forgotten first.
const MOST: usize = 16_384;

/// A client.
#[derive(Debug, Clone)]
struct Reporter {
    asked_ms: i64,
    pushed_ms: i64,
    is_terminating: bool,
    /// On which it first came.
    connection: ConnectionId,
    /// Why its last report was not taken.
    last_error: ErrorCode,
}
impl Reporter {
    const fn new(connection: ConnectionId) -> Self {
        let (asked_ms, pushed_ms) = (i64::MIN, i64::MIN);
        Self { asked_ms, pushed_ms, is_terminating: false, connection, last_error: ErrorCode::NONE }
    }
    fn is_due(&self, now_ms: i64, interval_ms: i32) -> bool {
        now_ms.saturating_sub(self.asked_ms.max(self.pushed_ms)) >= i64::from(interval_ms)
    }
}

/// A client by its instance's id, and the connection that it asks on.
type Client = (Uuid, ConnectionId);

/// All clients that report, by their instances' ids.
#[derive(Debug, Default)]
pub(crate) struct Telemetry {
    reporters: BTreeMap<Uuid, Reporter>,
    /// As they came.
    order: VecDeque<Uuid>,
}
impl Telemetry {
    /// Whether a client may be told what to report: once per interval, or when it has just learned that it was told too long ago.
    pub(crate) fn ask(&mut self, client: Client, now: Timestamp, interval_ms: i32) -> Result<(), ErrorCode> {
        let reporter = self.reporter(client);
        let is_stale =
            matches!(reporter.last_error, ErrorCode::UNKNOWN_SUBSCRIPTION_ID | ErrorCode::UNSUPPORTED_COMPRESSION_TYPE);
        if reporter.is_due(now.as_millis(), interval_ms) {
            reporter.asked_ms = now.as_millis();
        } else if !is_stale {
            return Err(ErrorCode::THROTTLING_QUOTA_EXCEEDED);
        }
        reporter.last_error = ErrorCode::NONE;
        Ok(())
    }
    /// Whether a client may report: right after it asked, then once per interval; and a last time whenever it wants.
    pub(crate) fn push(
        &mut self,
        client: Client,
        now: Timestamp,
        interval_ms: i32,
        is_last: bool,
    ) -> Result<(), ErrorCode> {
        let reporter = self.reporter(client);
        if reporter.is_terminating {
            return Err(ErrorCode::INVALID_REQUEST);
        }
        if reporter.asked_ms > reporter.pushed_ms || reporter.is_due(now.as_millis(), interval_ms) {
            reporter.pushed_ms = now.as_millis();
        } else if !is_last {
            return Err(ErrorCode::THROTTLING_QUOTA_EXCEEDED);
        }
        reporter.is_terminating = is_last;
        Ok(())
    }
    /// Remembers why a report was not taken.
    pub(crate) fn refuse(&mut self, client: Client, code: ErrorCode) {
        self.reporter(client).last_error = code;
    }
    /// What is to be reported has changed: everybody may ask again.
    pub(crate) fn renew(&mut self) {
        self.reporters.clear();
        self.order.clear();
    }
    /// A client is forgotten with the connection on which it first came.
    pub(crate) fn disconnected(&mut self, connection: ConnectionId) {
        self.reporters.retain(|_, reporter| reporter.connection != connection);
        self.order.retain(|id| self.reporters.contains_key(id));
    }
    fn reporter(&mut self, (id, connection): Client) -> &mut Reporter {
        if !self.reporters.contains_key(&id) {
            self.order.push_back(id);
            if self.order.len() > MOST
                && let Some(first) = self.order.pop_front()
            {
                self.reporters.remove(&first);
            }
        }
        self.reporters.entry(id).or_insert_with(|| Reporter::new(connection))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_asks_and_reports_once_per_interval() {
        let mut telemetry = Telemetry::default();
        let id = (Uuid::from_u128(1), ConnectionId(7));
        let at = |seconds: i64| Timestamp::from_millis(1_000_000 + seconds * 1000);
        let early = Err(ErrorCode::THROTTLING_QUOTA_EXCEEDED);
        assert_eq!(telemetry.ask(id, at(0), 10_000), Ok(()));
        assert_eq!(telemetry.ask(id, at(1), 10_000), early);
        assert_eq!(telemetry.push(id, at(1), 10_000, false), Ok(()), "right after it asked");
        assert_eq!(telemetry.push(id, at(2), 10_000, false), early);
        assert_eq!(telemetry.push(id, at(11), 10_000, false), Ok(()));
        telemetry.refuse(id, ErrorCode::UNKNOWN_SUBSCRIPTION_ID);
        assert_eq!(telemetry.ask(id, at(12), 10_000), Ok(()), "it has to know the new subscription");
        assert_eq!(telemetry.push(id, at(13), 10_000, true), Ok(()), "the last one is always welcome");
        assert_eq!(telemetry.push(id, at(30), 10_000, false), Err(ErrorCode::INVALID_REQUEST), "that was the last one");
        telemetry.disconnected(ConnectionId(7));
        assert_eq!(telemetry.ask(id, at(31), 10_000), Ok(()), "it begins anew on another connection");
    }

    #[test]
    fn no_more_clients_are_remembered_than_kafka_remembers() {
        let mut telemetry = Telemetry::default();
        for id in 1..=20_000 {
            assert_eq!(
                telemetry.ask((Uuid::from_u128(id), ConnectionId(1)), Timestamp::from_millis(1_000_000), 1000),
                Ok(())
            );
        }
        assert_eq!((telemetry.reporters.len(), telemetry.order.len()), (MOST, MOST));
    }
}
