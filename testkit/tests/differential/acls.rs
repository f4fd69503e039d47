//! Rules about who may do what: CreateAcls, DescribeAcls, DeleteAcls.

use crate::Step;
use crate::chance::Chance;
use crate::data::text;
use crate::pair::{Kind, Pair};
use millstream_protocol::ApiKey;
use millstream_protocol::messages::create_acls_request::AclCreation;
use millstream_protocol::messages::delete_acls_request::DeleteAclsFilter;
use millstream_protocol::messages::{
    CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest, DescribeAclsResponse, StrBytes,
};

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![
        (ApiKey::CREATE_ACLS, create),
        (ApiKey::CREATE_ACLS, create),
        (ApiKey::DESCRIBE_ACLS, describe),
        (ApiKey::DELETE_ACLS, delete),
    ]
}

const ANY: i8 = 1;
const ALLOW: i8 = 3;
pub(crate) const LITERAL: i8 = 3;

/// Whom the rules are about. Nobody has these names in the run without logins.
const PRINCIPALS: &[&str] = &["User:alice", "User:bob", "User:*"];
/// What can be asked about, by kind.
const THINGS: &[(i8, &[&str])] = &[
    (2, &["plain", "compacted", "made-a", "made-", "p", "*"]),
    (3, &["g1", "g2", "g", "classic-a", "classic-b", "new-a", "new-", "*"]),
    (4, &["kafka-cluster"]),
    (5, &["tx-a", "tx-b", "tx-", "*"]),
    (6, &["token"]),
    (7, &["User:alice"]),
];

/// A rule that a Kafka takes.
pub(crate) fn rule(chance: &mut Chance, kinds: usize) -> AclCreation {
    let (kind, names) = THINGS[chance.below(kinds)];
    let pattern = if kind != 4 && chance.once_in(3) { 4 } else { LITERAL };
    AclCreation::default()
        .with_resource_type(kind)
        .with_resource_name(text(chance.word(names)))
        .with_resource_pattern_type(pattern)
        .with_principal(text(chance.word(PRINCIPALS)))
        .with_host(text(chance.word(&["*", "*", "*", "127.0.0.1", "10.0.0.1"])))
        .with_operation(2 + i8::try_from(chance.below(11)).expect("small"))
        .with_permission_type(*chance.pick(&[ALLOW, ALLOW, ALLOW, 2]))
}
/// Makes a rule wrong in one of many ways.
fn spoil(chance: &mut Chance, rule: AclCreation) -> AclCreation {
    match chance.below(10) {
        0 => rule.with_resource_type(*chance.pick(&[0, 1, 2, 99, -1])),
        1 => rule.with_resource_pattern_type(*chance.pick(&[0, 1, 2, 9])),
        2 => rule.with_operation(*chance.pick(&[0, 1, 13, 14, 15, 16, 99])),
        3 => rule.with_permission_type(*chance.pick(&[0, 1, 9])),
        4 => rule.with_resource_name(text("")),
        5 => rule.with_host(text("")),
        6 => rule.with_principal(text(chance.word(&["alice", "", ":alice", "User:", "Other:alice"]))),
        7 => rule.with_resource_type(4),
        8 => rule.with_resource_name(text(&"x".repeat(300))),
        _ => rule.with_host(text("not an address")),
    }
}
fn create(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::CREATE_ACLS);
    let version = chance.version(min, max);
    let rules = (0..*chance.pick(&[1, 1, 2, 3, 0])).map(|_| {
        let rule = rule(chance, THINGS.len());
        if chance.once_in(3) { spoil(chance, rule) } else { rule }
    });
    let request = CreateAclsRequest::default().with_creations(rules.collect());
    pair.ask(Kind::Writes, version, |_| request.clone(), |_, _| {});
    settle(pair);
}
/// Waits until both go by the same rules.
pub(crate) fn settle(pair: &mut Pair) {
    let request = DescribeAclsRequest::default()
        .with_resource_type_filter(ANY)
        .with_pattern_type_filter(ANY)
        .with_operation(ANY)
        .with_permission_type(ANY)
        .with_resource_name_filter(None)
        .with_principal_filter(None)
        .with_host_filter(None);
    pair.ask_as(crate::pair::ADMINISTRATOR, Kind::Reads, 3, |_| request.clone(), |response, _| tidy(response));
}

/// Kind, name, pattern, principal, host, operation, permission.
type Filter = (i8, Option<StrBytes>, i8, Option<StrBytes>, Option<StrBytes>, i8, i8);

fn filter(chance: &mut Chance, narrow: bool) -> Filter {
    let (kind, names) = THINGS[chance.below(THINGS.len())];
    let any = !narrow && chance.once_in(2);
    let principal =
        if any { None } else { *chance.pick(&[None, Some("User:alice"), Some("User:bob"), Some("User:*")]) };
    (
        if any { ANY } else { *chance.pick(&[kind, kind, kind, 0, 99]) },
        chance.pick(&[None, Some(names[0]), Some("plain"), Some("")]).map(text),
        *chance.pick(&[1, 1, 2, 2, 3, 4, 0, 9]),
        principal.map(text),
        chance.pick(&[None, None, Some("*"), Some("127.0.0.1"), Some("")]).map(text),
        *chance.pick(&[1, 1, 1, 3, 8, 0, 99]),
        *chance.pick(&[1, 1, 2, 3, 0, 9]),
    )
}
fn describe(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::DESCRIBE_ACLS);
    let version = chance.version(min, max);
    let (kind, name, pattern, principal, host, operation, permission) = filter(chance, false);
    let request = DescribeAclsRequest::default()
        .with_resource_type_filter(kind)
        .with_resource_name_filter(name)
        .with_pattern_type_filter(pattern)
        .with_principal_filter(principal)
        .with_host_filter(host)
        .with_operation(operation)
        .with_permission_type(permission);
    pair.ask(Kind::Reads, version, |_| request.clone(), |response, _| tidy(response));
}
fn tidy(response: &mut DescribeAclsResponse) {
    response.resources.sort_by_key(|each| (each.resource_type, each.pattern_type, each.resource_name.clone()));
    for resource in &mut response.resources {
        resource.acls.sort_by_key(|acl| (acl.principal.clone(), acl.host.clone(), acl.operation, acl.permission_type));
    }
}
fn delete(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::DELETE_ACLS);
    let version = chance.version(min, max);
    let filters = (0..*chance.pick(&[1, 1, 2])).map(|_| {
        let (kind, name, pattern, principal, host, operation, permission) = filter(chance, true);
        DeleteAclsFilter::default()
            .with_resource_type_filter(kind)
            .with_resource_name_filter(name)
            .with_pattern_type_filter(pattern)
            .with_principal_filter(principal)
            .with_host_filter(host)
            .with_operation(operation)
            .with_permission_type(permission)
    });
    let request = DeleteAclsRequest::default().with_filters(filters.collect());
    pair.ask(
        Kind::Writes,
        version,
        |_| request.clone(),
        |response, _| {
            for filter in &mut response.filter_results {
                filter.matching_acls.sort_by_key(|acl| {
                    (
                        acl.resource_type,
                        acl.pattern_type,
                        acl.resource_name.clone(),
                        acl.principal.clone(),
                        acl.host.clone(),
                        acl.operation,
                        acl.permission_type,
                    )
                });
            }
        },
    );
    settle(pair);
}
