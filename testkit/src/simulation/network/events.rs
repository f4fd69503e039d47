//! What happens when.

use super::{ConnectionId, Direction, Fault};
use millstream_protocol::NodeId;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug)]
pub(super) enum Event {
    /// A connection is open, or refused.
    Open(ConnectionId),
    /// The next piece of a pipe is there.
    Arrive(ConnectionId, Direction),
    Fault(Fault),
    /// The broker has asked to be called.
    Broker,
    Restart(NodeId),
    /// What was flipped in a log is flipped back.
    Unspoil(String, i32, i64),
    ReleaseMarkers,
}

/// By time; what is due at the same time happens in the order in which it was added.
#[derive(Debug, Default)]
pub(super) struct Events {
    at: BTreeMap<(Duration, u64), Event>,
    added: u64,
    broker_at: Option<Duration>,
}
impl Events {
    pub(super) fn add(&mut self, at: Duration, event: Event) {
        self.added += 1;
        if matches!(event, Event::Broker) {
            self.broker_at = Some(at);
        }
        self.at.insert((at, self.added), event);
    }
    pub(super) fn next(&self) -> Option<Duration> {
        self.at.keys().next().map(|(at, _)| *at)
    }
    /// When the broker is called next, at the latest.
    pub(super) const fn broker_at(&self) -> Option<Duration> {
        self.broker_at
    }
    pub(super) fn pop(&mut self, now: Duration) -> Option<Event> {
        let first = self.at.first_entry().filter(|first| first.key().0 <= now)?;
        let event = first.remove();
        if matches!(event, Event::Broker) {
            self.broker_at = None;
        }
        Some(event)
    }
}
