//! LeaveGroup: one member (up to version 2) or several, by member id or instance id.
//!
//! Versions 0 to 5. Left out: the reason (KIP-800), which is read and dropped.

use super::{Handler, code_of};
use crate::broker::Broker;
use crate::broker::bounds::Comer;
use crate::broker::call::{Answer, Call};
use crate::broker::groups::classic::leave::Leaver;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::leave_group_request::MemberIdentity;
use millstream_protocol::messages::leave_group_response::MemberResponse;
use millstream_protocol::messages::{LeaveGroupRequest, LeaveGroupResponse};

pub(super) struct LeaveGroup;

impl Handler for LeaveGroup {
    type Request = LeaveGroupRequest;
    fn handle(broker: &mut Broker, call: &Call, request: LeaveGroupRequest) -> Answer<LeaveGroupResponse> {
        match broker.check_group(call, &request.group_id.0, ErrorCode::UNKNOWN_MEMBER_ID) {
            // In a group that is not there nobody is a member.
            Err(code @ ErrorCode::UNKNOWN_MEMBER_ID) if call.version >= 3 => {
                let members = request.members.iter().map(|member| answer(member, code.get())).collect();
                return Answer::Reply(LeaveGroupResponse::default().with_members(members));
            }
            Err(code) => return Answer::Reply(Self::refuse(&request, code)),
            Ok(()) => {}
        }
        if call.version < 3 {
            let codes = leave(broker, &request, &[(&request.member_id, None)]);
            return Answer::Reply(LeaveGroupResponse::default().with_error_code(codes.first().copied().unwrap_or(0)));
        }
        let leavers = request.members.iter().map(|each| (each.member_id.as_str(), each.group_instance_id.as_deref()));
        let codes = leave(broker, &request, &leavers.collect::<Vec<_>>());
        let members = request.members.iter().zip(codes).map(|(member, code)| answer(member, code)).collect();
        Answer::Reply(LeaveGroupResponse::default().with_members(members))
    }
    fn when_full(_: &Broker, _: &LeaveGroupRequest) -> Option<ErrorCode> {
        Some(ErrorCode::GROUP_MAX_SIZE_REACHED)
    }
    fn comer(_: &Broker, _: &LeaveGroupRequest) -> Comer {
        Comer::Ending
    }
    fn refuse(_: &LeaveGroupRequest, code: ErrorCode) -> LeaveGroupResponse {
        LeaveGroupResponse::default().with_error_code(code.get())
    }
}

/// Lets members go, each named by its id, its instance's id or both; what follows for the group is written and told once.
fn leave(broker: &mut Broker, request: &LeaveGroupRequest, leavers: &[Leaver<'_>]) -> Vec<i16> {
    let group = &request.group_id.0;
    let in_consumer_group = broker.with_consumer(group, |group, ctx| group.handle_classic_leaves(leavers, ctx));
    let results = in_consumer_group
        .unwrap_or_else(|| broker.with_classic(group, |group, rules| group.handle_leaves(leavers, rules)));
    results.into_iter().map(code_of).collect()
}
fn answer(member: &MemberIdentity, code: i16) -> MemberResponse {
    MemberResponse::default()
        .with_member_id(member.member_id.clone())
        .with_group_instance_id(member.group_instance_id.clone())
        .with_error_code(code)
}
