//! DescribeAcls: the rules that a filter matches, by resource.
//!
//! Versions 1 to 3. Left out: nothing.

use super::Handler;
use super::create_acls::{NO_AUTHORIZER, unreadable};
use crate::broker::Broker;
use crate::broker::authorizer::{Acl, Filter};
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::describe_acls_response::{AclDescription, DescribeAclsResource};
use millstream_protocol::messages::{DescribeAclsRequest, DescribeAclsResponse, StrBytes};

pub(super) struct DescribeAcls;

impl Handler for DescribeAcls {
    type Request = DescribeAclsRequest;
    fn handle(broker: &mut Broker, _: &Call, request: DescribeAclsRequest) -> Answer<DescribeAclsResponse> {
        let filter = Filter {
            resource_type: request.resource_type_filter,
            pattern_type: request.pattern_type_filter,
            name: request.resource_name_filter,
            principal: request.principal_filter,
            host: request.host_filter,
            operation: request.operation,
            permission: request.permission_type,
        };
        if !filter.is_readable() {
            return Answer::Close(unreadable());
        }
        if !broker.settings.security.has_authorizer {
            return Answer::Reply(failed(ErrorCode::SECURITY_DISABLED, NO_AUTHORIZER));
        }
        let mut resources: Vec<DescribeAclsResource> = Vec::new();
        for acl in broker.authorizer.find(&filter) {
            put(&mut resources, acl);
        }
        Answer::Reply(
            DescribeAclsResponse::default().with_error_message(Some(StrBytes::new())).with_resources(resources),
        )
    }
    fn refuse(_: &DescribeAclsRequest, code: ErrorCode) -> DescribeAclsResponse {
        failed(code, code.message())
    }
}

fn failed(code: ErrorCode, reason: &'static str) -> DescribeAclsResponse {
    DescribeAclsResponse::default()
        .with_error_code(code.get())
        .with_error_message(Some(StrBytes::from_static_str(reason)))
}
/// Rules come by resource.
fn put(resources: &mut Vec<DescribeAclsResource>, acl: Acl) {
    let description = AclDescription::default()
        .with_principal(acl.principal)
        .with_host(acl.host)
        .with_operation(acl.operation.id())
        .with_permission_type(acl.permission.id());
    let (kind, pattern) = (acl.resource_type.id(), acl.pattern_type.id());
    match resources.last_mut() {
        Some(last) if (last.resource_type, last.pattern_type) == (kind, pattern) && last.resource_name == acl.name => {
            last.acls.push(description);
        }
        _ => resources.push(
            DescribeAclsResource::default()
                .with_resource_type(kind)
                .with_pattern_type(pattern)
                .with_resource_name(acl.name)
                .with_acls(vec![description]),
        ),
    }
}
