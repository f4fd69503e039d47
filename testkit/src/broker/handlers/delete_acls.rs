//! DeleteAcls: removes what each filter matches, and tells what it was.
//!
//! Versions 1 to 3. Left out: nothing.

use super::Handler;
use super::create_acls::{NO_AUTHORIZER, unreadable};
use super::told::MOST_REPEATS;
use crate::broker::Broker;
use crate::broker::authorizer::catalog::{ANY, MATCH};
use crate::broker::authorizer::{Acl, Filter, Operation, PatternType, Permission, ResourceType};
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::delete_acls_request::DeleteAclsFilter;
use millstream_protocol::messages::delete_acls_response::{DeleteAclsFilterResult, DeleteAclsMatchingAcl};
use millstream_protocol::messages::{DeleteAclsRequest, DeleteAclsResponse, StrBytes};

/// How often a rule may be held against a filter in one request: all of ten thousand rules against each of thousands.
const MOST_STEPS: usize = 50_000_000;

pub(super) struct DeleteAcls;

impl Handler for DeleteAcls {
    type Request = DeleteAclsRequest;
    fn handle(broker: &mut Broker, _: &Call, request: DeleteAclsRequest) -> Answer<DeleteAclsResponse> {
        let filters: Vec<Filter> = request.filters.iter().map(read).collect();
        if !filters.iter().all(Filter::is_readable) {
            return Answer::Close(unreadable());
        }
        if !broker.settings.security.has_authorizer {
            let refused = filters.iter().map(|_| failed(ErrorCode::SECURITY_DISABLED, NO_AUTHORIZER)).collect();
            return Answer::Reply(DeleteAclsResponse::default().with_filter_results(refused));
        }
        if filters.iter().map(|filter| broker.authorizer.steps(filter)).fold(0, usize::saturating_add) > MOST_STEPS {
            return Answer::Reply(Self::refuse(&request, ErrorCode::INVALID_REQUEST));
        }
        // What several filters match is told by each of them.
        let mut room = broker.authorizer.len() * MOST_REPEATS;
        let mut found: Vec<Result<Vec<Acl>, _>> = Vec::with_capacity(filters.len());
        for filter in &filters {
            let matching = check(filter).map(|()| broker.authorizer.find(filter));
            let Some(left) = room.checked_sub(matching.as_ref().map_or(0, Vec::len)) else {
                return Answer::Reply(Self::refuse(&request, ErrorCode::INVALID_REQUEST));
            };
            room = left;
            found.push(matching);
        }
        found.iter().flatten().for_each(|acls| broker.authorizer.remove(acls));
        let results = found.into_iter().map(|found| match found {
            Ok(acls) => {
                let matching = acls.into_iter().map(describe).collect();
                DeleteAclsFilterResult::default().with_error_message(None).with_matching_acls(matching)
            }
            Err(reason) => failed(ErrorCode::INVALID_REQUEST, reason),
        });
        Answer::Reply(DeleteAclsResponse::default().with_filter_results(results.collect()))
    }
    fn refuse(request: &DeleteAclsRequest, code: ErrorCode) -> DeleteAclsResponse {
        let refused = request.filters.iter().map(|_| failed(code, code.message()));
        DeleteAclsResponse::default().with_filter_results(refused.collect())
    }
}

fn read(filter: &DeleteAclsFilter) -> Filter {
    Filter {
        resource_type: filter.resource_type_filter,
        pattern_type: filter.pattern_type_filter,
        name: filter.resource_name_filter.clone(),
        principal: filter.principal_filter.clone(),
        host: filter.host_filter.clone(),
        operation: filter.operation,
        permission: filter.permission_type,
    }
}
/// Says which half of a filter has a number in it that stands for nothing.
fn check(filter: &Filter) -> Result<(), &'static str> {
    let is_pattern = (filter.resource_type == ANY || ResourceType::from_id(filter.resource_type).is_some())
        && (matches!(filter.pattern_type, ANY | MATCH) || PatternType::from_id(filter.pattern_type).is_some());
    let is_entry = (filter.operation == ANY || Operation::from_id(filter.operation).is_some())
        && (filter.permission == ANY || Permission::from_id(filter.permission).is_some());
    match (is_pattern, is_entry) {
        (false, _) => Err("Unknown patternFilter."),
        (true, false) => Err("Unknown entryFilter."),
        (true, true) => Ok(()),
    }
}
fn failed(code: ErrorCode, reason: &'static str) -> DeleteAclsFilterResult {
    DeleteAclsFilterResult::default()
        .with_error_code(code.get())
        .with_error_message(Some(StrBytes::from_static_str(reason)))
}
fn describe(acl: Acl) -> DeleteAclsMatchingAcl {
    DeleteAclsMatchingAcl::default()
        .with_error_message(None)
        .with_resource_type(acl.resource_type.id())
        .with_resource_name(acl.name)
        .with_pattern_type(acl.pattern_type.id())
        .with_principal(acl.principal)
        .with_host(acl.host)
        .with_operation(acl.operation.id())
        .with_permission_type(acl.permission.id())
}
