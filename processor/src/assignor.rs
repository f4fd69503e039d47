//! The group's assignor of a streams application: the decisions are `millstream_processor_core::assign`'s.

use crate::standstill::GivenUp;
use crate::state_dir::StateDir;
use bytes::Bytes;
use millstream_client::runtime_consumer::{
    Assignment, AssignorError, ClusterLayout, GroupMember, PartitionAssignor, RebalanceMode, Subscription,
};
use millstream_processor_core::Topology;
use millstream_processor_core::assign::{ASSIGNOR_NAME, MemberFacts, UserData, assign};
use millstream_protocol::{TopicName, TopicPartition};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Assigns tasks: partition p of all of a sub-topology's topics goes to one member.
#[derive(Debug)]
pub(crate) struct TaskAssignor {
    topology: Topology,
    application_id: String,
    state_dir: Arc<StateDir>,
    given_up: Arc<GivenUp>,
}

impl TaskAssignor {
    pub(crate) const fn new(
        topology: Topology,
        application_id: String,
        state_dir: Arc<StateDir>,
        given_up: Arc<GivenUp>,
    ) -> Self {
        Self { topology, application_id, state_dir, given_up }
    }
}

impl PartitionAssignor for TaskAssignor {
    fn name(&self) -> &str {
        ASSIGNOR_NAME
    }

    fn rebalance_mode(&self) -> RebalanceMode {
        RebalanceMode::Cooperative
    }

    fn subscription_user_data(&mut self, _topics: &[TopicName], _owned: &BTreeSet<TopicPartition>) -> Option<Bytes> {
        let process_id = self.state_dir.process_id().to_be_bytes();
        Some(UserData { process_id, local_state: self.state_dir.tasks(), given_up: self.given_up.tasks() }.encode())
    }

    fn assign(&mut self, members: &[GroupMember], layout: &ClusterLayout) -> Result<Vec<Assignment>, AssignorError> {
        let count =
            |topic: &TopicName| layout.partition_count(topic.as_str()).and_then(|count| i32::try_from(count).ok());
        let tasks = self.topology.tasks(&self.application_id, count);
        let facts: Vec<MemberFacts> = members.iter().map(facts).collect();
        let answers = assign(&tasks, &facts);
        // Answers come in the order of ids, and are wanted in the members' own.
        let of = |member: &GroupMember| answers.iter().find(|answer| answer.member_id == member.member_id);
        let partitions = |member| of(member).map(|answer| answer.partitions.clone()).unwrap_or_default();
        Ok(members.iter().map(|member| Assignment::of(partitions(member))).collect())
    }
}

fn facts(member: &GroupMember) -> MemberFacts {
    let Subscription { topics, owned, generation, user_data, .. } = &member.subscription;
    MemberFacts {
        member_id: member.member_id.clone(),
        topics: topics.clone(),
        owned: owned.clone(),
        generation: *generation,
        user_data: user_data.clone().unwrap_or_default(),
    }
}
