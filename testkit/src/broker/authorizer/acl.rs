//! One rule, and what finds rules.

use super::catalog::{ANY, MATCH, UNKNOWN};
use super::{Operation, PatternType, Permission, ResourceType};
use millstream_protocol::messages::StrBytes;

/// Stands for every name, principal or host.
pub(crate) const WILDCARD: &str = "*";

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Acl {
    pub(crate) resource_type: ResourceType,
    pub(crate) pattern_type: PatternType,
    pub(crate) name: StrBytes,
    pub(crate) principal: StrBytes,
    pub(crate) host: StrBytes,
    pub(crate) operation: Operation,
    pub(crate) permission: Permission,
}
impl Acl {
    /// Whether its pattern covers a resource.
    pub(super) fn covers(&self, resource_type: ResourceType, name: &str) -> bool {
        self.resource_type == resource_type
            && match self.pattern_type {
                PatternType::Literal => *self.name == *name || *self.name == *WILDCARD,
                PatternType::Prefixed => name.starts_with(self.name.as_str()),
            }
    }
    /// Whether it is about whoever asks.
    pub(super) fn is_about(&self, principal: &str, host: &str) -> bool {
        let is_principal = *self.principal == *principal || *self.principal == *"User:*";
        is_principal && (*self.host == *host || *self.host == *WILDCARD)
    }
}

/// What DescribeAcls and DeleteAcls look for, as it comes over the wire: a null matches all.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    pub(crate) resource_type: i8,
    pub(crate) pattern_type: i8,
    pub(crate) name: Option<StrBytes>,
    pub(crate) principal: Option<StrBytes>,
    pub(crate) host: Option<StrBytes>,
    pub(crate) operation: i8,
    pub(crate) permission: i8,
}
impl Filter {
    /// Whether Kafka reads it. A number that it does not know is no trouble, and matches nothing.
    pub(crate) const fn is_readable(&self) -> bool {
        self.resource_type != UNKNOWN
            && self.pattern_type != UNKNOWN
            && self.operation != UNKNOWN
            && self.permission != UNKNOWN
    }
    pub(super) fn matches(&self, acl: &Acl) -> bool {
        let is_meant = |id: i8, own: i8| id == ANY || id == own;
        let is_text = |wanted: &Option<StrBytes>, own: &StrBytes| wanted.as_ref().is_none_or(|wanted| wanted == own);
        is_meant(self.resource_type, acl.resource_type.id())
            && self.matches_name(acl)
            && is_text(&self.principal, &acl.principal)
            && is_text(&self.host, &acl.host)
            && is_meant(self.operation, acl.operation.id())
            && is_meant(self.permission, acl.permission.id())
    }
    fn matches_name(&self, acl: &Acl) -> bool {
        let is_type = matches!(self.pattern_type, ANY | MATCH) || self.pattern_type == acl.pattern_type.id();
        let Some(name) = &self.name else { return is_type };
        is_type && (*name == acl.name || self.pattern_type == MATCH && acl.covers(acl.resource_type, name))
    }
}
