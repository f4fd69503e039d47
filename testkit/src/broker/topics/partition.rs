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
    /// Counts the changes of what Metadata tells, as the controller does.
    pub(crate) partition_epoch: i32,
    /// The preferred leader first.
    pub(crate) replicas: Vec<NodeId>,
    /// Who has all that was acknowledged.
    pub(crate) isr: Vec<NodeId>,
    /// Who had it when the in-sync replicas became too few (KIP-966): it may lead, too.
    pub(crate) elr: Vec<NodeId>,
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
        // Where nobody is up, all have all that there is: whoever comes first may lead.
        let elr = if leader.is_none() { replicas.clone() } else { Vec::new() };
        let mut log = Log::default();
        log.begin_epoch(0);
        Self {
            leader,
            leader_epoch: 0,
            partition_epoch: 0,
            copies: replicas.iter().map(|id| (*id, Copy::default())).collect(),
            replicas,
            isr,
            elr,
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
        let may_serve = self.leader == Some(node) || self.leader.is_some() && self.replicas.contains(&node);
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
    /// How many in-sync replicas it takes to acknowledge (Kafka's effective minimum: no more than there are replicas).
    pub(crate) fn least_isr(&self, configured: usize) -> usize {
        configured.min(self.replicas.len())
    }
}

// Followers.
impl Partition {
    /// Lets followers fetch, as far as they may, and moves the high watermark. Says whether anything changed that somebody may wait for.
    pub(crate) fn replicate(&mut self, now: Timestamp, nodes: &Nodes, min_isr: usize) -> bool {
        let Some(leader) = self.leader else { return false };
        self.forget_eligible(min_isr);
        let end = self.log.end();
        for (id, copy) in self.copies.iter_mut().filter(|(id, _)| **id != leader) {
            if nodes.replicates(*id) && !copy.is_held {
                copy.catch_up(end);
            } else if copy.end < end {
                copy.behind_since.get_or_insert(now);
            }
        }
        let expands = self.expand_isr(nodes, leader, min_isr);
        self.raise_high_watermark(min_isr) || expands
    }
    // A follower joins when it has what the in-sync replicas have, and its leader's epoch (`Partition.isFollowerInSync`).
    fn expand_isr(&mut self, nodes: &Nodes, leader: NodeId, min_isr: usize) -> bool {
        let least = self.log.high_watermark().max(self.epoch_start);
        let fetches = |id: &NodeId| nodes.replicates(*id) && self.copies.get(id).is_none_or(|copy| !copy.is_held);
        let joins = |id: &NodeId| *id != leader && !self.isr.contains(id) && fetches(id) && self.end_of(*id) >= least;
        let joining: Vec<NodeId> = self.replicas.iter().copied().filter(joins).collect();
        if joining.is_empty() {
            return false;
        }
        self.isr.extend(joining);
        self.partition_epoch += 1;
        self.sort_isr();
        self.forget_eligible(min_isr);
        self.complete_reassignment();
        true
    }
    fn raise_high_watermark(&mut self, min_isr: usize) -> bool {
        if self.isr.len() < self.least_isr(min_isr) {
            // Since KIP-966 nothing is acknowledged below the minimum, whatever its producer asked for.
            return false;
        }
        let common = self.isr.iter().map(|id| self.end_of(*id)).min();
        common.is_some_and(|common| self.log.replicated_to(common))
    }
    fn sort_isr(&mut self) {
        let place = |id: &NodeId| self.replicas.iter().position(|replica| replica == id);
        self.isr.sort_by_key(place);
    }
    fn forget_eligible(&mut self, min_isr: usize) {
        if self.isr.len() >= self.least_isr(min_isr) {
            self.elr.clear();
        }
    }
    /// Takes replicas out of the in-sync ones.
    fn shrink_isr(&mut self, leaves: impl Fn(NodeId) -> bool, min_isr: usize) -> bool {
        let left: Vec<NodeId> = self.isr.iter().copied().filter(|id| leaves(*id)).collect();
        if left.is_empty() {
            return false;
        }
        self.isr.retain(|id| !left.contains(id));
        self.partition_epoch += 1;
        self.elr.extend(left);
        self.forget_eligible(min_isr);
        true
    }
    /// When the next follower will have been behind for too long.
    pub(crate) fn next_lag_deadline(&self, max: Duration) -> Option<Timestamp> {
        let lagging = self.copies.iter().filter(|(id, _)| self.leader != Some(**id) && self.isr.contains(id));
        lagging.filter_map(|(_, copy)| copy.behind_since).min().map(|since| since + max)
    }
    /// Takes followers that have been behind for too long out of the in-sync ones (`replica.lag.time.max.ms`).
    pub(crate) fn expel_lagging(&mut self, now: Timestamp, max: Duration, min_isr: usize) -> bool {
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
    /// Chooses a leader: the present one, or the first replica that has all that was acknowledged. Says whether the leader or its epoch changed.
    pub(crate) fn elect(&mut self, nodes: &Nodes, election: Election) -> bool {
        let may_lead = |id: NodeId| nodes.is_up(id) && (self.isr.contains(&id) || self.elr.contains(&id));
        if self.leader.is_some_and(|leader| may_lead(leader) && self.replicas.contains(&leader)) {
            return false;
        }
        let is_in_sync = |id: &NodeId| nodes.is_up(*id) && self.isr.contains(id);
        let clean = self.replicas.iter().copied().find(is_in_sync);
        let clean = clean.or_else(|| self.replicas.iter().copied().find(|id| may_lead(*id)));
        let unclean = || self.replicas.iter().copied().find(|id| nodes.is_up(*id));
        match (clean, election) {
            (Some(leader), _) => self.lead(Some(leader), nodes),
            (None, Election::Unclean) => self.lead(unclean(), nodes),
            (None, Election::Clean) => self.lead(None, nodes),
        }
    }
    /// Lets the preferred replica lead, if it is in sync.
    pub(crate) fn elect_preferred(&mut self, nodes: &Nodes) -> Result<(), ErrorCode> {
        let preferred = self.replicas.first().copied();
        if self.leader.is_some() && self.leader == preferred {
            return Err(ErrorCode::ELECTION_NOT_NEEDED);
        }
        let fit = preferred.filter(|id| nodes.is_up(*id) && self.isr.contains(id));
        let leader = fit.ok_or(ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE)?;
        self.lead(Some(leader), nodes);
        Ok(())
    }
    /// Gives it another leader, in a new epoch. What the new leader never had is lost.
    pub(crate) fn lead(&mut self, leader: Option<NodeId>, nodes: &Nodes) -> bool {
        let is_other = self.lead_within_epoch(leader, nodes);
        if is_other {
            self.begin_term();
        }
        is_other
    }
    /// The same without a new epoch, as no controller would.
    pub(crate) fn lead_within_epoch(&mut self, leader: Option<NodeId>, nodes: &Nodes) -> bool {
        if self.leader == leader {
            return false;
        }
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
    pub(crate) fn begin_term(&mut self) {
        self.leader_epoch += 1;
        self.partition_epoch += 1;
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
    pub(crate) fn lose(&mut self, node: NodeId, min_isr: usize) -> bool {
        self.shrink_isr(|id| id == node, min_isr)
    }
    /// Adds a replica that has nothing yet.
    pub(crate) fn add_replica(&mut self, id: NodeId) {
        if !self.replicas.contains(&id) {
            self.replicas.push(id);
            self.copies.entry(id).or_default();
        }
    }
    /// Takes a replica and its data away.
    pub(crate) fn remove_replica(&mut self, id: NodeId) {
        self.replicas.retain(|replica| *replica != id);
        self.isr.retain(|replica| *replica != id);
        self.elr.retain(|replica| *replica != id);
        if self.owner != Some(id) {
            self.copies.remove(&id);
        }
    }
}
