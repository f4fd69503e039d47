//! A partition moves to other nodes (KIP-455): replicas are added, and when they are in sync those that are to go are removed.
//!
//! ```text
//!   replicas   those of the request, then those that are to go      while it moves
//!              those of the request                                 once all that were added are in sync
//!              all but those that were added                        when it is taken back
//! ```

use super::partition::{Election, Partition};
use super::topic::MinIsr;
use crate::broker::nodes::Nodes;
use millstream_protocol::NodeId;

/// A move under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reassignment {
    pub(crate) adding: Vec<NodeId>,
    pub(crate) removing: Vec<NodeId>,
}

/// Why a move is not taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Irrevocable {
    /// There is none.
    NotUnderWay,
    /// Nobody was a replica before.
    AddsAll,
    /// Nobody who was in sync would be left to lead.
    Unclean,
}

impl Partition {
    /// Begins to move to these nodes. On top of another move it adds and removes what that one did, unless it adds or removes others itself.
    pub(crate) fn reassign(&mut self, target: Vec<NodeId>, nodes: &Nodes, min_isr: MinIsr) {
        let before = self.reassignment.take();
        let (adding_before, removing_before) = before.map(|under_way| (under_way.adding, under_way.removing)).unzip();
        let adding = sorted_without(&target, &self.replicas);
        let removing = sorted_without(&self.replicas, &target);
        adding.iter().for_each(|id| self.add_replica(*id));
        self.replicas = [target, removing.clone()].concat();
        let or_before = |ids: Vec<NodeId>, before: Option<Vec<NodeId>>| {
            if ids.is_empty() { before.unwrap_or_default() } else { ids }
        };
        let (adding, removing) = (or_before(adding, adding_before), or_before(removing, removing_before));
        if !adding.is_empty() || !removing.is_empty() {
            self.reassignment = Some(Reassignment { adding, removing });
        }
        self.complete_reassignment(nodes, min_isr);
    }
    /// Goes back to where it was.
    pub(crate) fn cancel_reassignment(
        &mut self,
        nodes: &Nodes,
        election: Election,
        min_isr: MinIsr,
    ) -> Result<(), Irrevocable> {
        let Some(Reassignment { adding, .. }) = &self.reassignment else { return Err(Irrevocable::NotUnderWay) };
        let (replicas, mut isr) = (without(&self.replicas, adding), without(&self.isr, adding));
        let Some(first) = replicas.first().copied() else { return Err(Irrevocable::AddsAll) };
        if isr.is_empty() {
            if election == Election::Clean {
                return Err(Irrevocable::Unclean);
            }
            isr.push(first);
        }
        self.reassignment = None;
        self.settle(replicas, isr, nodes, election, min_isr);
        Ok(())
    }
    /// How many replicas there are once the move that is under way is done.
    pub(crate) fn settled_replicas(&self) -> usize {
        let removing = self.reassignment.as_ref().map_or(&[][..], |under_way| &under_way.removing);
        without(&self.replicas, removing).len()
    }
    /// Ends the move once all that were added are in sync; one that takes more replicas than it adds, once all that stay are.
    pub(super) fn complete_reassignment(&mut self, nodes: &Nodes, min_isr: MinIsr) {
        let Some(Reassignment { adding, removing }) = &self.reassignment else { return };
        let (replicas, isr) = (without(&self.replicas, removing), without(&self.isr, removing));
        let has_all = |ids: &[NodeId]| ids.iter().all(|id| isr.contains(id));
        let shrinks = adding.len() < removing.len();
        if !isr.is_empty() && has_all(adding) && (!shrinks || has_all(&replicas)) {
            self.reassignment = None;
            self.settle(replicas, isr, nodes, Election::Clean, min_isr);
        }
    }
    // A replica that goes ends its leader's epoch, even if that one leads on: who fetches as that replica is fenced.
    fn settle(&mut self, replicas: Vec<NodeId>, isr: Vec<NodeId>, nodes: &Nodes, election: Election, min_isr: MinIsr) {
        let loses_a_replica = !without(&self.replicas, &replicas).is_empty();
        let left = without(&self.isr, &isr);
        self.replicas = replicas;
        self.replace_isr(isr, left, min_isr);
        if !self.elect(nodes, election) && loses_a_replica {
            self.begin_leader_epoch();
        }
        self.forget_copies();
    }
}

fn without(ids: &[NodeId], these: &[NodeId]) -> Vec<NodeId> {
    ids.iter().copied().filter(|id| !these.contains(id)).collect()
}
fn sorted_without(ids: &[NodeId], these: &[NodeId]) -> Vec<NodeId> {
    let mut left = without(ids, these);
    left.sort_unstable();
    left
}
