//! What is done in a simulation while everything goes wrong, and the judgement over it.

mod case;
mod copying;
mod counting;
mod exchanging;
mod grouping;
mod pair;
mod parting;
mod producing;
mod reading;
mod renewing;
mod report;
mod seams;
mod sending;
mod shrink;
mod stage;

pub use case::Case;
pub use report::{FailureKind, Report};
pub use shrink::{Again, shrink};

use super::{Random, Targets, plan};
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
    pub const ALL: [Self; 5] = [Self::Producing, Self::Copying, Self::Grouping, Self::Counting, Self::Exchanging];

    /// The workload that a seed stands for: each ninth exchanges, the others take turns.
    #[must_use]
    pub const fn of_seed(seed: u64) -> Self {
        match (seed % 9, seed % 4) {
            (0, _) => Self::Exchanging,
            (_, 0) => Self::Producing,
            (_, 1) => Self::Copying,
            (_, 2) => Self::Grouping,
            _ => Self::Counting,
        }
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
                mortal: exchanging::EXCHANGERS,
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
    /// The topic that may get more partitions: where nobody relies on their number.
    const fn growing(self) -> Option<&'static str> {
        match self {
            Self::Producing => Some(producing::TOPIC),
            Self::Grouping => Some(grouping::TOPIC),
            Self::Copying | Self::Counting | Self::Exchanging => None,
        }
    }
    /// The topics whose records are counted, and how many partitions they have at first.
    fn topics(self) -> Vec<(&'static str, i32)> {
        match self {
            Self::Producing => vec![(producing::TOPIC, producing::PARTITIONS)],
            Self::Copying => vec![(copying::INPUT, copying::PARTITIONS), (copying::OUTPUT, copying::PARTITIONS)],
            Self::Grouping => vec![(grouping::TOPIC, grouping::PARTITIONS)],
            Self::Counting => vec![(counting::INPUT, counting::PARTITIONS)],
            Self::Exchanging => vec![(exchanging::TOPIC, exchanging::PARTITIONS)],
        }
    }
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
    let case = if Random::new(seed).fork(14).one_in(2) { case.with_replicas_nearby() } else { case };
    case.with_faults(kept.map(|(number, (at, fault))| (number, at, fault))).run()
}

/// Now and then, where it is known of each record when the consumer lets go of it: not of members of groups, nor of streams.
fn is_memory_short(workload: Workload, seed: u64) -> bool {
    matches!(workload, Workload::Producing | Workload::Exchanging) && Random::new(seed).fork(13).one_in(4)
}
