//! Which group a request is about.

use millstream_protocol::messages::{
    AddOffsetsToTxnRequest, ConsumerGroupHeartbeatRequest, HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest,
    OffsetCommitRequest, OffsetDeleteRequest, OffsetFetchRequest, SyncGroupRequest, TxnOffsetCommitRequest,
};
use std::any::Any;

/// The group that a request is about, if it is about one.
pub(super) fn of(request: &dyn Any) -> Option<&str> {
    macro_rules! look {
        ($($request:ty),* $(,)?) => {
            $(if let Some(request) = request.downcast_ref::<$request>() {
                return Some(request.group_id.as_str());
            })*
        };
    }
    look!(
        JoinGroupRequest,
        SyncGroupRequest,
        HeartbeatRequest,
        LeaveGroupRequest,
        OffsetCommitRequest,
        OffsetDeleteRequest,
        AddOffsetsToTxnRequest,
        TxnOffsetCommitRequest,
        ConsumerGroupHeartbeatRequest,
    );
    let fetch = request.downcast_ref::<OffsetFetchRequest>()?;
    // From version 8 on it names several; it is about the first.
    let first = fetch.groups.first().map_or(fetch.group_id.as_str(), |group| group.group_id.as_str());
    Some(first)
}
