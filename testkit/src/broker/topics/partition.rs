//! One partition: its leader's log, and how far each replica has it.
//!
//! Every replica's log is a prefix of one log, so that a replica is a number: where it ends. Where logs part, one of them is not in use: what a
//! replica had beyond the place where a new leader's log parted from its own is kept beside it, until it follows that leader.
//!
//! ```text
//!   log       ├──────────────────────┬──────────┬─────┤ end
//!   replicas  ├ 1 (leader) ──────────┴──────────┴─────┤
//!             ├ 2 ───────────────────┴──────────┤          in sync
//!             ├ 3 ───────────────────┤                     in sync: the high watermark
//! ```

use super::reassignment::Reassignment;
use super::topic::MinIsr;
use crate::broker::log::Log;
use crate::broker::log::batch::Batch;
use crate::broker::nodes::Nodes;
use millstream_protocol::{ErrorCode, NodeId, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// How a leader may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Election {
    /// Only who has all that was acknowledged.
    Clean,
    /// Anybody, if there is no such replica (`unclean.leader.election.enable`).
    Unclean,
}

/// What one replica has of the log.
#[derive(Debug, Clone, Default)]
struct Copy {
    /// Where it begins, if that is above the leader's start: a test says so.
    start: i64,
    end: i64,
    /// It does not fetch, because a test says so.
    is_held: bool,
    /// Since when it has not had all.
    behind_since: Option<Timestamp>,
    /// What it has beyond `end`, where its log parted from the leader's while it was away.
    diverged: Vec<Batch>,
}

/// One partition.
#[derive(Debug)]
pub(crate) struct Partition {
    pub(crate) leader: Option<NodeId>,
    pub(crate) leader_epoch: i32,
    /// The preferred leader first.
    pub(crate) replicas: Vec<NodeId>,
    /// Who has all that was acknowledged.
    pub(crate) isr: Vec<NodeId>,
    /// Who had it when the in-sync replicas became too few (KIP-966): it may lead, too.
    pub(crate) elr: Vec<NodeId>,
    /// Who led last, while nobody leads.
    pub(crate) last_leader: Option<NodeId>,
    pub(crate) reassignment: Option<Reassignment>,
    pub(crate) log: Log,
    /// Where the present leader's epoch begins.
    pub(crate) epoch_start: i64,
    /// How many records fetches have carried away, control records and repeats included.
    pub(crate) fetched_records: u64,
    copies: BTreeMap<NodeId, Copy>,
    /// Whose copy `log` is.
    owner: Option<NodeId>,
}
impl Partition {
    pub(crate) fn new(replicas: Vec<NodeId>, nodes: &Nodes) -> Self {
        let isr: Vec<NodeId> = replicas.iter().copied().filter(|id| nodes.is_up(*id)).collect();
        let leader = isr.first().copied();
        let mut log = Log::default();
        log.begin_epoch(0);
        Self {
            leader,
            leader_epoch: 0,
            copies: replicas.iter().map(|id| (*id, Copy::default())).collect(),
            replicas,
            isr,
            elr: Vec::new(),
            last_leader: None,
            reassignment: None,
            log,
            epoch_start: 0,
            fetched_records: 0,
            owner: leader,
        }
    }
    /// Whether `node` may serve it, to a client that knows `epoch` (−1: none).
    pub(crate) fn check_leader(&self, node: NodeId, epoch: i32) -> Result<(), ErrorCode> {
        self.check_hosted(node)?;
        self.check_epoch(epoch)?;
        if self.leader == Some(node) { Ok(()) } else { Err(ErrorCode::NOT_LEADER_OR_FOLLOWER) }
    }
    /// Whether `node` has a replica to be read, for a client that knows `epoch` (−1: none).
    pub(crate) fn check_replica(&self, node: NodeId, epoch: i32) -> Result<(), ErrorCode> {
        self.check_hosted(node)?;
        self.check_epoch(epoch)?;
        // A follower serves what it has though nobody leads; who led last does not.
        let may_serve = self.leader.is_some() || self.owner != Some(node);
        if may_serve { Ok(()) } else { Err(ErrorCode::NOT_LEADER_OR_FOLLOWER) }
    }
    /// A node without a replica knows no epoch to compare.
    fn check_hosted(&self, node: NodeId) -> Result<(), ErrorCode> {
        let is_hosted = self.leader == Some(node) || self.replicas.contains(&node);
        if is_hosted { Ok(()) } else { Err(ErrorCode::NOT_LEADER_OR_FOLLOWER) }
    }
    fn check_epoch(&self, epoch: i32) -> Result<(), ErrorCode> {
        match epoch {
            ..0 => Ok(()),
            _ if epoch < self.leader_epoch => Err(ErrorCode::FENCED_LEADER_EPOCH),
            _ if epoch > self.leader_epoch => Err(ErrorCode::UNKNOWN_LEADER_EPOCH),
            _ => Ok(()),
        }
    }
    /// The leader as the wire has it: −1 for none.
    pub(crate) fn leader_id(&self) -> i32 {
        self.leader.map_or(-1, NodeId::get)
    }
    /// Where a replica's log ends.
    pub(crate) fn end_of(&self, replica: NodeId) -> i64 {
        if self.owner == Some(replica) {
            return self.log.end();
        }
        self.copies.get(&replica).map_or(0, |copy| copy.end)
    }
    /// Where a replica's log begins.
    pub(crate) fn start_of(&self, replica: NodeId) -> i64 {
        let own = self.copies.get(&replica).filter(|_| self.owner != Some(replica));
        self.log.start().max(own.map_or(0, |copy| copy.start))
    }
    /// About how many bytes its records take, those that replicas have beside the log among them.
    pub(crate) fn records_weight(&self) -> usize {
        let beside = self.copies.values().flat_map(|copy| &copy.diverged).map(Batch::weight).sum::<usize>();
        self.log.weight() + beside
    }
    /// Whether as many replicas are in sync as it takes to acknowledge.
    pub(crate) fn has_enough(&self, min_isr: MinIsr) -> bool {
        let bound = if min_isr.rules.is_strict { self.replicas.len() } else { usize::MAX };
        self.isr.len() >= min_isr.configured.min(bound)
    }
}

// Followers.
impl Partition {
    /// Lets followers fetch, as far as they may, and moves the high watermark.
    pub(crate) fn replicate(&mut self, now: Timestamp, nodes: &Nodes, min_isr: MinIsr) {
        let Some(leader) = self.leader else { return };
        let end = self.log.end();
        for (id, copy) in self.copies.iter_mut().filter(|(id, _)| **id != leader) {
            if nodes.replicates(*id) && !copy.is_held {
                copy.catch_up(end);
            } else if copy.end < end {
                copy.behind_since.get_or_insert(now);
            }
        }
        self.expand_isr(nodes, leader, min_isr);
        self.raise_high_watermark(min_isr);
    }
    // A follower joins when it has what the in-sync replicas have, and its leader's epoch (`Partition.isFollowerInSync`).
    fn expand_isr(&mut self, nodes: &Nodes, leader: NodeId, min_isr: MinIsr) {
        let least = self.log.high_watermark().max(self.epoch_start);
        let fetches = |id: &NodeId| nodes.replicates(*id) && self.copies.get(id).is_none_or(|copy| !copy.is_held);
        let joins = |id: &NodeId| *id != leader && !self.isr.contains(id) && fetches(id) && self.end_of(*id) >= least;
        let joining: Vec<NodeId> = self.replicas.iter().copied().filter(joins).collect();
        if joining.is_empty() {
            return;
        }
        self.isr.extend(joining);
        self.sort_isr();
        self.forget_eligible(min_isr);
        self.complete_reassignment(nodes, min_isr);
    }
    fn raise_high_watermark(&mut self, min_isr: MinIsr) {
        if min_isr.rules.is_strict && !self.has_enough(min_isr) {
            return;
        }
        if let Some(common) = self.isr.iter().map(|id| self.end_of(*id)).min() {
            self.log.replicated_to(common);
        }
    }
    fn sort_isr(&mut self) {
        let place = |id: &NodeId| self.replicas.iter().position(|replica| replica == id);
        self.isr.sort_by_key(place);
    }
    fn forget_eligible(&mut self, min_isr: MinIsr) {
        if !min_isr.rules.keeps_eligible || self.isr.len() >= min_isr.of_controller {
            self.elr.clear();
        }
        let Self { elr, isr, .. } = self;
        elr.retain(|id| !isr.contains(id));
    }
    /// Takes replicas out of the in-sync ones. Where nobody is kept as eligible, the last of those stay, so that they alone may lead later.
    fn shrink_isr(&mut self, leaves: impl Fn(NodeId) -> bool, min_isr: MinIsr) -> bool {
        let left: Vec<NodeId> = self.isr.iter().copied().filter(|id| leaves(*id)).collect();
        if left.is_empty() {
            return false;
        }
        let stay: Vec<NodeId> = self.isr.iter().copied().filter(|id| !left.contains(id)).collect();
        if stay.is_empty() && !min_isr.rules.keeps_eligible {
            return false;
        }
        self.replace_isr(stay, left, min_isr);
        true
    }
    /// Others are in sync now; who has left may lead for as long as those are too few.
    pub(super) fn replace_isr(&mut self, isr: Vec<NodeId>, left: Vec<NodeId>, min_isr: MinIsr) {
        self.isr = isr;
        self.elr.extend(left.into_iter().filter(|_| min_isr.rules.keeps_eligible));
        self.forget_eligible(min_isr);
    }
    /// When the next follower will have been behind for too long.
    pub(crate) fn next_lag_deadline(&self, max: Duration) -> Option<Timestamp> {
        let lagging = self.copies.iter().filter(|(id, _)| self.leader != Some(**id) && self.isr.contains(id));
        lagging.filter_map(|(_, copy)| copy.behind_since).min().map(|since| since + max)
    }
    /// Takes followers that have been behind for too long out of the in-sync ones (`replica.lag.time.max.ms`).
    pub(crate) fn expel_lagging(&mut self, now: Timestamp, max: Duration, min_isr: MinIsr) -> bool {
        let lags = |copy: &Copy| copy.behind_since.is_some_and(|since| since + max <= now);
        let lagging: Vec<NodeId> = self
            .copies
            .iter()
            .filter(|(id, copy)| self.leader != Some(**id) && lags(copy))
            .map(|(id, _)| *id)
            .collect();
        self.shrink_isr(|id| lagging.contains(&id), min_isr)
    }
    /// Lets a follower fetch no longer, or again.
    pub(crate) fn hold(&mut self, replica: NodeId, holds: bool) -> bool {
        let Some(copy) = self.copies.get_mut(&replica) else { return false };
        copy.is_held = holds;
        true
    }
    /// Whether a follower fetches nothing, because a test says so.
    #[cfg(feature = "server")]
    pub(crate) fn is_held(&self, replica: NodeId) -> bool {
        self.copies.get(&replica).is_some_and(|copy| copy.is_held)
    }
    /// Lets a follower's log begin at an offset.
    pub(crate) fn set_start(&mut self, replica: NodeId, start: i64) -> bool {
        let Some(copy) = self.copies.get_mut(&replica) else { return false };
        copy.start = start;
        true
    }
    /// Lets a follower that is held fetch up to an offset.
    pub(crate) fn let_fetch(&mut self, replica: NodeId, until: i64) -> bool {
        let end = self.log.end();
        let Some(copy) = self.copies.get_mut(&replica) else { return false };
        copy.diverged.clear();
        copy.end = copy.end.max(until.min(end));
        if copy.end == end {
            copy.behind_since = None;
        }
        true
    }
}
impl Copy {
    fn catch_up(&mut self, end: i64) {
        self.diverged.clear();
        self.end = end;
        self.behind_since = None;
    }
}

// Leaders.
impl Partition {
    /// Chooses a leader: the present one, or the first replica that has all that was acknowledged, or who led last if nobody can be told to
    /// have that. Says whether the leader or its epoch changed.
    pub(crate) fn elect(&mut self, nodes: &Nodes, election: Election) -> bool {
        let may_lead = |id: &NodeId| self.may_lead(*id, nodes);
        if self.leader.is_some_and(|leader| may_lead(&leader) && self.replicas.contains(&leader)) {
            return false;
        }
        let is_up = |id: &NodeId| nodes.is_up(*id);
        // Who never had a leader has nothing to lose.
        let may_be_anybody = election == Election::Unclean || self.owner.is_none();
        let first = |may_lead: &dyn Fn(&NodeId) -> bool| self.replicas.iter().copied().find(may_lead);
        let leader = first(&may_lead)
            .or_else(|| self.last_leader.filter(|_| self.isr.is_empty() && self.elr.is_empty()).filter(is_up))
            .or_else(|| first(&is_up).filter(|_| may_be_anybody));
        self.lead(leader, nodes)
    }
    /// Whether it is up and has all that was acknowledged.
    fn may_lead(&self, id: NodeId, nodes: &Nodes) -> bool {
        nodes.is_up(id) && (self.isr.contains(&id) || self.isr.is_empty() && self.elr.contains(&id))
    }
    /// Lets the preferred replica lead, if it may. If it may not, who leads leads on; where nobody does, it is an election as any other.
    pub(crate) fn elect_preferred(&mut self, nodes: &Nodes, min_isr: MinIsr) -> Result<(), ErrorCode> {
        let preferred = self.replicas.first().copied();
        if self.leader.is_some() && self.leader == preferred {
            return Err(ErrorCode::ELECTION_NOT_NEEDED);
        }
        // For Kafka's controller, an election that changes no more than this has succeeded, too.
        let eligible = self.elr.len();
        self.forget_eligible(min_isr);
        let has_leader = match preferred.filter(|id| self.may_lead(*id, nodes)) {
            Some(leader) => self.lead(Some(leader), nodes),
            None => self.elect(nodes, Election::Clean),
        };
        let is_changed = has_leader || self.elr.len() < eligible;
        if is_changed { Ok(()) } else { Err(ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE) }
    }
    /// Gives it another leader, in a new epoch. What the new leader never had is lost.
    pub(crate) fn lead(&mut self, leader: Option<NodeId>, nodes: &Nodes) -> bool {
        let is_other = self.lead_within_epoch(leader, nodes);
        if is_other {
            self.begin_leader_epoch();
        }
        is_other
    }
    /// The same without a new epoch, as no controller would.
    pub(crate) fn lead_within_epoch(&mut self, leader: Option<NodeId>, nodes: &Nodes) -> bool {
        if self.leader == leader {
            return false;
        }
        let is_last = leader.is_none() && self.isr.is_empty();
        self.last_leader = if is_last { self.last_leader.or(self.leader) } else { None };
        self.leader = leader;
        if let Some(leader) = leader {
            self.take_log_of(leader, nodes);
        }
        if let Some(leader) = leader.filter(|leader| !self.isr.contains(leader)) {
            // Nobody who was in sync is left: the new leader's log is the truth now.
            let is_eligible = self.elr.contains(&leader);
            self.elr.retain(|id| *id != leader && is_eligible);
            self.isr = vec![leader];
        }
        true
    }
    /// A new leader epoch begins, under whoever leads now.
    pub(crate) fn begin_leader_epoch(&mut self) {
        self.leader_epoch += 1;
        if self.leader.is_some() {
            self.log.begin_epoch(self.leader_epoch);
            self.epoch_start = self.log.end();
        }
    }
    fn take_log_of(&mut self, leader: NodeId, nodes: &Nodes) {
        if self.owner == Some(leader) {
            return;
        }
        if let Some(before) = self.owner {
            let end = self.log.end();
            self.copies.entry(before).or_default().end = end;
        }
        let own = self.copies.entry(leader).or_default();
        let (end, diverged) = (own.end, std::mem::take(&mut own.diverged));
        let log = &mut self.log;
        for (id, copy) in self.copies.iter_mut().filter(|(id, copy)| **id != leader && copy.end > end) {
            // Who is up follows the new leader at once, and cuts its own log off.
            if !nodes.is_up(*id) {
                let mut kept = log.between(end, copy.end);
                kept.append(&mut copy.diverged);
                copy.diverged = kept;
            }
            copy.end = end;
        }
        log.truncate(end);
        log.adopt(diverged);
        self.owner = Some(leader);
    }
    /// A node is gone: it leaves the in-sync replicas.
    pub(crate) fn lose(&mut self, node: NodeId, min_isr: MinIsr) -> bool {
        self.shrink_isr(|id| id == node, min_isr)
    }
    /// Another minimum is set: who was eligible by the one before is not any more.
    pub(crate) fn clear_eligible(&mut self) {
        self.elr.clear();
        self.last_leader = None;
    }
    /// A node was killed, and nobody knows what its disk has kept: it is not eligible any more (KIP-966).
    pub(crate) fn distrust(&mut self, node: NodeId, min_isr: MinIsr) {
        if self.elr.contains(&node) {
            self.elr.retain(|id| *id != node);
            // It is a change as any other, by which the rest is reckoned anew.
            self.forget_eligible(min_isr);
        }
    }
    /// Adds a replica that has nothing yet.
    pub(crate) fn add_replica(&mut self, id: NodeId) {
        if !self.replicas.contains(&id) {
            self.replicas.push(id);
            self.copies.entry(id).or_default();
        }
    }
    /// Takes the data of those away that are no replicas any more.
    pub(super) fn forget_copies(&mut self) {
        let Self { copies, replicas, owner, .. } = self;
        copies.retain(|id, _| replicas.contains(id) || *owner == Some(*id));
    }
}
