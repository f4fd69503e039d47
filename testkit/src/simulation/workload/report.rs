//! What came of a run, and in which way it failed.

use super::Workload;
use crate::checkers::{Checker, History, Violation};
use crate::simulation::{Fault, FaultCounts, RequestLog, SimulationError};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// How many violations a report shows.
const SHOWN: usize = 20;

/// What came of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// What was done.
    pub workload: Workload,
    /// What must not be, and was.
    pub violations: Vec<Violation>,
    /// Why it did not come to its end, if it did not.
    pub error: Option<SimulationError>,
    /// What was to go wrong: with the numbers that [`run_with`](super::run_with) takes.
    pub faults: Vec<(usize, Duration, Fault)>,
    /// How often.
    pub counts: FaultCounts,
    /// Of how many transactions it is not known how they ended, by the cause.
    pub doubts: BTreeMap<String, u64>,
    /// How long it took, in its own time.
    pub simulated: Duration,
    /// How many events clients noted.
    pub events: usize,
    /// Every request and answer.
    pub request_log: RequestLog,
    /// What clients and the wire saw.
    pub history: History,
}
impl Report {
    /// Whether all was as it must be.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.violations.is_empty() && self.error.is_none()
    }
    /// In which ways it failed: the first one first, and some perhaps again.
    pub fn failures(&self) -> impl Iterator<Item = FailureKind> {
        let violations =
            self.violations.iter().map(|violation| FailureKind::Violation(violation.checker(), violation.name()));
        violations.chain(self.error.iter().map(FailureKind::of))
    }
    /// The first thing that is wrong, in one line.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let violation = self.violations.first().map(ToString::to_string);
        violation.or_else(|| self.error.as_ref().map(ToString::to_string))
    }
}
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seed, workload) = (self.seed, self.workload);
        writeln!(f, "seed {seed} ({workload:?}, {} events, {:?})", self.events, self.simulated)?;
        self.error.iter().try_for_each(|error| writeln!(f, "  {error}"))?;
        self.violations.iter().take(SHOWN).try_for_each(|violation| writeln!(f, "  {violation}"))?;
        if let Some(more) = self.violations.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            writeln!(f, "  and {more} more")?;
        }
        for (cause, count) in &self.doubts {
            writeln!(f, "  of {count} transactions it is not known how they ended: {cause}")?;
        }
        if self.faults.is_empty() {
            return writeln!(f, "  without any fault");
        }
        writeln!(f, "  with these faults, by their numbers:")?;
        self.faults.iter().try_for_each(|(number, at, fault)| writeln!(f, "  {number:>4} at {at:?}: {fault:?}"))
    }
}

/// In which way a run failed, but for when and where.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// A checker found something of this name.
    Violation(Checker, &'static str),
    /// It was not over when it had to be.
    TooLong,
    /// Everybody waited for somebody else.
    Deadlock,
    /// Tasks woke each other without end.
    Livelock,
    /// A task panicked with words that begin so.
    Panicked(String),
}
impl FailureKind {
    fn of(error: &SimulationError) -> Self {
        match error {
            SimulationError::TooLong(_) => Self::TooLong,
            SimulationError::Deadlock(_) => Self::Deadlock,
            SimulationError::Livelock(_) => Self::Livelock,
            // What comes behind a number or a colon tells of this run alone.
            SimulationError::Panicked(text) => {
                let is_of_this_run = |c: char| c == ':' || c.is_ascii_digit();
                Self::Panicked(text.split(is_of_this_run).next().unwrap_or_default().to_owned())
            }
        }
    }
}
