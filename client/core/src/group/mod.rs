//! Classic consumer groups: who is a member, who reads what, and what may be committed when.
//!
//! [`Member`] is one member's state machine. It asks for requests through [`Member::poll_action`], is told the answers
//! through `handle_*`, and gives out [`GroupEvent`]s, of which revocations and losses wait to be acknowledged. Who reads
//! what is decided by an [`assignor::PartitionAssignor`] in the member that the coordinator made leader.

mod assignment;
pub mod assignor;
mod config;
mod event;
mod member;
mod request;
mod subscription;
mod wire;

pub use assignment::Assignment;
pub use config::{LeavePolicy, MemberConfig};
pub use event::{Ack, Action, Call, CommitRefused, CommitStamp, Failure, GroupError, GroupEvent};
pub use member::Member;
pub use request::{GroupMetadata, Leave};
pub use subscription::Subscription;
pub use wire::WireError;
