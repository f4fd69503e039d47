//! What the brokers were asked and what they answered: the last exchanges whole, and counts of all.

mod coverage;
mod exchange;

pub(crate) use coverage::Coverage;
pub(crate) use exchange::{Answered, Exchange};

use super::call::{ConnectionId, Outcome, Peer};
use super::faults::Verdict;
use bytes::Bytes;
use coverage::error_codes;
use millstream_protocol::frame::RequestHeader;
use millstream_protocol::{ApiKey, NodeId, Timestamp};
use std::collections::{BTreeMap, VecDeque};

/// How many exchanges are kept, and how many bytes of them.
const KEPT: usize = 10_000;
const KEPT_BYTES: usize = 16 << 20;
/// Requests up to this size are copied, so that a small one does not keep a large buffer.
const COPIED: usize = 4 << 10;

/// The log of a cluster.
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    exchanges: VecDeque<Exchange>,
    bytes: usize,
    /// The number of the first that is kept.
    first: u64,
    /// The exchange that is open on a connection: one at a time.
    open: BTreeMap<ConnectionId, u64>,
    counts: BTreeMap<(NodeId, ApiKey), u64>,
    coverage: Coverage,
}

impl RequestLog {
    /// A request came.
    pub(crate) fn asked(&mut self, now: Timestamp, peer: &Peer, header: &RequestHeader, payload: &Bytes) {
        let api = header.api();
        *self.counts.entry((peer.node, api)).or_default() += 1;
        self.coverage.asked(api, header.version());
        let payload = if payload.len() > COPIED { payload.clone() } else { Bytes::copy_from_slice(payload) };
        let number = self.first + u64::try_from(self.exchanges.len()).unwrap_or(0);
        self.bytes += payload.len();
        self.exchanges.push_back(Exchange {
            number,
            at: now,
            node: peer.node,
            connection: peer.connection.0,
            host: peer.host.clone(),
            client_id: header.client_id().unwrap_or_default().to_owned(),
            api,
            version: header.version(),
            correlation_id: header.correlation_id(),
            request: payload,
            body_at: header.len(),
            answered_at: None,
            answer: None,
            fault: None,
        });
        self.open.insert(peer.connection, number);
        self.forget_oldest();
    }
    /// A rule said something about the request that is open on a connection.
    pub(crate) fn note(&mut self, connection: ConnectionId, verdict: &Verdict) {
        if let Some(exchange) = self.open_on(connection) {
            exchange.fault = Some(verdict.to_string());
        }
    }
    /// An answer went out.
    pub(crate) fn answered(&mut self, now: Timestamp, connection: ConnectionId, outcome: &Outcome) {
        let answer = match outcome {
            Outcome::Frame(frame) | Outcome::Last(frame, _) => Answered::Frame(frame.clone()),
            Outcome::Raw(bytes) => Answered::Raw(bytes.clone()),
            Outcome::Silence => Answered::Nothing,
            Outcome::Close(closing) => Answered::Closed(closing.reason.clone()),
        };
        let Some(exchange) = self.open_on(connection) else { return };
        exchange.answered_at = Some(now);
        let (api, version) = (exchange.api, exchange.version);
        let codes = match &answer {
            Answered::Frame(frame) => error_codes(api, version, frame),
            _ => Vec::new(),
        };
        let len = answer.len();
        exchange.answer = Some(answer);
        self.bytes += len;
        self.open.remove(&connection);
        self.coverage.answered(api, version, codes);
        self.forget_oldest();
    }
    /// The request that is open on a connection, for people: API, version, correlation id, client.
    pub(crate) fn name_of_open(&mut self, connection: ConnectionId) -> Option<String> {
        let Exchange { api, version, correlation_id, client_id, .. } = self.open_on(connection)?;
        Some(format!("{api} {version} (correlation id {correlation_id}, client id {client_id:?})"))
    }
    /// A connection is gone, and with it whatever was open on it.
    pub(crate) fn disconnected(&mut self, connection: ConnectionId) {
        self.open.remove(&connection);
    }
    fn open_on(&mut self, connection: ConnectionId) -> Option<&mut Exchange> {
        let at = self.open.get(&connection)?.checked_sub(self.first)?;
        self.exchanges.get_mut(usize::try_from(at).ok()?)
    }
    fn forget_oldest(&mut self) {
        while self.exchanges.len() > KEPT || self.bytes > KEPT_BYTES && self.exchanges.len() > 1 {
            let Some(oldest) = self.exchanges.pop_front() else { return };
            self.first = oldest.number + 1;
            self.bytes = self.bytes.saturating_sub(oldest.len());
        }
    }
    /// How many requests of an API came, at one node or at all.
    pub(crate) fn count(&self, api: ApiKey, node: Option<NodeId>) -> u64 {
        let is_meant = |(at, asked): &(NodeId, ApiKey)| *asked == api && node.is_none_or(|node| node == *at);
        self.counts.iter().filter(|(key, _)| is_meant(key)).map(|(_, count)| count).sum()
    }
    /// Those that are kept, oldest first.
    pub(crate) fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        self.exchanges.iter()
    }
    /// How many were kept once and are no more.
    pub(crate) fn forgotten(&self) -> u64 {
        self.first
    }
    /// Which APIs, versions and codes were met.
    pub(crate) fn coverage(&self) -> &Coverage {
        &self.coverage
    }
}
