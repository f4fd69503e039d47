//! A run of a workload: from which seed, how long, with which faults, and on which bug; and the judgement over it.

use super::stage::{CATCH_UP, HEALING, SESSION_TIMEOUT, Stage, value_of};
use super::{Report, Workload, copying, counting, exchanging, grouping, parting, producing, renewing};
use crate::checkers::{Policy, Violation, check_with, doubts};
use crate::simulation::{Bug, Fault, Random, Schedule, Simulation, SimulationError};
use std::time::Duration;

/// A run that is put together by hand: by default a minute of a workload where nothing goes wrong.
///
/// ```
/// use millstream_testkit::simulation::workload::{Case, Workload};
/// use millstream_testkit::simulation::{Bug, Fault};
/// use std::time::Duration;
///
/// // A leader that has applied a request falls silent, and its producer sends again.
/// let case = Case::new(Workload::Producing, 1)
///     .lasting(Duration::from_secs(20))
///     .every(Duration::from_secs(4), Fault::ApplyThenDisconnect(1.into(), 1));
/// assert!(case.run().is_good());
/// // A broker that does not look at sequence numbers has the record twice then.
/// let found = case.with_bug(Bug::ForgetSequences).run().violations;
/// assert_eq!(found[0].name(), "duplicate");
/// ```
#[derive(Debug, Clone)]
pub struct Case {
    workload: Workload,
    seed: u64,
    trouble: Duration,
    /// With their numbers.
    faults: Vec<(usize, Duration, Fault)>,
    bug: Option<Bug>,
    is_tight: bool,
    is_near: bool,
}

impl Case {
    /// A minute of a workload, and nothing that goes wrong.
    #[must_use]
    pub const fn new(workload: Workload, seed: u64) -> Self {
        let trouble = Duration::from_secs(60);
        Self { workload, seed, trouble, faults: Vec::new(), bug: None, is_tight: false, is_near: false }
    }
    /// How long clients work before the run goes to its end.
    #[must_use]
    pub const fn lasting(mut self, trouble: Duration) -> Self {
        self.trouble = trouble;
        self
    }
    /// Something goes wrong at a time since the beginning.
    #[must_use]
    pub fn at(mut self, at: Duration, fault: Fault) -> Self {
        self.faults.push((self.faults.len(), at, fault));
        self
    }
    /// Something goes wrong again and again.
    #[must_use]
    pub fn every(self, pause: Duration, fault: Fault) -> Self {
        let trouble = self.trouble;
        let times = (1_u32..).map(|time| pause * time).take_while(|at| *at < trouble);
        times.fold(self, |case, at| case.at(at, fault.clone()))
    }
    /// A bug is planted: until clients have done their work, or for good where it is about what comes after.
    #[must_use]
    pub const fn with_bug(mut self, bug: Bug) -> Self {
        self.bug = Some(bug);
        self
    }
    /// Memory is short: producers write in bursts that are larger than what they may hold, and readers may hold little.
    #[must_use]
    pub const fn with_short_memory(mut self) -> Self {
        self.is_tight = true;
        self
    }
    /// Consumers are sent to the replicas in their racks (KIP-392), and not to the leaders.
    #[must_use]
    pub const fn with_replicas_nearby(mut self) -> Self {
        self.is_near = true;
        self
    }
    pub(super) fn with_faults(mut self, faults: impl IntoIterator<Item = (usize, Duration, Fault)>) -> Self {
        self.faults.extend(faults);
        self
    }
    pub(super) const fn trouble(&self) -> Duration {
        self.trouble
    }
    /// Whether memory is short.
    pub(super) const fn is_tight(&self) -> bool {
        self.is_tight
    }
    /// Whether this bug is planted.
    pub(super) fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    /// Runs it, and judges what came of it.
    #[must_use]
    pub fn run(&self) -> Report {
        let random = Random::new(self.seed);
        let simulation = Simulation::with_settings(self.seed, &self.options(&mut random.fork(11)));
        self.prepare(&simulation);
        let process_faults = self.inject(&simulation);
        let stage = Stage::new(simulation.handle(), process_faults, self.clone());
        let (own, random, workload) = (stage.clone(), random.fork(12), self.workload);
        let main = async move {
            match workload {
                Workload::Producing => producing::run(own, random).await,
                Workload::Copying => copying::run(own, random).await,
                Workload::Grouping => grouping::run(own, random).await,
                Workload::Counting => counting::run(own, random).await,
                Workload::Exchanging => exchanging::run(own, random).await,
            }
        };
        let outcome = simulation.run("main", main, self.trouble + HEALING + CATCH_UP * 2);
        self.judge(&simulation, &stage, outcome.err())
    }
    /// The brokers' options: what the case says, and what the seed chooses.
    fn options(&self, random: &mut Random) -> Vec<(&'static str, &'static str)> {
        let delay = random.choose(&["0", "0", "20", "200"]).copied().unwrap_or("0");
        let edition = random.choose(&["1", "2", "2"]).copied().unwrap_or("2");
        let mut options = vec![("millstream.transaction.marker.delay.ms", delay), ("transaction.version", edition)];
        // Soon enough for what is written meanwhile to be acknowledged before the one who lags leads.
        options.push(("replica.lag.time.max.ms", "3000"));
        if self.is_near {
            options.push(("replica.selector.class", "org.apache.kafka.common.replica.RackAwareReplicaSelector"));
        }
        options
    }
    /// Makes what the workload needs of a cluster.
    fn prepare(&self, simulation: &Simulation) {
        let workload = self.workload;
        workload.topics().into_iter().for_each(|(topic, partitions)| simulation.create_topic(topic, partitions));
        if workload == Workload::Counting {
            simulation.create_topic(counting::OUTPUT, counting::PARTITIONS);
        }
        workload.growing().into_iter().for_each(|topic| simulation.expose_to_growth(topic));
        simulation.create_renewed_topic(renewing::TOPIC, renewing::PARTITIONS);
        simulation.create_parted_topic(parting::TOPIC, parting::PARTITIONS);
        workload.coordinated().iter().for_each(|key| simulation.expose_coordinator(key));
        match self.bug {
            Some(bug) if bug.is_for_good() => simulation.plant(bug),
            Some(bug) => simulation.plant_until(bug, self.trouble),
            None => {}
        }
    }
    /// Schedules what goes wrong; what happens to processes is left over.
    fn inject(&self, simulation: &Simulation) -> Schedule {
        let mut process_faults = Schedule::new();
        for (_, at, fault) in &self.faults {
            if fault.is_of_a_process() {
                process_faults.push((*at, fault.clone()));
            } else {
                simulation.inject(*at, fault.clone());
            }
        }
        process_faults
    }
    fn judge(&self, simulation: &Simulation, stage: &Stage, error: Option<SimulationError>) -> Report {
        let mut history = std::mem::take(&mut *stage.lock());
        history.add_frames(simulation.take_frames());
        for (topic, _) in self.workload.topics() {
            let records = simulation.records(topic);
            let partitions = stage.partitions(topic);
            for partition in 0..partitions {
                let own = records.iter().filter(|record| record.topic_partition.partition.get() == partition);
                let values = own.filter_map(|record| Some((record.offset.get(), value_of(record.value.as_ref()?)?)));
                history.set_log((topic, partition), values);
            }
        }
        let policy = Policy { catch_up: CATCH_UP, session_timeout: SESSION_TIMEOUT, ..Policy::default() };
        let mut violations = check_with(&history, &policy);
        violations.extend(stage.take_violations());
        if self.workload == Workload::Counting {
            violations.extend(counted(simulation, error.is_none()));
        }
        Report {
            seed: self.seed,
            workload: self.workload,
            violations,
            error,
            faults: self.faults.clone(),
            counts: simulation.fault_counts(),
            doubts: doubts(&history),
            simulated: simulation.now(),
            events: history.events().count(),
            request_log: simulation.request_log(),
            history,
        }
    }
}

fn counted(simulation: &Simulation, is_whole: bool) -> Vec<Violation> {
    let (input, output) = (simulation.records(counting::INPUT), simulation.records(counting::OUTPUT));
    counting::judge(&input, &output, is_whole)
}
