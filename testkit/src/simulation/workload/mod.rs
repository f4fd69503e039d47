//! What is done in a simulation while everything goes wrong, and the judgement over it.

mod case;
mod copying;
mod counting;
mod exchanging;
mod grouping;
mod producing;
mod reading;
mod renewing;
mod seams;
mod stage;

pub use case::Case;

use super::{Fault, FaultCounts, Random, SimulationError, Targets, plan};
use crate::checkers::{History, Violation};
use std::fmt;
use std::time::Duration;

/// How long things go wrong, in simulated time.
const TROUBLE: Duration = Duration::from_secs(600);

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Workload {
    /// Producers write, and a reader reads everything.
    Producing,
    /// Members of a group consume, transform and produce in transactions.
    Copying,
    /// Members of a group come and go.
    Grouping,
    /// A topology counts, on disks that fail.
    Counting,
    /// Transactions read what other transactions write.
    Exchanging,
}

impl Workload {
    /// What seeds stand for.
    pub const ALL: [Self; 4] = [Self::Producing, Self::Copying, Self::Grouping, Self::Counting];

    /// The workload that a seed stands for.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        let count = u64::try_from(Self::ALL.len()).unwrap_or(1);
        usize::try_from(seed % count).ok().and_then(|index| Self::ALL.get(index).copied()).unwrap_or(Self::Producing)
    }
    fn targets(self) -> Targets {
        let hosts = |name: &str, count| (0..count).map(|index| format!("{name}-{index}")).collect::<Vec<_>>();
        match self {
            Self::Producing => Targets {
                nodes: 3,
                hosts: [hosts("producer", producing::PRODUCERS), vec!["reader".to_owned()]].concat(),
                mortal: producing::PRODUCERS,
                have_disks: false,
            },
            Self::Copying => Targets {
                nodes: 3,
                hosts: [hosts("copier", copying::COPIERS), vec!["producer-0".to_owned(), "reader".to_owned()]].concat(),
                mortal: copying::COPIERS,
                have_disks: false,
            },
            Self::Counting => Targets {
                nodes: 3,
                hosts: [hosts("counter", counting::PROCESSES), vec!["producer-0".to_owned(), "reader".to_owned()]]
                    .concat(),
                mortal: counting::PROCESSES,
                have_disks: true,
            },
            Self::Exchanging => Targets {
                nodes: 3,
                hosts: (0..exchanging::EXCHANGERS).map(exchanging::host).chain(["reader".to_owned()]).collect(),
                mortal: 0,
                have_disks: false,
            },
            Self::Grouping => Targets {
                nodes: 3,
                hosts: [hosts("member", grouping::MEMBERS), vec!["producer-0".to_owned(), "reader".to_owned()]]
                    .concat(),
                mortal: grouping::MEMBERS,
                have_disks: false,
            },
        }
    }
    /// The groups and transactional ids whose coordinators may move.
    fn coordinated(self) -> Vec<String> {
        match self {
            Self::Producing => Vec::new(),
            Self::Copying => {
                let ids = (0..copying::COPIERS).map(copying::transactional_id);
                ids.chain([copying::GROUP.to_owned()]).collect()
            }
            Self::Grouping => vec![grouping::GROUP.to_owned()],
            Self::Counting => vec![counting::APPLICATION.to_owned()],
            Self::Exchanging => (0..exchanging::EXCHANGERS).map(exchanging::host).collect(),
        }
    }
    fn topics(self) -> Vec<(&'static str, i32)> {
        match self {
            Self::Producing => vec![(producing::TOPIC, producing::PARTITIONS)],
            Self::Copying => vec![(copying::INPUT, copying::PARTITIONS), (copying::OUTPUT, copying::PARTITIONS)],
            Self::Grouping => vec![(grouping::TOPIC, grouping::PARTITIONS)],
            Self::Counting => vec![(counting::INPUT, counting::PARTITIONS)],
            Self::Exchanging => vec![(exchanging::TOPIC, exchanging::EXCHANGERS)],
        }
    }
}

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
    /// What was to go wrong: with the numbers that [`run_with`] takes.
    pub faults: Vec<(usize, Duration, Fault)>,
    /// How often.
    pub counts: FaultCounts,
    /// How long it took, in its own time.
    pub simulated: Duration,
    /// How many events clients noted.
    pub events: usize,
    /// Every request and answer.
    pub request_log: String,
    /// What clients and the wire saw.
    pub history: History,
}
impl Report {
    /// Whether all was as it must be.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.violations.is_empty() && self.error.is_none()
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
        if self.faults.is_empty() {
            return writeln!(f, "  without any fault");
        }
        writeln!(f, "  with these faults, by their numbers:")?;
        self.faults.iter().try_for_each(|(number, at, fault)| writeln!(f, "  {number:>4} at {at:?}: {fault:?}"))
    }
}

/// Runs a seed with those faults alone that it is told to keep.
pub type Again<'a> = dyn Fn(&dyn Fn(usize) -> bool) -> Report + 'a;

/// Leaves faults out as long as the run fails without them, too: the shortest case, as far as halving and trying each finds it. `again` runs the
/// seed with those faults alone whose numbers it is told to keep, as [`run_with`] does.
#[must_use]
pub fn shrink(report: Report, again: &Again<'_>) -> Report {
    let mut best = report;
    let mut step = best.faults.len().div_ceil(2);
    while step > 0 {
        let numbers: Vec<usize> = best.faults.iter().map(|(number, ..)| *number).collect();
        let mut without = numbers.chunks(step).map(|left_out| {
            let keeps = |number: usize| numbers.contains(&number) && !left_out.contains(&number);
            again(&keeps)
        });
        match without.find(|report| !report.is_good()) {
            Some(smaller) => {
                step = step.min(smaller.faults.len().div_ceil(2));
                best = smaller;
            }
            None => step /= 2,
        }
    }
    best
}

/// Runs a workload from a seed, with all that the seed lets go wrong.
#[must_use]
pub fn run(workload: Workload, seed: u64) -> Report {
    run_with(workload, seed, &|_| true)
}

/// The same, with those faults alone whose numbers are kept.
#[must_use]
pub fn run_with(workload: Workload, seed: u64, keeps: &dyn Fn(usize) -> bool) -> Report {
    let schedule = plan(&mut Random::new(seed).fork(10), &workload.targets(), TROUBLE);
    let kept = schedule.into_iter().enumerate().filter(|(number, _)| keeps(*number));
    let case = Case::new(workload, seed).lasting(TROUBLE);
    let case = if is_memory_short(workload, seed) { case.with_short_memory() } else { case };
    case.with_faults(kept.map(|(number, (at, fault))| (number, at, fault))).run()
}

/// Now and then, where it is known of each record when the consumer lets go of it.
fn is_memory_short(workload: Workload, seed: u64) -> bool {
    workload == Workload::Producing && Random::new(seed).fork(13).one_in(4)
}
