//! A partition moves to other nodes (KIP-455): replicas are added, and when they are in sync those that are to go are removed.

use super::partition::Partition;
use crate::broker::nodes::Nodes;
use millstream_protocol::NodeId;

/// A move under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reassignment {
    pub(crate) adding: Vec<NodeId>,
    pub(crate) removing: Vec<NodeId>,
    /// The replicas when it is done.
    target: Vec<NodeId>,
    /// The replicas before it.
    before: Vec<NodeId>,
}

impl Partition {
    /// Begins to move to these nodes.
    pub(crate) fn reassign(&mut self, target: Vec<NodeId>) {
        let before = self.reassignment.take().map_or_else(|| self.replicas.clone(), |under_way| under_way.before);
        let adding: Vec<NodeId> = target.iter().copied().filter(|id| !before.contains(id)).collect();
        let removing: Vec<NodeId> = before.iter().copied().filter(|id| !target.contains(id)).collect();
        let gone: Vec<NodeId> =
            self.replicas.iter().copied().filter(|id| !target.contains(id) && !before.contains(id)).collect();
        gone.into_iter().for_each(|id| self.remove_replica(id));
        target.iter().for_each(|id| self.add_replica(*id));
        let rest = self.replicas.iter().copied().filter(|id| !target.contains(id));
        self.replicas = target.iter().copied().chain(rest).collect();
        self.partition_epoch += 1;
        if adding.is_empty() && removing.is_empty() {
            return;
        }
        self.reassignment = Some(Reassignment { adding, removing, target, before });
        self.complete_reassignment();
    }
    /// Goes back to where it was; says whether a move was under way.
    pub(crate) fn cancel_reassignment(&mut self) -> bool {
        let Some(Reassignment { adding, before, .. }) = self.reassignment.take() else { return false };
        adding.into_iter().for_each(|id| self.remove_replica(id));
        self.replicas = before;
        self.partition_epoch += 1;
        true
    }
    /// Ends the move once all that were added are in sync.
    pub(super) fn complete_reassignment(&mut self) {
        let is_done = |move_: &Reassignment| move_.adding.iter().all(|id| self.isr.contains(id));
        let Some(Reassignment { removing, target, .. }) = self.reassignment.take_if(|move_| is_done(move_)) else {
            return;
        };
        removing.into_iter().for_each(|id| self.remove_replica(id));
        self.replicas = target;
        self.partition_epoch += 1;
    }
    /// Chooses a leader among those that stay, when the present one has gone with the move.
    pub(crate) fn leave_removed(&mut self, nodes: &Nodes) -> bool {
        let has_gone = self.leader.is_some_and(|leader| !self.replicas.contains(&leader));
        has_gone && self.elect(nodes, super::partition::Election::Clean)
    }
}
