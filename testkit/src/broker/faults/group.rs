//! Which group a request is about.

use millstream_protocol::ApiKey;
use millstream_protocol::messages::{
    AddOffsetsToTxnRequest, ConsumerGroupHeartbeatRequest, HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest,
    OffsetCommitRequest, OffsetDeleteRequest, OffsetFetchRequest, Request, SyncGroupRequest, TxnOffsetCommitRequest,
};
use std::any::Any;

macro_rules! with_group {
    ($($request:ty),* $(,)?) => {
        /// The APIs whose requests are about a group.
        pub(crate) const APIS_OF_GROUPS: &[ApiKey] = &[$(<$request as Request>::KEY,)* ApiKey::OFFSET_FETCH];

        fn group_id(request: &dyn Any) -> Option<&str> {
            $(if let Some(request) = request.downcast_ref::<$request>() {
                return Some(request.group_id.as_str());
            })*
            None
        }
    };
}
with_group! {
    JoinGroupRequest,
    SyncGroupRequest,
    HeartbeatRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    AddOffsetsToTxnRequest,
    TxnOffsetCommitRequest,
    ConsumerGroupHeartbeatRequest,
}

/// The group that a request is about, if it is about one.
pub(super) fn of(request: &dyn Any) -> Option<&str> {
    let Some(fetch) = request.downcast_ref::<OffsetFetchRequest>() else { return group_id(request) };
    // From version 8 on it names several; it is about the first.
    let first = fetch.groups.first().map_or(fetch.group_id.as_str(), |group| group.group_id.as_str());
    Some(first)
}
