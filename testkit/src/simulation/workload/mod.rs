//! What is done in a simulation while everything goes wrong, and the judgement over it.

mod copying;
mod counting;
mod grouping;
mod producing;
mod reading;
mod renewing;
mod stage;

use super::{Bug, Fault, FaultCounts, Random, Schedule, Simulation, SimulationError, Targets, plan};
use crate::checkers::{History, Policy, Violation, check_with};
use stage::{CATCH_UP, HEALING, SESSION_TIMEOUT, Stage, TROUBLE, value_of};
use std::fmt;
use std::time::Duration;

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
}

impl Workload {
    /// All there are.
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
        }
    }
    fn topics(self) -> Vec<(&'static str, i32)> {
        match self {
            Self::Producing => vec![(producing::TOPIC, producing::PARTITIONS)],
            Self::Copying => vec![(copying::INPUT, copying::PARTITIONS), (copying::OUTPUT, copying::PARTITIONS)],
            Self::Grouping => vec![(grouping::TOPIC, grouping::PARTITIONS)],
            Self::Counting => vec![(counting::INPUT, counting::PARTITIONS)],
        }
    }
}

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
    /// What went wrong: with the numbers that [`run_with`] takes.
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
}
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seed, workload) = (self.seed, self.workload);
        writeln!(f, "seed {seed} ({workload:?}, {} events, {:?})", self.events, self.simulated)?;
        self.error.iter().try_for_each(|error| writeln!(f, "  {error}"))?;
        self.violations.iter().take(20).try_for_each(|violation| writeln!(f, "  {violation}"))?;
        writeln!(f, "  with these faults:")?;
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
    run_on(None, workload, seed, keeps)
}

/// Runs a workload on a broker with a bug, which is to be found.
#[must_use]
pub fn run_with_bug(bug: Bug, workload: Workload, seed: u64) -> Report {
    run_on(Some(bug), workload, seed, &|_| false)
}

fn run_on(bug: Option<Bug>, workload: Workload, seed: u64, keeps: &dyn Fn(usize) -> bool) -> Report {
    let random = Random::new(seed);
    let schedule = plan(&mut random.fork(10), &workload.targets(), TROUBLE);
    let faults: Vec<_> =
        schedule.into_iter().enumerate().filter(|(number, _)| keeps(*number)).map(|(n, (at, f))| (n, at, f)).collect();
    let simulation = Simulation::with_settings(seed, &options(&mut random.fork(11)));
    bug.into_iter().for_each(|bug| simulation.plant(bug));
    workload.topics().into_iter().for_each(|(topic, partitions)| simulation.create_topic(topic, partitions));
    if workload == Workload::Counting {
        simulation.create_topic(counting::OUTPUT, counting::PARTITIONS);
    }
    simulation.create_renewed_topic(renewing::TOPIC, renewing::PARTITIONS);
    workload.coordinated().iter().for_each(|key| simulation.expose_coordinator(key));
    let mut process_faults = Schedule::new();
    for (_, at, fault) in &faults {
        if fault.is_of_a_process() {
            process_faults.push((*at, fault.clone()));
        } else {
            simulation.inject(*at, fault.clone());
        }
    }
    let stage = Stage::new(simulation.handle(), process_faults);
    let (own, random) = (stage.clone(), random.fork(12));
    let main = async move {
        match workload {
            Workload::Producing => producing::run(own, random).await,
            Workload::Copying => copying::run(own, random).await,
            Workload::Grouping => grouping::run(own, random).await,
            Workload::Counting => counting::run(own, random).await,
        }
    };
    let outcome = simulation.run("main", main, TROUBLE + HEALING + CATCH_UP * 2);
    judge(simulation, &stage, workload, seed, faults, outcome.err())
}

fn judge(
    simulation: Simulation,
    stage: &Stage,
    workload: Workload,
    seed: u64,
    faults: Vec<(usize, Duration, Fault)>,
    error: Option<SimulationError>,
) -> Report {
    let mut history = std::mem::take(&mut *stage.lock());
    history.add_frames(simulation.take_frames());
    for (topic, partitions) in workload.topics() {
        let records = simulation.records(topic);
        for partition in 0..partitions {
            let own = records.iter().filter(|record| record.topic_partition.partition.get() == partition);
            let values = own.filter_map(|record| Some((record.offset.get(), value_of(record.value.as_ref()?)?)));
            history.set_log((topic, partition), values);
        }
    }
    let policy = Policy { catch_up: CATCH_UP, session_timeout: SESSION_TIMEOUT, ..Policy::default() };
    let mut violations = check_with(&history, &policy);
    if workload == Workload::Counting {
        let (input, output) = (simulation.records(counting::INPUT), simulation.records(counting::OUTPUT));
        violations.extend(counting::judge(&input, &output, error.is_none()));
    }
    Report {
        seed,
        workload,
        violations,
        error,
        faults,
        counts: simulation.fault_counts(),
        simulated: simulation.now(),
        events: history.events().count(),
        request_log: simulation.request_log(),
        history,
    }
}

/// The brokers' options: what the seed chooses.
fn options(random: &mut Random) -> Vec<(&'static str, &'static str)> {
    let delay = random.choose(&["0", "0", "20", "200"]).copied().unwrap_or("0");
    let edition = random.choose(&["1", "2", "2"]).copied().unwrap_or("2");
    vec![("millstream.transaction.marker.delay.ms", delay), ("transaction.version", edition)]
}
