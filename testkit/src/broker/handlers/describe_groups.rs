//! DescribeGroups: classic groups, their members, what these told the assignor and got from it.
//!
//! Versions 0 to 6. Left out: nothing.

use super::told::tells_too_much_of_groups;
use super::{Handler, MOST_COSTLY_THINGS};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::groups::classic::member::Member;
use crate::broker::groups::classic::{ClassicGroup, State};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};
use millstream_protocol::messages::{DescribeGroupsRequest, DescribeGroupsResponse, GroupId, StrBytes};

/// Read, delete, describe, describe and alter its options: what everybody may do with a group, as a bit field.
pub(super) const OPERATIONS: i32 = 0b1101_0100_1000;
/// From this version on a group that is not there is an error.
const NOT_FOUND_SINCE: i16 = 6;

pub(super) struct DescribeGroups;

impl Handler for DescribeGroups {
    type Request = DescribeGroupsRequest;
    const MOST_THINGS: usize = MOST_COSTLY_THINGS;
    fn handle(broker: &mut Broker, call: &Call, request: DescribeGroupsRequest) -> Answer<DescribeGroupsResponse> {
        if tells_too_much_of_groups(broker, request.groups.iter()) {
            return Answer::Reply(Self::refuse(&request, ErrorCode::INVALID_REQUEST));
        }
        let operations = if request.include_authorized_operations { OPERATIONS } else { i32::MIN };
        let groups = request.groups.iter().map(|id| {
            if !broker.is_coordinator(call.node, &id.0) {
                return refused(id, ErrorCode::NOT_COORDINATOR);
            }
            let found = match broker.groups.find_shown(&id.0) {
                None => missing(id, call.version, format!("Group {} not found.", id.0)),
                Some(group) => group.classic().map_or_else(
                    || missing(id, call.version, format!("Group {} is not a classic group.", id.0)),
                    describe,
                ),
            };
            if found.error_code == 0 { found.with_authorized_operations(operations) } else { found }
        });
        Answer::Reply(DescribeGroupsResponse::default().with_groups(groups.collect()))
    }
    fn refuse(request: &DescribeGroupsRequest, code: ErrorCode) -> DescribeGroupsResponse {
        DescribeGroupsResponse::default().with_groups(request.groups.iter().map(|id| refused(id, code)).collect())
    }
}

fn refused(id: &GroupId, code: ErrorCode) -> DescribedGroup {
    DescribedGroup::default().with_group_id(id.clone()).with_error_code(code.get()).with_error_message(None)
}
fn missing(id: &GroupId, version: i16, reason: String) -> DescribedGroup {
    let dead = DescribedGroup::default()
        .with_group_id(id.clone())
        .with_error_message(None)
        .with_group_state(StrBytes::from_static_str("Dead"));
    if version < NOT_FOUND_SINCE {
        return dead;
    }
    dead.with_error_code(ErrorCode::GROUP_ID_NOT_FOUND.get()).with_error_message(Some(StrBytes::from_string(reason)))
}
fn describe(group: &ClassicGroup) -> DescribedGroup {
    let is_stable = group.state == State::Stable;
    let protocol = if is_stable { group.protocol.clone().unwrap_or_default() } else { StrBytes::new() };
    DescribedGroup::default()
        .with_group_id(GroupId(group.id.clone()))
        .with_error_message(None)
        .with_group_state(StrBytes::from_static_str(group.state.name()))
        .with_protocol_type(group.protocol_type.clone().unwrap_or_default())
        .with_members(group.members.values().map(|member| describe_member(member, &protocol)).collect())
        .with_protocol_data(protocol)
}
fn describe_member(member: &Member, protocol: &str) -> DescribedGroupMember {
    DescribedGroupMember::default()
        .with_member_id(member.id.clone())
        .with_group_instance_id(member.instance_id.clone())
        .with_client_id(member.client_id.clone())
        .with_client_host(member.client_host.clone())
        .with_member_metadata(member.metadata(protocol))
        .with_member_assignment(member.assignment.clone())
}
