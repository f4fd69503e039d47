//! What is to be looked at, and when. A timer says only "look": who owns the key finds out what is due and arms it again.

use super::call::ConnectionId;
use super::topics::PartitionKey;
use super::upkeep::Chore;
use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::StrBytes;
use millstream_protocol::{NodeId, Timestamp};
use std::collections::BTreeSet;

/// Whose time it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TimerKey {
    /// A produce that waits for followers.
    Produce(ConnectionId),
    /// A partition's followers, one of which is behind.
    Replicas(PartitionKey),
    /// What is done again and again.
    Chore(Chore),
    /// A node that stands still.
    Session(NodeId),
    /// A fetch that waits for data.
    Fetch(ConnectionId),
    /// A group's sessions and rebalance.
    Group(StrBytes),
    /// The last answer to somebody who could not prove who it is.
    LastWords(ConnectionId),
    /// A transactional id's timeout or its markers.
    Transaction(StrBytes),
    /// Positions that nobody uses any more.
    Offsets,
    /// A topic that is being made because somebody asked for it.
    Topic(StrBytes),
    /// A request or an answer that a rule has delayed, by its number.
    Late(u64),
}

/// One instant per key.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    at: HashMap<TimerKey, Timestamp>,
    queue: BTreeSet<(Timestamp, TimerKey)>,
}
impl Timers {
    /// Sets a key's instant; none disarms it.
    pub(crate) fn arm(&mut self, key: TimerKey, at: Option<Timestamp>) {
        if self.at.get(&key).copied() == at {
            return;
        }
        if let Some(before) = self.at.remove(&key) {
            self.queue.remove(&(before, key.clone()));
        }
        if let Some(at) = at {
            self.at.insert(key.clone(), at);
            self.queue.insert((at, key));
        }
    }
    pub(crate) fn is_armed(&self, key: &TimerKey) -> bool {
        self.at.contains_key(key)
    }
    /// The next instant.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.queue.first().map(|(at, _)| *at)
    }
    /// Takes one key whose instant has come.
    pub(crate) fn pop(&mut self, now: Timestamp) -> Option<TimerKey> {
        if self.next()? > now {
            return None;
        }
        let (_, key) = self.queue.pop_first()?;
        self.at.remove(&key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arming_again_moves_the_instant() {
        let mut timers = Timers::default();
        let key = TimerKey::Fetch(ConnectionId(1));
        timers.arm(key.clone(), Some(Timestamp::from_millis(5)));
        timers.arm(key.clone(), Some(Timestamp::from_millis(9)));
        assert_eq!(timers.pop(Timestamp::from_millis(8)), None);
        assert_eq!(timers.pop(Timestamp::from_millis(9)), Some(key));
        assert_eq!(timers.next(), None);
    }
}
