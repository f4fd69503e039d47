//! Who runs which task: millstream's own assignor, cooperative, sticky and balanced. It decides; the group's protocol is elsewhere.
//!
//! Partition p of all of a sub-topology's topics goes to one member. A task that moves is in nobody's assignment in the round
//! that takes it away, so its new owner gets it only after the old one has let go (KIP-429).

mod balance;
mod ownership;
mod tasks;
mod user_data;

pub use tasks::{SubtopologyTopics, TaskPartitions};
pub use user_data::UserData;

use crate::TaskId;
use balance::Placement;
use bytes::Bytes;
use millstream_protocol::hash::HashSet;
use millstream_protocol::{TopicName, TopicPartition};
use ownership::Claims;

/// The assignor's name in the group's protocol: members agree on one that all of them know.
pub const ASSIGNOR_NAME: &str = "millstream";

/// What the leader knows of a member.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "plain facts that the caller collects")]
pub struct MemberFacts {
    /// The member.
    pub member_id: String,
    /// What it subscribes to.
    pub topics: Vec<TopicName>,
    /// The partitions that it says it owns.
    pub owned: Vec<TopicPartition>,
    /// The generation in which it came to own them; none if its client does not say (KIP-792).
    pub generation: Option<i32>,
    /// What it says about itself: [`UserData`], read tolerantly.
    pub user_data: Bytes,
}

/// What a member is to run in this round.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain results that the caller passes on")]
pub struct MemberTasks {
    /// The member.
    pub member_id: String,
    /// Its tasks, in order.
    pub tasks: Vec<TaskId>,
    /// Its tasks' partitions, in order.
    pub partitions: Vec<TopicPartition>,
}

/// Assigns every task for which a member subscribes to all topics and has not given it up. Terminates for any input; the same input, in any order of
/// members, gives the same answer. Members are answered in the order of their ids.
#[must_use]
pub fn assign(tasks: &TaskPartitions, members: &[MemberFacts]) -> Vec<MemberTasks> {
    let mut members: Vec<&MemberFacts> = members.iter().collect();
    members.sort_by(|left, right| left.member_id.cmp(&right.member_id));
    let claims = Claims::of(tasks, &members);
    let said: Vec<UserData> = members.iter().map(|member| UserData::decode(&member.user_data)).collect();
    let local_state = each(tasks, &said, |said| &said.local_state);
    let given_up = each(tasks, &said, |said| &said.given_up);
    let mut placement = Placement::new(tasks, eligible(tasks, &members), local_state, given_up);
    placement.keep(claims.owners());
    placement.place_rest();
    placement.even_out();
    let mut answers: Vec<MemberTasks> = members.iter().map(|member| MemberTasks::none(&member.member_id)).collect();
    for (task, owner) in placement.owners().iter().enumerate() {
        if let Some(owner) = *owner
            && claims.is_free_for(task, owner)
        {
            answers[owner].tasks.push(tasks.id(task));
            answers[owner].partitions.extend(tasks.partitions_of(task));
        }
    }
    answers
}

impl MemberTasks {
    fn none(member_id: &str) -> Self {
        Self { member_id: member_id.to_owned(), tasks: Vec::new(), partitions: Vec::new() }
    }
}

/// Per sub-topology and member, whether the member subscribes to all of its topics: during a rolling upgrade some may not.
fn eligible(tasks: &TaskPartitions, members: &[&MemberFacts]) -> Vec<Vec<bool>> {
    let topics: Vec<HashSet<&TopicName>> = members.iter().map(|member| member.topics.iter().collect()).collect();
    let subscribes =
        |needed: &[TopicName]| topics.iter().map(|has| needed.iter().all(|topic| has.contains(topic))).collect();
    tasks.subtopologies().iter().map(|subtopology| subscribes(&subtopology.topics)).collect()
}

/// Per member, some of the tasks that it names.
fn each(tasks: &TaskPartitions, said: &[UserData], which: impl Fn(&UserData) -> &Vec<TaskId>) -> Vec<HashSet<usize>> {
    said.iter().map(|said| which(said).iter().filter_map(|id| tasks.position(*id)).collect()).collect()
}

#[cfg(test)]
mod tests;
