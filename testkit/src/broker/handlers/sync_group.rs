//! SyncGroup: members of the classic protocol, in a group of either.
//!
//! Versions 0 to 5. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::bounds::Comer;
use crate::broker::call::{Answer, Call};
use crate::broker::groups::classic::refused_sync;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{SyncGroupRequest, SyncGroupResponse};

/// From this version on a member says which protocol it means (KIP-559).
const PROTOCOL_SINCE: i16 = 5;

pub(super) struct SyncGroup;

impl Handler for SyncGroup {
    type Request = SyncGroupRequest;
    const MOST_BYTES: usize = usize::MAX;
    fn handle(broker: &mut Broker, call: &Call, request: SyncGroupRequest) -> Answer<SyncGroupResponse> {
        let names_protocol = request.protocol_type.is_some() && request.protocol_name.is_some();
        if call.version >= PROTOCOL_SINCE && !names_protocol {
            return Answer::Reply(refused_sync(ErrorCode::INCONSISTENT_GROUP_PROTOCOL));
        }
        if let Err(code) = broker.check_group(call, &request.group_id.0, ErrorCode::UNKNOWN_MEMBER_ID) {
            return Answer::Reply(refused_sync(code));
        }
        let group = request.group_id.0.clone();
        if let Some(response) = broker.with_consumer(&group, |group, ctx| group.handle_classic_sync(&request, ctx)) {
            return Answer::Reply(response);
        }
        broker.with_classic(&group, |group, rules| group.handle_sync(call.clone(), request, rules));
        Answer::Later
    }
    fn when_full(_: &Broker, request: &SyncGroupRequest) -> Option<ErrorCode> {
        (!request.assignments.is_empty()).then_some(ErrorCode::GROUP_MAX_SIZE_REACHED)
    }
    fn comer(broker: &Broker, request: &SyncGroupRequest) -> Comer {
        Comer::who(broker.groups.has_member(
            &request.group_id.0,
            &request.member_id,
            request.group_instance_id.as_deref(),
        ))
    }
    fn refuse(_: &SyncGroupRequest, code: ErrorCode) -> SyncGroupResponse {
        refused_sync(code)
    }
}

impl Broker {
    /// Whether this node answers for a group that there is; `missing` says that there is none.
    pub(in crate::broker) fn check_group(&self, call: &Call, group: &str, missing: ErrorCode) -> Result<(), ErrorCode> {
        if group.is_empty() {
            return Err(ErrorCode::INVALID_GROUP_ID);
        }
        if !self.is_coordinator(call.node, group) {
            return Err(ErrorCode::NOT_COORDINATOR);
        }
        if self.groups.find(group).is_some() { Ok(()) } else { Err(missing) }
    }
}
