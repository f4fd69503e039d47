//! Who may do what: Kafka's `StandardAuthorizer`. Before a handler sees a request, the request's guard takes out of it what its sender may
//! not do; what was taken out is put into the answer with its code. Handlers know nothing of this.

pub(crate) mod acl;
pub(crate) mod catalog;
mod guard;
mod guards;
mod patches;
mod rights;
mod rules;

pub(crate) use acl::{Acl, Filter};
pub(crate) use catalog::{Operation, PatternType, Permission, ResourceType};
pub(crate) use guard::{Guard, Need, Verdict};
pub(crate) use patches::Patches;
pub(crate) use rights::Rights;

use acl::{WILDCARD, beginnings};
use millstream_protocol::messages::StrBytes;
use std::collections::BTreeSet;

/// The one resource of its kind.
pub(crate) const CLUSTER: &str = "kafka-cluster";

/// The rules that were made.
#[derive(Debug, Default)]
pub(crate) struct Authorizer {
    acls: BTreeSet<Acl>,
}
impl Authorizer {
    pub(crate) fn add(&mut self, acl: Acl) {
        self.acls.insert(acl);
    }
    /// About how many bytes they take.
    pub(crate) fn weight(&self) -> usize {
        let of = |acl: &Acl| size_of::<Acl>() + acl.name.len() + acl.principal.len() + acl.host.len();
        self.acls.iter().map(of).sum()
    }
    pub(crate) fn len(&self) -> usize {
        self.acls.len()
    }
    /// Those that a filter matches.
    pub(crate) fn find(&self, filter: &Filter) -> Vec<Acl> {
        let definite = (ResourceType::from_id(filter.resource_type), PatternType::from_id(filter.pattern_type));
        let (Some(resource_type), Some(pattern_type), Some(name)) = (definite.0, definite.1, &filter.name) else {
            return self.acls.iter().filter(|acl| filter.matches(acl)).cloned().collect();
        };
        self.named(resource_type, pattern_type, name).filter(|acl| filter.matches(acl)).cloned().collect()
    }
    /// Those whose pattern is just this.
    fn named(&self, resource_type: ResourceType, pattern_type: PatternType, name: &str) -> impl Iterator<Item = &Acl> {
        let text = |text: &str| StrBytes::from_string(text.to_owned());
        let name = text(name);
        let first = Acl {
            resource_type,
            pattern_type,
            name: name.clone(),
            principal: StrBytes::new(),
            host: StrBytes::new(),
            operation: Operation::All,
            permission: Permission::Deny,
        };
        let is_named = move |acl: &&Acl| {
            acl.resource_type == resource_type && acl.pattern_type == pattern_type && acl.name == name
        };
        self.acls.range(first..).take_while(is_named)
    }
    /// Those whose pattern covers a resource: its name, all names, and each beginning of its name.
    fn covering(&self, resource_type: ResourceType, name: &str) -> impl Iterator<Item = &Acl> {
        let literal = [name, WILDCARD].into_iter().take(if name == WILDCARD { 1 } else { 2 });
        let literal = literal.map(|name| (PatternType::Literal, name));
        let prefixes = beginnings(name).map(|begin| (PatternType::Prefixed, begin));
        literal.chain(prefixes).flat_map(move |(pattern_type, name)| self.named(resource_type, pattern_type, name))
    }
    pub(crate) fn remove(&mut self, acls: &[Acl]) {
        acls.iter().for_each(|acl| {
            self.acls.remove(acl);
        });
    }
}
