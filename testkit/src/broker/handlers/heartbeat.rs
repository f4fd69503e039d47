//! Heartbeat: classic groups.

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
            broker.with_group(&request.group_id.0, |group, rules| {
                group.handle_heartbeat(
                    &request.member_id,
                    request.group_instance_id.as_deref(),
                    request.generation_id,
                    rules,
                )
            })
        });
        Answer::Reply(HeartbeatResponse::default().with_error_code(code_of(result)))
    }
    fn refuse(_: &HeartbeatRequest, code: ErrorCode) -> HeartbeatResponse {
        HeartbeatResponse::default().with_error_code(code.get())
    }
}
