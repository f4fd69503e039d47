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
    /// Boxed, since it is large and there are few: all others are moved about with its size.
    Fault(Box<Fault>),
    /// The broker has asked to be called.
    Broker,
    Restart(NodeId),
    /// A process's system has asked long enough whether the other end of a connection is still there.
    GiveUp(ConnectionId),
    /// What was flipped in a log is flipped back.
    Unspoil(String, i32, i64),
    ReleaseMarkers,
    /// A follower that lags is to lead.
    Elect(NodeId),
}

/// By time; what is due at the same time happens in the order in which it was added, and the broker comes last.
#[derive(Debug, Default)]
pub(super) struct Events {
    at: BTreeMap<(Duration, u64), Event>,
    added: u64,
    /// When the broker has asked to be called. One time is enough: when it is, the broker says anew when it is to be called next.
    broker_at: Option<Duration>,
}
impl Events {
    pub(super) fn add(&mut self, at: Duration, event: Event) {
        self.added += 1;
        self.at.insert((at, self.added), event);
    }
    /// The broker is to be called then, and not before.
    pub(super) const fn call_broker(&mut self, at: Option<Duration>) {
        self.broker_at = at;
    }
    pub(super) fn next(&self) -> Option<Duration> {
        self.first().into_iter().chain(self.broker_at).min()
    }
    pub(super) fn pop(&mut self, now: Duration) -> Option<Event> {
        if self.first().is_some_and(|at| at <= now && self.broker_at.is_none_or(|broker_at| at <= broker_at)) {
            return self.at.pop_first().map(|(_, event)| event);
        }
        self.broker_at.take_if(|at| *at <= now).map(|_| Event::Broker)
    }
    fn first(&self) -> Option<Duration> {
        self.at.first_key_value().map(|((at, _), _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Each time that was earlier than the one before stayed beside it, and when it came, it was asked for again: thousands by the end of a run.
    #[test]
    fn the_broker_is_called_once_however_often_it_asked() {
        let (mut events, ms) = (Events::default(), Duration::from_millis);
        for at in [30, 20, 10] {
            events.call_broker(Some(ms(at)));
        }
        events.add(ms(10), Event::ReleaseMarkers);
        assert_eq!(events.next(), Some(ms(10)));
        assert!(events.pop(ms(9)).is_none());
        assert!(matches!(events.pop(ms(40)), Some(Event::ReleaseMarkers)));
        assert!(matches!(events.pop(ms(40)), Some(Event::Broker)));
        assert!(events.pop(ms(40)).is_none() && events.next().is_none());
    }
}
