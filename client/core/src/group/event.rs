//! What a member gives out, and what it is told about failures.

use super::request::Leave;
use bytes::Bytes;
use millstream_protocol::messages::{HeartbeatRequest, JoinGroupRequest, SyncGroupRequest};
use millstream_protocol::{ErrorCode, TopicName, TopicPartition};
use std::collections::BTreeSet;
use std::time::Duration;

/// What is to be done for a member.
#[derive(Debug)]
#[non_exhaustive]
pub enum Action {
    /// Send to the coordinator, answer to `handle_join`. The answer may take as long as the timeout: the whole group's rebalance.
    Join(Call, Box<JoinGroupRequest>, Duration),
    /// Send to the coordinator, answer to `handle_sync`.
    Sync(Call, Box<SyncGroupRequest>, Duration),
    /// Send to the coordinator, answer to `handle_heartbeat`.
    Heartbeat(Call, Box<HeartbeatRequest>),
    /// Send to the coordinator, answer to `handle_left`. Not behind a JoinGroup that waits.
    Leave(Call, Leave),
    /// This member leads: ask the cluster, afresh, for these topics' partitions and give them to `handle_layout`.
    FetchLayout(Call, BTreeSet<TopicName>),
    /// The coordinator is another one now, or gone: look it up before the next request.
    ForgetCoordinator,
    /// Tell the application.
    Event(GroupEvent),
}

/// One question to the coordinator or the cluster, to be given back with its answer: the member may have gone on without it meanwhile, and asks again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call(pub(super) u64);

/// What happened to the membership, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupEvent {
    /// These are the member's until acknowledged; commits for them still pass.
    Revoking {
        /// The partitions on their way out.
        partitions: Vec<TopicPartition>,
        /// To be given back when they are let go.
        ack: Ack,
    },
    /// A rebalance is complete.
    Assigned {
        /// The partitions that were not the member's before.
        added: Vec<TopicPartition>,
        /// All of the member's partitions.
        all: BTreeSet<TopicPartition>,
        /// What the leader's assignor said to this member's.
        user_data: Option<Bytes>,
        /// The generation that the assignment belongs to.
        generation: i32,
    },
    /// These are somebody else's already; commits for them are refused. The member joins again after the acknowledgement.
    Lost {
        /// The partitions that are gone.
        partitions: Vec<TopicPartition>,
        /// To be given back when everything about them is dropped.
        ack: Ack,
    },
    /// The membership is over for good.
    Failed(GroupError),
}

/// Acknowledges one event. One that came too late is of no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack(pub(super) u64);

/// Why a membership cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// The coordinator refused for good.
    #[error("group `{group}`: the coordinator refused to {attempt}: {code}")]
    Refused {
        /// The group.
        group: String,
        /// What was asked.
        attempt: &'static str,
        /// The answer.
        code: ErrorCode,
    },
    /// Another process runs with the same `group.instance.id`.
    #[error("group `{group}`: another member with group.instance.id `{instance}` took over; give each process its own")]
    Fenced {
        /// The group.
        group: String,
        /// The shared id.
        instance: String,
    },
    /// The coordinator picked a protocol that was not offered, or sent what is not one.
    #[error("group `{group}`: {problem}")]
    Protocol {
        /// The group.
        group: String,
        /// What was wrong.
        problem: String,
    },
}

/// Why a request to the coordinator has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// Not reached, cut off or out of time: to be tried again, perhaps elsewhere.
    Unavailable,
    /// It can never succeed.
    Fatal(String),
}

/// Who commits: the member as it was when the commit began.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommitStamp {
    /// The generation, −1 outside a group.
    pub generation: i32,
    /// The member's id.
    pub member_id: String,
    /// `group.instance.id`.
    pub instance_id: Option<String>,
}

/// Why nothing may be committed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommitRefused {
    /// The member has joined but not yet got its assignment: the coordinator would refuse.
    #[error("the group is rebalancing")]
    Rebalancing,
    /// The member is in no generation.
    #[error("this consumer is not a member of its group now")]
    NotMember,
}
