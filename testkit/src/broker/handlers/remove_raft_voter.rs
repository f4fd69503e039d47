//! RemoveRaftVoter (KIP-853): a controller votes no longer, and reads along.
//!
//! Version 0. Left out: the controller that is asked to go stays the active one.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::quorum::{Refusal, Voter, told};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{RemoveRaftVoterRequest, RemoveRaftVoterResponse, StrBytes};

pub(super) struct RemoveRaftVoter;

impl Handler for RemoveRaftVoter {
    type Request = RemoveRaftVoterRequest;
    fn handle(broker: &mut Broker, _: &Call, request: RemoveRaftVoterRequest) -> Answer<RemoveRaftVoterResponse> {
        let (code, reason) = told(remove(broker, &request));
        Answer::Reply(answer(code, reason))
    }
    fn refuse(_: &RemoveRaftVoterRequest, code: ErrorCode) -> RemoveRaftVoterResponse {
        answer(code, StrBytes::from_static_str(code.message()))
    }
}

fn answer(code: ErrorCode, reason: StrBytes) -> RemoveRaftVoterResponse {
    RemoveRaftVoterResponse::default().with_error_code(code.get()).with_error_message(Some(reason))
}
fn remove(broker: &mut Broker, request: &RemoveRaftVoterRequest) -> Result<(), Refusal> {
    broker.check_cluster_id(request.cluster_id.as_ref())?;
    let voter = Voter::named(request.voter_id, request.voter_directory_id, "Remove")?;
    broker.unseat(voter)
}
