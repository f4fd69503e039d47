//! Which broker coordinates a group or a transactional id.

use millstream_protocol::NodeId;
use millstream_protocol::hash::HashMap;

/// Whose coordinator.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a lookup names one of these")]
pub enum CoordinatorKey {
    /// A group's, by its id.
    Group(String),
    /// A producer's, by its transactional id.
    Transaction(String),
}

impl CoordinatorKey {
    /// The key as FindCoordinator carries it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Group(name) | Self::Transaction(name) => name,
        }
    }
    /// The type as FindCoordinator carries it.
    #[must_use]
    pub const fn type_code(&self) -> i8 {
        match self {
            Self::Group(_) => 0,
            Self::Transaction(_) => 1,
        }
    }
}
impl std::fmt::Display for CoordinatorKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Group(name) => write!(f, "group `{name}`"),
            Self::Transaction(name) => write!(f, "transactional id `{name}`"),
        }
    }
}

/// The known coordinators, and how often each could not be reached (M-9).
#[derive(Debug, Default)]
pub struct Coordinators {
    known: HashMap<CoordinatorKey, Known>,
}

#[derive(Debug)]
struct Known {
    node: NodeId,
    dial_failures: u8,
}

/// After so many failures to connect, the coordinator is looked up again.
const DIAL_FAILURES: u8 = 3;

impl Coordinators {
    /// The coordinator, if it is known.
    #[must_use]
    pub fn find(&self, key: &CoordinatorKey) -> Option<NodeId> {
        self.known.get(key).map(|known| known.node)
    }
    /// A lookup's answer.
    pub fn handle_found(&mut self, key: CoordinatorKey, node: NodeId) {
        self.known.insert(key, Known { node, dial_failures: 0 });
    }
    /// The broker said that it is not the coordinator, or a request to it timed out. A newer answer stays.
    pub fn handle_moved(&mut self, key: &CoordinatorKey, from: NodeId) {
        if self.find(key) == Some(from) {
            self.known.remove(key);
        }
    }
    /// The broker could not be reached; the third time in a row it is forgotten.
    pub fn handle_unreachable(&mut self, key: &CoordinatorKey, node: NodeId) {
        let Some(known) = self.known.get_mut(key).filter(|known| known.node == node) else { return };
        known.dial_failures += 1;
        if known.dial_failures >= DIAL_FAILURES {
            self.known.remove(key);
        }
    }
    /// The broker answered: failures are counted anew.
    pub fn handle_reached(&mut self, key: &CoordinatorKey) {
        if let Some(known) = self.known.get_mut(key) {
            known.dial_failures = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> CoordinatorKey {
        CoordinatorKey::Group("g".to_owned())
    }

    #[test]
    fn a_coordinator_is_forgotten_after_three_failures_to_connect() {
        let mut coordinators = Coordinators::default();
        coordinators.handle_found(key(), NodeId::new(1));
        for _ in 0..2 {
            coordinators.handle_unreachable(&key(), NodeId::new(1));
        }
        coordinators.handle_reached(&key());
        for _ in 0..2 {
            coordinators.handle_unreachable(&key(), NodeId::new(1));
            assert_eq!(coordinators.find(&key()), Some(NodeId::new(1)));
        }
        coordinators.handle_unreachable(&key(), NodeId::new(1));
        assert_eq!(coordinators.find(&key()), None);
    }

    #[test]
    fn a_late_answer_of_the_old_coordinator_does_not_forget_the_new_one() {
        let mut coordinators = Coordinators::default();
        coordinators.handle_found(key(), NodeId::new(1));
        coordinators.handle_found(key(), NodeId::new(2));
        coordinators.handle_moved(&key(), NodeId::new(1));
        assert_eq!(coordinators.find(&key()), Some(NodeId::new(2)));
    }
}
