//! Which replica a consumer is sent to (KIP-392): with `RackAwareReplicaSelector`, one in its rack that has what it asks for.

use super::plan::{Plan, Want};
use crate::broker::Broker;
use crate::broker::settings::ReplicaSelector;
use crate::broker::topics::partition::Partition;
use millstream_protocol::NodeId;

impl Broker {
    /// The replica that a consumer does better to ask; none when it is here already.
    pub(super) fn preferred_replica(&self, plan: &Plan, want: &Want, partition: &Partition) -> Option<NodeId> {
        let chooses = self.settings.replica_selector == ReplicaSelector::RackAware && !plan.rack.is_empty();
        if !chooses || partition.leader != Some(plan.call.node) {
            return None;
        }
        let is_near = |id: &NodeId| self.nodes.find(*id).is_some_and(|node| node.rack.as_ref() == Some(&plan.rack));
        let has_it = |id: &NodeId| self.nodes.is_up(*id) && partition.end_of(*id) >= want.offset;
        let near: Vec<NodeId> = partition.replicas.iter().copied().filter(is_near).filter(has_it).collect();
        if near.contains(&plan.call.node) {
            return None;
        }
        // The one that is furthest; of equals the first.
        near.into_iter().rev().max_by_key(|id| partition.end_of(*id))
    }
}
