//! Heartbeat: members of the classic protocol, in a group of either.
//!
//! Versions 0 to 4. Left out: nothing.

use super::{Handler, code_of};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{HeartbeatRequest, HeartbeatResponse};

pub(super) struct Heartbeat;

impl Handler for Heartbeat {
    type Request = HeartbeatRequest;
    fn handle(broker: &mut Broker, call: &Call, request: HeartbeatRequest) -> Answer<HeartbeatResponse> {
        let result = broker.check_group(call, &request.group_id.0, ErrorCode::UNKNOWN_MEMBER_ID).and_then(|()| {
            let (group, member_id, instance_id) =
                (&request.group_id.0, &request.member_id, request.group_instance_id.as_deref());
            let in_consumer_group = broker.with_consumer(group, |group, ctx| {
                group.handle_classic_heartbeat(member_id, instance_id, request.generation_id, ctx)
            });
            in_consumer_group.unwrap_or_else(|| {
                broker.with_classic(group, |group, rules| {
                    group.handle_heartbeat(member_id, instance_id, request.generation_id, rules)
                })
            })
        });
        Answer::Reply(HeartbeatResponse::default().with_error_code(code_of(result)))
    }
    fn refuse(_: &HeartbeatRequest, code: ErrorCode) -> HeartbeatResponse {
        HeartbeatResponse::default().with_error_code(code.get())
    }
}
