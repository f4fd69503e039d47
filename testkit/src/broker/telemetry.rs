//! Clients that report their metrics (KIP-714): when each asked and reported last decides how soon it may do so again.

use super::call::ConnectionId;
use millstream_protocol::messages::Uuid;
use millstream_protocol::{ErrorCode, Timestamp};
use std::collections::BTreeMap;

/// So many clients are remembered, as by Kafka; the one that was not heard of for longest is forgotten first.
const MOST: usize = 16_384;
/// A client is forgotten after three intervals without a word from it, but not before this.
const LEAST_MEMORY_MS: i64 = 60_000;

/// A client.
#[derive(Debug, Clone)]
struct Reporter {
    asked_ms: i64,
    pushed_ms: i64,
    is_terminating: bool,
    /// Why its last report was not taken.
    last_error: ErrorCode,
    /// When it is forgotten.
    until_ms: i64,
    /// Its place among all, by when they were heard of.
    turn: u64,
}
impl Reporter {
    const fn new() -> Self {
        let (asked_ms, pushed_ms) = (i64::MIN, i64::MIN);
        Self { asked_ms, pushed_ms, is_terminating: false, last_error: ErrorCode::NONE, until_ms: i64::MAX, turn: 0 }
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
    turns: BTreeMap<u64, Uuid>,
    /// Whom a connection brought last.
    connections: BTreeMap<ConnectionId, Uuid>,
    next_turn: u64,
}
impl Telemetry {
    /// Whether a client may be told what to report: once per interval, or when it has just learned that it was told too long ago.
    pub(crate) fn ask(&mut self, client: Client, now: Timestamp, interval_ms: i32) -> Result<(), ErrorCode> {
        let reporter = self.reporter(client, now.as_millis(), interval_ms);
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
    /// Whether a client may report: right after it asked, then once per interval; and a last time whenever it wants. What comes after the
    /// last time is refused, and as in Kafka only the first of it.
    pub(crate) fn push(
        &mut self,
        client: Client,
        now: Timestamp,
        interval_ms: i32,
        is_last: bool,
    ) -> Result<(), ErrorCode> {
        let reporter = self.reporter(client, now.as_millis(), interval_ms);
        let was_last = std::mem::replace(&mut reporter.is_terminating, is_last);
        if was_last {
            return Err(ErrorCode::INVALID_REQUEST);
        }
        if reporter.asked_ms > reporter.pushed_ms || reporter.is_due(now.as_millis(), interval_ms) {
            reporter.pushed_ms = now.as_millis();
        } else if !is_last {
            return Err(ErrorCode::THROTTLING_QUOTA_EXCEEDED);
        }
        Ok(())
    }
    /// Remembers what became of a client's last report.
    pub(crate) fn remember(&mut self, id: Uuid, code: ErrorCode) {
        if let Some(reporter) = self.reporters.get_mut(&id) {
            reporter.last_error = code;
        }
    }
    /// What is to be reported has changed: everybody may ask again.
    pub(crate) fn renew(&mut self) {
        self.reporters.clear();
        self.turns.clear();
    }
    /// The client that a connection brought last is forgotten with it.
    pub(crate) fn disconnected(&mut self, connection: ConnectionId) {
        if let Some(id) = self.connections.remove(&connection) {
            self.forget(id);
        }
    }
    fn forget(&mut self, id: Uuid) {
        if let Some(reporter) = self.reporters.remove(&id) {
            self.turns.remove(&reporter.turn);
        }
    }
    fn reporter(&mut self, (id, connection): Client, now_ms: i64, interval_ms: i32) -> &mut Reporter {
        if self.reporters.get(&id).is_some_and(|reporter| reporter.until_ms <= now_ms) {
            self.forget(id);
        }
        if !self.reporters.contains_key(&id) {
            self.connections.insert(connection, id);
            if self.turns.len() == MOST
                && let Some((_, longest)) = self.turns.pop_first()
            {
                self.reporters.remove(&longest);
            }
        }
        self.next_turn += 1;
        let reporter = self.reporters.entry(id).or_insert_with(Reporter::new);
        self.turns.remove(&reporter.turn);
        self.turns.insert(self.next_turn, id);
        reporter.turn = self.next_turn;
        reporter.until_ms = now_ms.saturating_add(LEAST_MEMORY_MS.max(i64::from(interval_ms) * 3));
        reporter
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
        telemetry.remember(id.0, ErrorCode::UNKNOWN_SUBSCRIPTION_ID);
        assert_eq!(telemetry.ask(id, at(12), 10_000), Ok(()), "it has to know the new subscription");
        assert_eq!(telemetry.push(id, at(13), 10_000, true), Ok(()), "the last one is always welcome");
        assert_eq!(telemetry.push(id, at(30), 10_000, false), Err(ErrorCode::INVALID_REQUEST), "that was the last one");
        assert_eq!(telemetry.push(id, at(40), 10_000, false), Ok(()), "it was told so once");
        telemetry.disconnected(ConnectionId(7));
        assert_eq!(telemetry.ask(id, at(41), 10_000), Ok(()), "it begins anew on another connection");
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
        assert_eq!((telemetry.reporters.len(), telemetry.turns.len()), (MOST, MOST));
    }

    #[test]
    fn a_connection_takes_along_whom_it_brought_last() {
        let (early, mut telemetry) = (Err(ErrorCode::THROTTLING_QUOTA_EXCEEDED), Telemetry::default());
        let now = Timestamp::from_millis(1_000_000);
        let [one, other] = [1, 2].map(|id| (Uuid::from_u128(id), ConnectionId(7)));
        for client in [one, other] {
            assert_eq!(telemetry.ask(client, now, 10_000), Ok(()));
        }
        telemetry.disconnected(ConnectionId(7));
        assert_eq!(telemetry.ask(one, now, 10_000), early);
        assert_eq!(telemetry.ask(other, now, 10_000), Ok(()));
    }

    #[test]
    fn who_says_nothing_for_long_begins_anew() {
        let (mut telemetry, client) = (Telemetry::default(), (Uuid::from_u128(1), ConnectionId(7)));
        let at = |ms: i64| Timestamp::from_millis(1_000_000 + ms);
        assert_eq!(telemetry.push(client, at(0), 100, true), Ok(()));
        assert_eq!(telemetry.push(client, at(60_000), 100, false), Ok(()), "that it was the last one is forgotten");
    }
}
