//! What goes wrong in a simulation, and when.

use super::network::{Links, Trouble};
use super::random::Random;
use crate::faults::Malformation;
use millstream_protocol::{ApiKey, ErrorCode, NodeId};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// Counted when the markers are let go, if there are any.
pub(crate) const HELD_MARKERS: &str = "held markers";
/// Counted when the follower leads, if there is something that it lacks.
pub(crate) const TRUNCATION: &str = "unclean election";
/// What comes after a crash.
pub(crate) const NODE_RESTART: &str = "node restart";

/// Something that goes wrong. What lasts heals by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Something is wrong with links.
    Link(Links, Trouble, Duration),
    /// A node forgets all its connections, and no word of that gets through.
    HalfOpen(NodeId),
    /// All connections of a node are reset.
    Reset(NodeId),
    /// A node crashes, and starts again after a while.
    Crash(NodeId, Duration),
    /// A node stands still for a while.
    Pause(NodeId, Duration),
    /// The leader of a partition (the topic and partition by numbers among those there are) moves to a node.
    MoveLeader(usize, usize, NodeId),
    /// The coordinator of a group or transactional id (by number among those there are) moves to a node.
    MoveCoordinator(usize, NodeId),
    /// Another node is the controller.
    MoveController(NodeId),
    /// A topic that nobody's records are counted in is deleted and made anew.
    Recreate,
    /// A topic that may grow gets one more partition.
    AddPartition,
    /// A follower of another such topic lags for a while, and leads then: what it lacks is lost.
    Truncate(NodeId, Duration),
    /// The next answers of a node are lost with their connections; the requests have their effect.
    ApplyThenDisconnect(NodeId, u64),
    /// The next requests of an API are refused.
    Refuse(ApiKey, ErrorCode, u64),
    /// A stored batch (topic, partition and place by numbers) has a flipped bit for a while.
    Corrupt(usize, usize, usize, Duration),
    /// Transactions that end stay without markers for a while.
    HoldMarkers(Duration),
    /// The next answer of a node is none.
    Hostile(NodeId, Malformation),
    /// A process is killed, and starts again after a while.
    Kill(usize, Duration),
    /// A process's disk fails from one of its next operations on, for a while.
    DiskFailure(usize, u64, Duration),
    /// The power of a process's machine goes: of what is not synced, so many bytes of each file are kept. It starts again after a while.
    PowerLoss(usize, usize, Duration),
}

impl Fault {
    /// The name of its kind, for counting.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Link(_, trouble, _) => trouble.kind(),
            Self::HalfOpen(_) => "half-open",
            Self::Reset(_) => "reset",
            Self::Crash(..) => "node crash",
            Self::Pause(..) => "node pause",
            Self::MoveLeader(..) => "leader move",
            Self::MoveCoordinator(..) => "coordinator move",
            Self::MoveController(_) => "controller move",
            Self::Recreate => "topic re-creation",
            Self::AddPartition => "partition added",
            Self::Truncate(..) => TRUNCATION,
            Self::ApplyThenDisconnect(..) => "apply, then disconnect",
            Self::Refuse(..) => "refusal",
            Self::Corrupt(..) => "corrupt records",
            Self::HoldMarkers(_) => HELD_MARKERS,
            Self::Hostile(..) => "hostile frame",
            Self::Kill(..) => "process crash",
            Self::DiskFailure(..) => "disk failure",
            Self::PowerLoss(..) => "power loss",
        }
    }
    /// The kinds of all faults, and what comes of them.
    pub const KINDS: [&'static str; 24] = [
        "latency",
        "stall",
        "partition of requests",
        "partition of answers",
        "frames split at every byte",
        "half-open",
        "reset",
        "node crash",
        NODE_RESTART,
        "node pause",
        "leader move",
        "coordinator move",
        "controller move",
        "topic re-creation",
        "partition added",
        TRUNCATION,
        "apply, then disconnect",
        "refusal",
        "corrupt records",
        HELD_MARKERS,
        "hostile frame",
        "process crash",
        "disk failure",
        "power loss",
    ];
    /// Whether it happens to a process, and not to the cluster or the network.
    pub(crate) const fn is_of_a_process(&self) -> bool {
        matches!(self, Self::Kill(..) | Self::DiskFailure(..) | Self::PowerLoss(..))
    }
}

/// How often which kind of fault has happened: not that it was planned, but that it found something to happen to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultCounts(BTreeMap<&'static str, u64>);

impl FaultCounts {
    pub(crate) fn add(&mut self, kind: &'static str) {
        *self.0.entry(kind).or_default() += 1;
    }
    /// Adds another's.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(kind, count)| *self.0.entry(kind).or_default() += count);
    }
    /// How often a kind has happened.
    #[must_use]
    pub fn of(&self, kind: &str) -> u64 {
        self.0.get(kind).copied().unwrap_or(0)
    }
    /// The kinds that have not happened.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        Fault::KINDS.into_iter().filter(|kind| self.of(kind) == 0).collect()
    }
}
impl fmt::Display for FaultCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Fault::KINDS.into_iter().try_for_each(|kind| writeln!(f, "{:>9} × {kind}", self.of(kind)))
    }
}

/// When what goes wrong.
pub(crate) type Schedule = Vec<(Duration, Fault)>;

/// What faults can happen to.
#[derive(Debug, Clone)]
pub(crate) struct Targets {
    pub(crate) nodes: usize,
    /// The processes' hosts; those that may be killed first.
    pub(crate) hosts: Vec<String>,
    /// How many of these processes may be killed.
    pub(crate) mortal: usize,
    pub(crate) have_disks: bool,
}

/// Makes a schedule of what goes wrong until `end`: more or less often, as the seed says.
pub(crate) fn plan(random: &mut Random, targets: &Targets, end: Duration) -> Schedule {
    let pause = Duration::from_secs(2 + u64::try_from(random.below(20)).unwrap_or(0));
    let mut schedule = Schedule::new();
    let mut at = Duration::from_secs(5);
    while at < end {
        schedule.push((at, fault(random, targets)));
        at += random.between(Duration::ZERO, 2 * pause);
    }
    schedule
}

fn fault(random: &mut Random, targets: &Targets) -> Fault {
    let node = NodeId::new(1 + i32::try_from(random.below(targets.nodes)).unwrap_or(0));
    let short = random.between(Duration::from_millis(50), Duration::from_secs(5));
    let long = random.between(Duration::from_millis(500), Duration::from_secs(25));
    let kinds = match (targets.mortal, targets.have_disks) {
        (0, _) => 20,
        (_, false) => 22,
        (_, true) => 26,
    };
    match random.below(kinds) {
        0 => Fault::Link(links(random, targets, node), Trouble::Slow(short / 10), long),
        1 => Fault::Link(links(random, targets, node), Trouble::Stalled, long),
        2 => Fault::Link(links(random, targets, node), Trouble::RequestsCut, long),
        3 => Fault::Link(links(random, targets, node), Trouble::AnswersCut, long),
        4 => Fault::Link(links(random, targets, node), Trouble::Split, short),
        5 => Fault::HalfOpen(node),
        6 => Fault::Reset(node),
        7 => Fault::Crash(node, long),
        8 => Fault::Pause(node, short),
        9 => Fault::MoveLeader(random.below(1000), random.below(1000), node),
        10 => Fault::MoveCoordinator(random.below(1000), node),
        11 => Fault::MoveController(node),
        12 => Fault::Recreate,
        13 => Fault::ApplyThenDisconnect(node, times(random)),
        14 => refusal(random),
        15 => Fault::Corrupt(random.below(1000), random.below(1000), random.below(1000), short),
        16 => Fault::HoldMarkers(short),
        17 => Fault::Hostile(node, malformation(random)),
        18 => Fault::Truncate(node, long),
        19 => Fault::AddPartition,
        20 | 21 => Fault::Kill(random.below(targets.mortal), short),
        22 | 23 => {
            Fault::DiskFailure(random.below(targets.mortal), u64::try_from(random.below(20)).unwrap_or(0), short)
        }
        _ => Fault::PowerLoss(random.below(targets.mortal), random.below(200), short),
    }
}
fn links(random: &mut Random, targets: &Targets, node: NodeId) -> Links {
    let host = random.choose(&targets.hosts).cloned();
    match random.below(3) {
        0 => Links { host: None, node: Some(node) },
        1 => Links { host, node: None },
        _ => Links { host, node: Some(node) },
    }
}
fn times(random: &mut Random) -> u64 {
    1 + random.next() % 3
}
fn malformation(random: &mut Random) -> Malformation {
    random.choose(&Malformation::ALL).copied().unwrap_or(Malformation::Noise)
}
/// A code that a broker gives for a while, and the client gets over.
fn refusal(random: &mut Random) -> Fault {
    const ALL: [(ApiKey, ErrorCode); 14] = [
        (ApiKey::PRODUCE, ErrorCode::NOT_LEADER_OR_FOLLOWER),
        (ApiKey::PRODUCE, ErrorCode::NOT_ENOUGH_REPLICAS),
        (ApiKey::PRODUCE, ErrorCode::LEADER_NOT_AVAILABLE),
        (ApiKey::FETCH, ErrorCode::NOT_LEADER_OR_FOLLOWER),
        (ApiKey::FETCH, ErrorCode::OFFSET_NOT_AVAILABLE),
        (ApiKey::LIST_OFFSETS, ErrorCode::LEADER_NOT_AVAILABLE),
        (ApiKey::FIND_COORDINATOR, ErrorCode::COORDINATOR_NOT_AVAILABLE),
        (ApiKey::OFFSET_COMMIT, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS),
        (ApiKey::OFFSET_FETCH, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS),
        (ApiKey::HEARTBEAT, ErrorCode::COORDINATOR_NOT_AVAILABLE),
        (ApiKey::JOIN_GROUP, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS),
        (ApiKey::END_TXN, ErrorCode::CONCURRENT_TRANSACTIONS),
        (ApiKey::INIT_PRODUCER_ID, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS),
        (ApiKey::TXN_OFFSET_COMMIT, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS),
    ];
    let (api, code) = ALL[random.below(ALL.len())];
    Fault::Refuse(api, code, times(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_fault_is_planned() {
        let targets = Targets { nodes: 3, hosts: vec!["a".to_owned()], mortal: 1, have_disks: true };
        let mut counts = FaultCounts::default();
        let schedule = plan(&mut Random::new(1), &targets, Duration::from_secs(36_000));
        schedule.iter().for_each(|(_, fault)| counts.add(fault.kind()));
        assert_eq!(counts.missing(), [NODE_RESTART]);
    }
}
