//! Where a producer stands between its transactions.

use super::Decision;
use crate::produce::TransactionNumber;
use millstream_protocol::hash::HashSet;

/// Transaction version: how partitions and offsets join, and how the end is told (KIP-890). Fixed at the begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a transaction is of one of these")]
pub enum Edition {
    /// Partitions and groups are added by requests of their own; the epoch stays from one transaction to the next.
    One,
    /// Batches and offsets add themselves; every end brings a new epoch, and after the last one a new id.
    Two,
}

impl Edition {
    /// From the level of the feature `transaction.version` that the cluster has finalized.
    #[must_use]
    pub const fn from_feature(level: i16) -> Self {
        if level >= 2 { Self::Two } else { Self::One }
    }
}

/// Where a producer stands.
///
/// ```text
/// Ready ── begin ──▶ Open ── decide ──▶ Ending ── ended ──▶ Ready
///                     ▲                   │ refused (a commit only)
///                     └───────────────────┘
///   any ── fenced ──▶ Over
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// No transaction is open.
    Ready,
    /// Records and offsets join.
    Open {
        /// Its edition.
        edition: Edition,
        /// Groups whose offsets are part of it.
        groups: HashSet<String>,
    },
    /// Its end is decided, and not yet known to the cluster.
    Ending {
        /// How.
        decision: Decision,
        /// Its edition.
        edition: Edition,
        /// Groups whose offsets are part of it.
        groups: HashSet<String>,
    },
    /// The producer was fenced, or closed.
    Over,
}

impl Phase {
    const fn name(&self) -> &'static str {
        match self {
            Self::Ready => "no transaction is open",
            Self::Open { .. } => "a transaction is open",
            Self::Ending { decision: Decision::Commit, .. } => "a transaction is being committed",
            Self::Ending { decision: Decision::Abort, .. } => "a transaction is being aborted",
            Self::Over => "the producer is fenced or closed",
        }
    }
}

/// A move that is not possible where the producer stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot {wanted}: {}", .phase.name())]
pub struct CourseError {
    wanted: &'static str,
    phase: Phase,
}

/// A producer's way through its transactions.
#[derive(Debug)]
pub struct Course {
    phase: Phase,
    number: TransactionNumber,
}

impl Default for Course {
    fn default() -> Self {
        Self { phase: Phase::Ready, number: 0 }
    }
}

impl Course {
    /// Where it stands.
    #[must_use]
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }
    /// The number of the open transaction, or of the last.
    #[must_use]
    pub const fn number(&self) -> TransactionNumber {
        self.number
    }
    /// Opens the next transaction.
    ///
    /// # Errors
    ///
    /// When one is open, or the producer is of no more use.
    pub fn begin(&mut self, edition: Edition) -> Result<TransactionNumber, CourseError> {
        if self.phase != Phase::Ready {
            return Err(self.refuse("begin a transaction"));
        }
        self.number += 1;
        self.phase = Phase::Open { edition, groups: HashSet::default() };
        Ok(self.number)
    }
    /// Whether a group must be added by a request of its own before its offsets are sent (T-1).
    ///
    /// # Errors
    ///
    /// When no transaction is open.
    pub fn needs_group(&self, group: &str) -> Result<bool, CourseError> {
        match &self.phase {
            Phase::Open { edition, groups } => Ok(*edition == Edition::One && !groups.contains(group)),
            _ => Err(self.refuse("send offsets")),
        }
    }
    /// A group's offsets are, or may be, part of the transaction.
    pub fn handle_group(&mut self, group: &str) {
        if let Phase::Open { groups, .. } = &mut self.phase {
            groups.insert(group.to_owned());
        }
    }
    /// Decides the end. The same decision may be asked for again while it is not known; a commit may turn into an abort
    /// only by [`handle_refused`](Self::handle_refused).
    ///
    /// # Errors
    ///
    /// When no transaction is open, or the other end is decided.
    pub fn decide(&mut self, decision: Decision) -> Result<Edition, CourseError> {
        match &mut self.phase {
            Phase::Open { edition, groups } => {
                let (edition, groups) = (*edition, std::mem::take(groups));
                self.phase = Phase::Ending { decision, edition, groups };
                Ok(edition)
            }
            Phase::Ending { decision: known, edition, .. } if *known == decision => Ok(*edition),
            _ => Err(self.refuse(match decision {
                Decision::Commit => "commit",
                Decision::Abort => "abort",
            })),
        }
    }
    /// Whether offsets of any group are part of the transaction.
    #[must_use]
    pub fn has_groups(&self) -> bool {
        match &self.phase {
            Phase::Open { groups, .. } | Phase::Ending { groups, .. } => !groups.is_empty(),
            _ => false,
        }
    }
    /// The end is known to the cluster.
    pub fn handle_ended(&mut self) {
        if matches!(self.phase, Phase::Ending { .. }) {
            self.phase = Phase::Ready;
        }
    }
    /// The commit was refused and surely did not happen: only an abort can follow.
    pub fn handle_refused(&mut self) {
        if let Phase::Ending { edition, groups, .. } = &mut self.phase {
            self.phase = Phase::Open { edition: *edition, groups: std::mem::take(groups) };
        }
    }
    /// Somebody took over, or the producer was closed.
    pub fn handle_over(&mut self) {
        self.phase = Phase::Over;
    }

    fn refuse(&self, wanted: &'static str) -> CourseError {
        CourseError { wanted, phase: self.phase.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_decided_once() {
        let mut course = Course::default();
        assert_eq!(course.begin(Edition::Two), Ok(1));
        assert_eq!(course.decide(Decision::Commit), Ok(Edition::Two));
        assert_eq!(course.decide(Decision::Commit), Ok(Edition::Two), "asked again while it is unknown");
        let error = course.decide(Decision::Abort).unwrap_err();
        assert_eq!(error.to_string(), "cannot abort: a transaction is being committed");
        course.handle_ended();
        assert_eq!(course.begin(Edition::One), Ok(2));
    }

    #[test]
    fn a_refused_commit_leaves_a_transaction_that_can_be_aborted() {
        let mut course = Course::default();
        course.begin(Edition::One).unwrap();
        course.handle_group("g");
        course.decide(Decision::Commit).unwrap();
        course.handle_refused();
        assert!(course.has_groups(), "the abort must reach the coordinator of the offsets");
        assert_eq!(course.decide(Decision::Abort), Ok(Edition::One));
    }

    #[test]
    fn a_group_is_added_once_and_only_in_the_first_edition() {
        let mut course = Course::default();
        course.begin(Edition::One).unwrap();
        assert_eq!(course.needs_group("g"), Ok(true));
        course.handle_group("g");
        assert_eq!(course.needs_group("g"), Ok(false));
        let mut course = Course::default();
        course.begin(Edition::Two).unwrap();
        assert_eq!(course.needs_group("g"), Ok(false));
    }

    #[test]
    fn a_fenced_producer_begins_nothing() {
        let mut course = Course::default();
        course.handle_over();
        assert_eq!(
            course.begin(Edition::One).unwrap_err().to_string(),
            "cannot begin a transaction: the producer is fenced or closed"
        );
    }
}
