//! DeleteAcls: removes what each filter matches, and tells what it was.
//!
//! Versions 1 to 3. Left out: nothing.

use super::Handler;
use super::create_acls::{NO_AUTHORIZER, unreadable};
use super::told::MOST_REPEATS;
use crate::broker::Broker;
use crate::broker::authorizer::catalog::{ANY, MATCH};
use crate::broker::authorizer::{Acl, Authorizer, Filter, Operation, PatternType, Permission, ResourceType};
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::delete_acls_request::DeleteAclsFilter;
use millstream_protocol::messages::delete_acls_response::{DeleteAclsFilterResult, DeleteAclsMatchingAcl};
use millstream_protocol::messages::{DeleteAclsRequest, DeleteAclsResponse, StrBytes};

/// How often a rule may be held against a filter in one request: each of ten thousand rules against five thousand filters.
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
        let Some(found) = find_all(&broker.authorizer, &filters, MOST_STEPS) else {
            return Answer::Reply(Self::refuse(&request, ErrorCode::INVALID_REQUEST));
        };
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

/// What a filter matches, or why it is none.
type Found = Result<Vec<Acl>, &'static str>;

/// What each filter matches; none when that would take too many steps or be told too often, as what several match is told by each of them.
fn find_all(authorizer: &Authorizer, filters: &[Filter], most_steps: usize) -> Option<Vec<Found>> {
    let (mut steps, mut room) = (most_steps, authorizer.len() * MOST_REPEATS);
    let find = |filter| {
        if let Err(reason) = check(filter) {
            return Some(Err(reason));
        }
        let (found, held) = authorizer.find_counted(filter);
        steps = steps.checked_sub(held)?;
        room = room.checked_sub(found.len())?;
        Some(Ok(found))
    };
    filters.iter().map(find).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A filter that names one pattern counted as one step, however many principals have a rule of that pattern.
    #[test]
    fn each_rule_that_is_held_against_a_filter_is_a_step() {
        let mut authorizer = Authorizer::default();
        for number in 0..10 {
            authorizer.add(Acl {
                resource_type: ResourceType::Topic,
                pattern_type: PatternType::Literal,
                name: StrBytes::from_static_str("t"),
                principal: StrBytes::from_string(format!("User:{number}")),
                host: StrBytes::from_static_str("*"),
                operation: Operation::Read,
                permission: Permission::Allow,
            });
        }
        let nobodys = |pattern_type| {
            let filter = DeleteAclsFilter::default().with_resource_type_filter(ResourceType::Topic.id());
            let filter = filter.with_operation(ANY).with_permission_type(ANY).with_host_filter(None);
            let filter = filter.with_resource_name_filter(Some(StrBytes::from_static_str("t")));
            read(&filter.with_pattern_type_filter(pattern_type).with_principal_filter(Some(StrBytes::new())))
        };
        for pattern_type in [PatternType::Literal.id(), ANY] {
            let filters = vec![nobodys(pattern_type); 3];
            assert_eq!(find_all(&authorizer, &filters, 30), Some(vec![Ok(vec![]); 3]));
            assert_eq!(find_all(&authorizer, &filters, 29), None, "pattern type {pattern_type}");
        }
    }
}
