//! AddRaftVoter (KIP-853): a controller that had lost its vote has it again.
//!
//! Versions 0 to 1. Left out: controllers of other processes, which cannot be reached.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::quorum::{LISTENER, Refusal, Voter, told};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::add_raft_voter_request::Listener;
use millstream_protocol::messages::{AddRaftVoterRequest, AddRaftVoterResponse, StrBytes};

pub(super) struct AddRaftVoter;

impl Handler for AddRaftVoter {
    type Request = AddRaftVoterRequest;
    fn handle(broker: &mut Broker, _: &Call, request: AddRaftVoterRequest) -> Answer<AddRaftVoterResponse> {
        let (code, reason) = told(add(broker, &request));
        Answer::Reply(answer(code, reason))
    }
    fn refuse(_: &AddRaftVoterRequest, code: ErrorCode) -> AddRaftVoterResponse {
        answer(code, StrBytes::from_static_str(code.message()))
    }
}

fn answer(code: ErrorCode, reason: StrBytes) -> AddRaftVoterResponse {
    AddRaftVoterResponse::default().with_error_code(code.get()).with_error_message(Some(reason))
}
fn add(broker: &mut Broker, request: &AddRaftVoterRequest) -> Result<(), Refusal> {
    broker.check_cluster_id(request.cluster_id.as_ref())?;
    let voter = Voter::named(request.voter_id, request.voter_directory_id, "Add")?;
    if !request.listeners.iter().any(|listener| listener.name.as_str() == LISTENER) {
        let reason = format!(
            "Add voter request didn't include the endpoint (Endpoints(endpoints={})) for the default listener ListenerName({LISTENER})",
            endpoints(&request.listeners)
        );
        return Err((ErrorCode::INVALID_REQUEST, reason));
    }
    broker.seat(voter)
}
fn endpoints(listeners: &[Listener]) -> String {
    let told =
        listeners.iter().map(|each| format!("ListenerName({})={}/<unresolved>:{}", each.name, each.host, each.port));
    format!("{{{}}}", told.collect::<Vec<_>>().join(", "))
}
