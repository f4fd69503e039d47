//! For runtimes that do the processing themselves: one membership and one fetcher for a whole process, events that wait to
//! be acknowledged, and batches that nobody has decoded yet.
//!
//! [`GroupConsumer`] is a member of a group with assignors of its owner's; [`Fetcher`] reads partitions from offsets that it
//! is given, for restoring. Both hand batches out through a [`Feed`].

mod feed;
mod fetcher;
mod group;
mod offsets;

pub use feed::{Feed, FetchedPartition};
pub use fetcher::{FetchOptions, Fetcher};
pub use group::{CommitGuard, GroupConsumer, GroupConsumerConfig};
pub use millstream_client_core::group::assignor::{
    AssignorError, ClusterLayout, GroupMember, PartitionAssignor, RebalanceMode,
};
pub use millstream_client_core::group::{Ack, Assignment, CommitRefused, GroupEvent, LeavePolicy, Subscription};
pub use offsets::end_offsets;
