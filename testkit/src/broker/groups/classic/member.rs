//! A member of a classic group.

use crate::broker::bounds::text_weight;
use crate::broker::call::Call;
use crate::broker::groups::protocols::{self, Protocols};
use bytes::Bytes;
use millstream_protocol::Timestamp;
use millstream_protocol::messages::StrBytes;
use std::time::Duration;

/// A member, as its last JoinGroup described it.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) id: StrBytes,
    pub(crate) instance_id: Option<StrBytes>,
    pub(crate) client_id: StrBytes,
    pub(crate) client_host: StrBytes,
    pub(crate) session_timeout: Duration,
    pub(crate) rebalance_timeout: Duration,
    /// Assignors that it knows, best first, with what it tells each.
    pub(crate) protocols: Protocols,
    pub(crate) assignment: Bytes,
    pub(crate) awaiting_join: Option<Call>,
    pub(crate) awaiting_sync: Option<Call>,
    /// Whether it has asked for its assignment in this generation.
    pub(crate) has_synced: bool,
    pub(crate) last_seen: Timestamp,
}
impl Member {
    /// When its session ends; never while the broker owes it an answer.
    pub(crate) fn session_end(&self) -> Option<Timestamp> {
        let is_awaiting = self.awaiting_join.is_some() || self.awaiting_sync.is_some();
        (!is_awaiting).then(|| self.last_seen + self.session_timeout)
    }
    /// About how many bytes it takes.
    pub(crate) fn weight(&self) -> usize {
        let texts = [&self.id, &self.client_id, &self.client_host].into_iter().chain(&self.instance_id);
        size_of::<Self>()
            + texts.map(|text| text_weight(text)).sum::<usize>()
            + protocols::weight(&self.protocols)
            + self.assignment.len()
    }
    pub(crate) fn is_static(&self) -> bool {
        self.instance_id.is_some()
    }
    /// What it told an assignor.
    pub(crate) fn metadata(&self, protocol: &str) -> Bytes {
        self.protocols
            .iter()
            .find(|(name, _)| name.as_str() == protocol)
            .map(|(_, metadata)| metadata.clone())
            .unwrap_or_default()
    }
}
