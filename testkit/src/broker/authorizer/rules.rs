//! How rules decide: super users may do all; a denial counts more than a permission; without any rule about a thing,
//! `allow.everyone.if.no.acl.found` decides.

use super::acl::{Acl, WILDCARD};
use super::{Authorizer, Operation, PatternType, Permission, ResourceType};
use crate::broker::security::settings::SecuritySettings;
use std::collections::BTreeSet;
use std::ops::Bound::{Included, Unbounded};

/// The name that Kafka asks about when any would do.
const ANYTHING: &str = "hardcode";

/// Who asks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'s> {
    pub(super) principal: &'s str,
    pub(super) host: &'s str,
}

impl Authorizer {
    pub(super) fn may(
        &self,
        settings: &SecuritySettings,
        subject: Subject<'_>,
        operation: Operation,
        (resource_type, name): (ResourceType, &str),
    ) -> bool {
        if settings.super_users.contains(subject.principal) {
            return true;
        }
        let mut is_ruled = false;
        let mut is_allowed = false;
        for acl in self.covering(resource_type, name) {
            is_ruled = true;
            if !acl.is_about(subject.principal, subject.host) {
                continue;
            }
            match acl.permission {
                Permission::Deny if matches!(acl.operation, Operation::All) || acl.operation == operation => {
                    return false;
                }
                Permission::Deny => {}
                Permission::Allow => is_allowed |= acl.operation.implies(operation),
            }
        }
        is_allowed || !is_ruled && settings.allow_everyone_without_acl
    }
    /// Whether there could be a thing of this kind to which this may be done (Kafka's `authorizeByResourceType`).
    pub(super) fn may_somewhere(
        &self,
        settings: &SecuritySettings,
        subject: Subject<'_>,
        operation: Operation,
        resource_type: ResourceType,
    ) -> bool {
        // A thing that nobody names: who may do this to it is a super user, or needs no rule.
        if self.may(settings, subject, operation, (resource_type, ANYTHING)) {
            return true;
        }
        let about = || {
            let meant = self.acls.iter().filter(move |acl| acl.resource_type == resource_type);
            meant.filter(move |acl| acl.is_about(subject.principal, subject.host))
        };
        let denied: Vec<&Acl> = about()
            .filter(|acl| acl.permission == Permission::Deny)
            .filter(|acl| acl.operation == Operation::All || acl.operation == operation)
            .collect();
        if denied.iter().any(|acl| is_everything(acl)) {
            return false;
        }
        let denied = Denied::of(&denied);
        let mut allowed = about().filter(|acl| acl.permission == Permission::Allow && acl.operation.implies(operation));
        allowed.any(|acl| !denied.dominate(acl))
    }
}

fn is_everything(acl: &Acl) -> bool {
    acl.pattern_type == PatternType::Literal && *acl.name == *WILDCARD
}
/// The names of denials, by their patterns.
struct Denied<'a> {
    literal: BTreeSet<&'a str>,
    /// None of them begins with another, so that only the last one up to a name can be its beginning.
    prefixed: BTreeSet<&'a str>,
}
impl<'a> Denied<'a> {
    fn of(acls: &[&'a Acl]) -> Self {
        let of = |pattern_type| {
            let meant = acls.iter().filter(move |acl| acl.pattern_type == pattern_type);
            meant.map(|acl| acl.name.as_str()).collect::<BTreeSet<_>>()
        };
        Self { literal: of(PatternType::Literal), prefixed: shortest(of(PatternType::Prefixed)) }
    }
    /// Whether they leave nothing of a permission.
    fn dominate(&self, allowed: &Acl) -> bool {
        let is_literal = allowed.pattern_type == PatternType::Literal && self.literal.contains(allowed.name.as_str());
        is_literal || !is_everything(allowed) && self.begins(&allowed.name)
    }
    fn begins(&self, name: &str) -> bool {
        let last = self.prefixed.range::<str, _>((Unbounded, Included(name))).next_back();
        last.is_some_and(|prefix| name.starts_with(prefix))
    }
}
/// Without those that begin with another of them: in order, they come just behind it.
fn shortest(prefixes: BTreeSet<&str>) -> BTreeSet<&str> {
    let mut kept = BTreeSet::new();
    for prefix in prefixes {
        if kept.last().is_none_or(|shorter| !prefix.starts_with(shorter)) {
            kept.insert(prefix);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_protocol::messages::StrBytes;

    /// `allow User:a from * to READ TOPIC LITERAL x`, a line a rule.
    fn authorizer(rules: &[(&str, &str, &str, Operation, PatternType, &str)]) -> Authorizer {
        let text = |text: &str| StrBytes::from_string(text.to_owned());
        let mut authorizer = Authorizer::default();
        for (permission, principal, host, operation, pattern_type, name) in rules {
            authorizer.add(Acl {
                resource_type: ResourceType::Topic,
                pattern_type: *pattern_type,
                name: text(name),
                principal: text(principal),
                host: text(host),
                operation: *operation,
                permission: if *permission == "allow" { Permission::Allow } else { Permission::Deny },
            });
        }
        authorizer
    }
    const ALICE: Subject<'_> = Subject { principal: "User:alice", host: "127.0.0.1" };

    #[test]
    fn denials_count_more_than_permissions_and_imply_nothing() {
        use Operation::{All, Alter, AlterConfigs, Create, Describe, DescribeConfigs, Read, Write};
        use PatternType::{Literal, Prefixed};
        let rules = authorizer(&[
            ("allow", "User:alice", "*", Read, Literal, "read"),
            ("allow", "User:alice", "*", AlterConfigs, Literal, "read"),
            ("allow", "User:*", "*", All, Prefixed, "team-"),
            ("deny", "User:alice", "*", Write, Literal, "team-secret"),
            ("deny", "User:*", "127.0.0.1", All, Literal, "team-none"),
            ("allow", "User:bob", "*", All, Literal, "bobs"),
            ("allow", "User:alice", "10.0.0.1", All, Literal, "elsewhere"),
        ]);
        let settings = SecuritySettings::default();
        for (operation, name, expected) in [
            (Read, "read", true),
            (Describe, "read", true),
            (DescribeConfigs, "read", true),
            (Write, "read", false),
            (Create, "team-a", true),
            (Write, "team-secret", false),
            (Describe, "team-secret", true),
            (Describe, "team-none", false),
            (Alter, "bobs", false),
            (Read, "elsewhere", false),
            (Read, "nothing", false),
        ] {
            assert_eq!(
                rules.may(&settings, ALICE, operation, (ResourceType::Topic, name)),
                expected,
                "{operation:?} {name}"
            );
        }
        let open = SecuritySettings { allow_everyone_without_acl: true, ..SecuritySettings::default() };
        assert!(rules.may(&open, ALICE, Read, (ResourceType::Topic, "nothing")));
        assert!(!rules.may(&open, ALICE, Read, (ResourceType::Topic, "bobs")), "there is a rule about it");
        let super_users = ["User:alice".to_owned()].into();
        let above = SecuritySettings { super_users, ..SecuritySettings::default() };
        assert!(rules.may(&above, ALICE, Write, (ResourceType::Topic, "team-none")));
    }

    #[test]
    fn somewhere_is_where_no_denial_covers_the_permission() {
        use Operation::{Read, Write};
        use PatternType::{Literal, Prefixed};
        let settings = SecuritySettings::default();
        let allow = |kind, name| ("allow", "User:alice", "*", Write, kind, name);
        let deny = |kind, name| ("deny", "User:alice", "*", Write, kind, name);
        for (rules, expected) in [
            (vec![], false),
            (vec![allow(Literal, "a")], true),
            (vec![("allow", "User:alice", "*", Read, Literal, "a")], false),
            (vec![allow(Literal, "a"), deny(Literal, "a")], false),
            (vec![allow(Literal, "a"), deny(Literal, "*")], false),
            (vec![allow(Prefixed, "ab"), deny(Prefixed, "a")], false),
            (vec![allow(Prefixed, "a"), deny(Prefixed, "ab")], true),
            (vec![allow(Literal, "*"), deny(Literal, "a")], true),
            // Between a name and its beginning there may be others in order.
            (vec![allow(Literal, "abz"), deny(Prefixed, "ab"), deny(Prefixed, "abc"), deny(Prefixed, "abcd")], false),
            (vec![allow(Literal, "ac"), deny(Prefixed, "ab"), deny(Prefixed, "abc"), deny(Prefixed, "b")], true),
            (vec![allow(Literal, "é"), deny(Prefixed, "")], false),
        ] {
            let found = authorizer(&rules).may_somewhere(&settings, ALICE, Write, ResourceType::Topic);
            assert_eq!(found, expected, "{rules:?}");
        }
        // Without a rule everybody may, until there is one about everything.
        let open = SecuritySettings { allow_everyone_without_acl: true, ..SecuritySettings::default() };
        let anywhere = |rules| authorizer(rules).may_somewhere(&open, ALICE, Write, ResourceType::Topic);
        assert!(anywhere(&[("allow", "User:bob", "*", Write, Literal, "a")]));
        assert!(!anywhere(&[("allow", "User:bob", "*", Write, Literal, "*")]));
    }
}
