//! Cooperative sticky (KIP-429): balanced, moving as little as can be; a partition that changes hands is in nobody's
//! assignment in the round that takes it away, so that its owner lets go before the next one starts.

use super::sticky::{self, Place, Problem};
use super::{AssignorError, ClusterLayout, GroupMember, PartitionAssignor, RebalanceMode};
use crate::group::Assignment;
use bytes::Bytes;
use millstream_protocol::{TopicName, TopicPartition};
use std::collections::BTreeSet;

/// Kafka's `cooperative-sticky`.
///
/// Members that want different topics may never settle, as with Kafka's own class: some groups hand a few partitions back and forth
/// in every round. Groups whose members want the same topics settle.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CooperativeSticky {
    generation: i32,
}

impl CooperativeSticky {
    /// The assignor.
    #[must_use]
    pub const fn new() -> Self {
        Self { generation: -1 }
    }
}
impl Default for CooperativeSticky {
    fn default() -> Self {
        Self::new()
    }
}

impl PartitionAssignor for CooperativeSticky {
    fn name(&self) -> &'static str {
        "cooperative-sticky"
    }
    fn rebalance_mode(&self) -> RebalanceMode {
        RebalanceMode::Cooperative
    }
    /// The generation, for leaders that do not read it from the subscription (before KIP-792).
    fn subscription_user_data(&mut self, _: &[TopicName], _: &BTreeSet<TopicPartition>) -> Option<Bytes> {
        Some(Bytes::copy_from_slice(&self.generation.to_be_bytes()))
    }
    fn assign(&mut self, members: &[GroupMember], layout: &ClusterLayout) -> Result<Vec<Assignment>, AssignorError> {
        let generations: Vec<Option<i32>> = members.iter().map(generation_of).collect();
        let problem = Problem::new(members, &generations, layout);
        let mut solution = sticky::solve(&problem);
        let moving = solution.moving.take().unwrap_or_else(|| moving(&problem, &solution.shares));
        for share in &mut solution.shares {
            share.retain(|place| !moving.contains(place));
        }
        let assignments = solution.shares.iter().map(|share| Assignment::of(problem.partitions(share)));
        Ok(assignments.collect())
    }
    fn on_assignment(&mut self, _: &Assignment, generation: i32) {
        self.generation = generation;
    }
}

fn generation_of(member: &GroupMember) -> Option<i32> {
    let in_user_data = || {
        let bytes = member.subscription.user_data.as_deref()?;
        let generation = bytes.first_chunk::<4>().map_or(-1, |bytes| i32::from_be_bytes(*bytes));
        Some(generation)
    };
    member.subscription.generation.or_else(in_user_data)
}

/// Partitions that somebody gains and somebody else, who still has them, loses.
fn moving(problem: &Problem<'_>, shares: &[Vec<Place>]) -> BTreeSet<Place> {
    let mut gained = BTreeSet::new();
    let mut lost = BTreeSet::new();
    for (member, share) in shares.iter().enumerate() {
        let owned = problem.owned_as_told(member);
        let has: BTreeSet<Place> = share.iter().copied().collect();
        gained.extend(has.difference(&owned));
        lost.extend(owned.difference(&has));
    }
    gained.intersection(&lost).copied().collect()
}
