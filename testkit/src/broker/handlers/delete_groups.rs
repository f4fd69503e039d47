//! DeleteGroups: groups without members, each once.
//!
//! Versions 0 to 3. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::delete_groups_response::DeletableGroupResult;
use millstream_protocol::messages::{DeleteGroupsRequest, DeleteGroupsResponse, GroupId};
use std::collections::BTreeSet;

pub(super) struct DeleteGroups;

impl Handler for DeleteGroups {
    type Request = DeleteGroupsRequest;
    fn handle(broker: &mut Broker, call: &Call, request: DeleteGroupsRequest) -> Answer<DeleteGroupsResponse> {
        let results = each_once(&request.groups_names)
            .map(|id| result(id, delete(broker, call, &id.0).err().unwrap_or(ErrorCode::NONE)))
            .collect();
        Answer::Reply(DeleteGroupsResponse::default().with_results(results))
    }
    fn refuse(request: &DeleteGroupsRequest, code: ErrorCode) -> DeleteGroupsResponse {
        let results = each_once(&request.groups_names).map(|id| result(id, code)).collect();
        DeleteGroupsResponse::default().with_results(results)
    }
}

fn each_once(ids: &[GroupId]) -> impl Iterator<Item = &GroupId> {
    let mut seen = BTreeSet::new();
    ids.iter().filter(move |id| seen.insert(id.0.clone()))
}

fn delete(broker: &mut Broker, call: &Call, id: &str) -> Result<(), ErrorCode> {
    if !broker.is_coordinator(call.node, id) {
        return Err(ErrorCode::NOT_COORDINATOR);
    }
    let group = broker.groups.find(id).ok_or(ErrorCode::GROUP_ID_NOT_FOUND)?;
    if !group.is_empty() {
        return Err(ErrorCode::NON_EMPTY_GROUP);
    }
    broker.drop_group(id);
    Ok(())
}
fn result(id: &GroupId, code: ErrorCode) -> DeletableGroupResult {
    DeletableGroupResult::default().with_group_id(id.clone()).with_error_code(code.get())
}
