//! JoinGroup: members of the classic protocol, in a group of either (KIP-848's online migration).
//!
//! Versions 0 to 9. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::bounds::Comer;
use crate::broker::call::{Answer, Call};
use crate::broker::groups::Group;
use crate::broker::groups::classic::join::Joining;
use crate::broker::groups::classic::{in_version, refused_join};
use crate::broker::own;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{JoinGroupRequest, JoinGroupResponse, StrBytes};
use std::time::Duration;

pub(super) struct JoinGroup;

impl Handler for JoinGroup {
    type Request = JoinGroupRequest;
    const MOST_BYTES: usize = usize::MAX;
    fn handle(broker: &mut Broker, call: &Call, request: JoinGroupRequest) -> Answer<JoinGroupResponse> {
        if let Err(code) = check(broker, call, &request) {
            return Answer::Reply(in_version(refused_join(code, request.member_id), call.version));
        }
        let group = request.group_id.0.clone();
        let prefix = request.group_instance_id.as_ref().unwrap_or(&call.client_id).clone();
        let is_consumers = has_consumers(broker, &group);
        let fresh_id = if is_consumers { broker.unique_id() } else { broker.unique_name(&prefix) };
        let session_timeout = Duration::from_millis(u64::from(request.session_timeout_ms.unsigned_abs()));
        // Version 0 has no timeout of its own for rebalances.
        let rebalance_timeout = if call.version == 0 {
            session_timeout
        } else {
            Duration::from_millis(u64::from(request.rebalance_timeout_ms.max(0).unsigned_abs()))
        };
        let joining = Joining {
            call: call.clone(),
            member_id: own::text(&request.member_id),
            instance_id: request.group_instance_id.as_ref().map(own::text),
            fresh_id,
            session_timeout,
            rebalance_timeout,
            protocol_type: own::text(&request.protocol_type),
            protocols: request
                .protocols
                .iter()
                .map(|each| (own::text(&each.name), own::bytes(&each.metadata)))
                .collect(),
        };
        if is_consumers {
            let response = broker.with_consumer(&group, |group, ctx| group.handle_classic_join(joining, ctx));
            broker.resolve_expressions(&group, call);
            let response = response.unwrap_or_else(|| refused_join(ErrorCode::UNKNOWN_MEMBER_ID, StrBytes::new()));
            return Answer::Reply(in_version(response, call.version));
        }
        broker.with_classic(&group, |group, rules| group.handle_join(joining, rules));
        Answer::Later
    }
    fn when_full(_: &Broker, _: &JoinGroupRequest) -> Option<ErrorCode> {
        Some(ErrorCode::GROUP_MAX_SIZE_REACHED)
    }
    fn comer(broker: &Broker, request: &JoinGroupRequest) -> Comer {
        Comer::who(broker.groups.has_member(
            &request.group_id.0,
            &request.member_id,
            request.group_instance_id.as_deref(),
        ))
    }
    fn refuse(_: &JoinGroupRequest, code: ErrorCode) -> JoinGroupResponse {
        refused_join(code, StrBytes::new())
    }
    fn fit(response: &mut JoinGroupResponse, version: i16) {
        *response = in_version(std::mem::take(response), version);
    }
}

/// Whether members of the consumer protocol are in the group.
fn has_consumers(broker: &Broker, group: &str) -> bool {
    broker.groups.find(group).and_then(Group::consumer).is_some_and(|group| !group.members.is_empty())
}
fn check(broker: &mut Broker, call: &Call, request: &JoinGroupRequest) -> Result<(), ErrorCode> {
    if request.group_id.0.is_empty() {
        return Err(ErrorCode::INVALID_GROUP_ID);
    }
    if !broker.is_coordinator(call.node, &request.group_id.0) {
        return Err(ErrorCode::NOT_COORDINATOR);
    }
    let limits = broker.settings.group_min_session_timeout_ms..=broker.settings.group_max_session_timeout_ms;
    if !limits.contains(&i64::from(request.session_timeout_ms)) {
        return Err(ErrorCode::INVALID_SESSION_TIMEOUT);
    }
    if request.member_id.is_empty() {
        return Ok(());
    }
    // A member that knows its id comes back to a group; one that is gone knows nobody, nor does an empty one of the other protocol.
    broker.groups.forget_empty(&request.group_id.0);
    broker.groups.find(&request.group_id.0).map_or(Err(ErrorCode::UNKNOWN_MEMBER_ID), |_| Ok(()))
}
