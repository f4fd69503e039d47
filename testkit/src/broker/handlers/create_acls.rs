//! CreateAcls: literal and prefixed patterns; each rule alone.
//!
//! Versions 1 to 3. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::authorizer::catalog::{ANY, MATCH, UNKNOWN};
use crate::broker::authorizer::{Acl, CLUSTER, Operation, PatternType, Permission, ResourceType};
use crate::broker::call::{Answer, Call, Closing};
use crate::broker::own;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::create_acls_request::AclCreation;
use millstream_protocol::messages::create_acls_response::AclCreationResult;
use millstream_protocol::messages::{CreateAclsRequest, CreateAclsResponse, StrBytes};

pub(super) const NO_AUTHORIZER: &str = "No Authorizer is configured.";

/// A request about rules that Kafka cannot read.
pub(super) fn unreadable() -> Closing {
    Closing::refused("a number in it stands for nothing that Kafka knows")
}

pub(super) struct CreateAcls;

impl Handler for CreateAcls {
    type Request = CreateAclsRequest;
    fn handle(broker: &mut Broker, _: &Call, request: CreateAclsRequest) -> Answer<CreateAclsResponse> {
        if !request.creations.iter().all(is_readable) {
            return Answer::Close(unreadable());
        }
        if !broker.settings.security.has_authorizer {
            let refused = request.creations.iter().map(|_| failed(ErrorCode::SECURITY_DISABLED, NO_AUTHORIZER));
            return Answer::Reply(CreateAclsResponse::default().with_results(refused.collect()));
        }
        if request.creations.iter().any(is_for_filters) {
            // Kafka stumbles over the whole request, and says nothing about it.
            let refused = request.creations.iter().map(|_| failed(ErrorCode::UNKNOWN_SERVER_ERROR, ""));
            return Answer::Reply(CreateAclsResponse::default().with_results(refused.collect()));
        }
        let results = request.creations.into_iter().map(|creation| match read(creation) {
            Ok(acl) => {
                broker.authorizer.add(acl);
                AclCreationResult::default().with_error_message(Some(StrBytes::new()))
            }
            Err((code, reason)) => failed(code, &reason),
        });
        Answer::Reply(CreateAclsResponse::default().with_results(results.collect()))
    }
    fn when_full(_: &Broker, _: &CreateAclsRequest) -> Option<ErrorCode> {
        Some(ErrorCode::POLICY_VIOLATION)
    }
    fn refuse(request: &CreateAclsRequest, code: ErrorCode) -> CreateAclsResponse {
        let refused = request.creations.iter().map(|_| failed(code, code.message()));
        CreateAclsResponse::default().with_results(refused.collect())
    }
}

fn failed(code: ErrorCode, reason: &str) -> AclCreationResult {
    AclCreationResult::default()
        .with_error_code(code.get())
        .with_error_message((!reason.is_empty()).then(|| StrBytes::from_string(reason.to_owned())))
}
fn read(creation: AclCreation) -> Result<Acl, (ErrorCode, String)> {
    let wrong = |reason: &str| Err((ErrorCode::INVALID_REQUEST, reason.to_owned()));
    let resource_type = named(creation.resource_type, ResourceType::from_id, "resourceType")?;
    let pattern_type = named(creation.resource_pattern_type, PatternType::from_id, "patternType")?;
    let operation = named(creation.operation, Operation::from_id, "operation")?;
    let permission = named(creation.permission_type, Permission::from_id, "permissionType")?;
    if resource_type == ResourceType::Cluster && *creation.resource_name != *CLUSTER {
        return wrong("The only valid name for the CLUSTER resource is kafka-cluster");
    }
    if creation.resource_name.is_empty() {
        return wrong("Invalid empty resource name");
    }
    if creation.host.is_empty() {
        return wrong("Host pattern cannot be null or empty");
    }
    if !creation.principal.contains(':') {
        let reason = "no colon is present separating the principal type from the principal name";
        return wrong(&format!("Could not parse principal from `{}` ({reason})", creation.principal));
    }
    Ok(Acl {
        resource_type,
        pattern_type,
        name: own::text(&creation.resource_name),
        principal: own::text(&creation.principal),
        host: own::text(&creation.host),
        operation,
        permission,
    })
}
/// What a number stands for.
fn named<T>(id: i8, from_id: fn(i8) -> Option<T>, what: &str) -> Result<T, (ErrorCode, String)> {
    from_id(id).ok_or_else(|| (ErrorCode::INVALID_REQUEST, format!("Invalid {what} UNKNOWN")))
}
/// Whether it has numbers in it that are for filters.
fn is_for_filters(creation: &AclCreation) -> bool {
    [creation.resource_type, creation.operation, creation.permission_type].contains(&ANY)
        || matches!(creation.resource_pattern_type, ANY | MATCH)
}
fn is_readable(creation: &AclCreation) -> bool {
    let numbers =
        [creation.resource_type, creation.resource_pattern_type, creation.operation, creation.permission_type];
    !numbers.contains(&UNKNOWN)
}
