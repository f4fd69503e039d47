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

use acl::WILDCARD;
use millstream_protocol::messages::StrBytes;
use std::collections::{BTreeMap, BTreeSet};

/// The one resource of its kind.
pub(crate) const CLUSTER: &str = "kafka-cluster";

/// The rules that were made.
#[derive(Debug, Default)]
pub(crate) struct Authorizer {
    acls: BTreeSet<Acl>,
    /// How long the names of prefixed rules are, and how many have that length: a request may name hundreds of things with thousands of
    /// beginnings each, of which only these are looked for.
    prefix_lengths: BTreeMap<usize, usize>,
}
impl Authorizer {
    pub(crate) fn add(&mut self, acl: Acl) {
        let prefix = (acl.pattern_type == PatternType::Prefixed).then_some(acl.name.len());
        if self.acls.insert(acl)
            && let Some(length) = prefix
        {
            *self.prefix_lengths.entry(length).or_default() += 1;
        }
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
        self.find_counted(filter).0
    }
    /// The same, and how many were held against the filter: those of one name may be thousands, of as many principals.
    pub(crate) fn find_counted(&self, filter: &Filter) -> (Vec<Acl>, usize) {
        let mut held = 0;
        let matches = |acl: &&Acl| {
            held += 1;
            filter.matches(acl)
        };
        let definite = (ResourceType::from_id(filter.resource_type), PatternType::from_id(filter.pattern_type));
        let found = match (definite.0, definite.1, &filter.name) {
            (Some(resource_type), Some(pattern_type), Some(name)) => {
                self.named(resource_type, pattern_type, name).filter(matches).cloned().collect()
            }
            _ => self.acls.iter().filter(matches).cloned().collect(),
        };
        (found, held)
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
        let lengths = self.prefix_lengths.range(..=name.len()).map(|(length, _)| *length);
        let prefixes = lengths.filter_map(move |length| Some((PatternType::Prefixed, name.get(..length)?)));
        literal.chain(prefixes).flat_map(move |(pattern_type, name)| self.named(resource_type, pattern_type, name))
    }
    pub(crate) fn remove(&mut self, acls: &[Acl]) {
        for acl in acls {
            if self.acls.remove(acl) && acl.pattern_type == PatternType::Prefixed {
                self.forget_prefix(acl.name.len());
            }
        }
    }
    fn forget_prefix(&mut self, length: usize) {
        if let Some(count) = self.prefix_lengths.get_mut(&length) {
            *count -= 1;
            if *count == 0 {
                self.prefix_lengths.remove(&length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All thirty thousand beginnings of a long name were looked for, each copied: a request with some hundreds such names took minutes.
    #[test]
    fn only_beginnings_of_a_length_that_rules_have_are_looked_for() {
        let rule = |name: &str| Acl {
            resource_type: ResourceType::Topic,
            pattern_type: PatternType::Prefixed,
            name: StrBytes::from_string(name.to_owned()),
            principal: StrBytes::from_static_str("User:*"),
            host: StrBytes::from_static_str("*"),
            operation: Operation::Read,
            permission: Permission::Allow,
        };
        let mut authorizer = Authorizer::default();
        ["ab", "ab", "xy", "abc", "é"].into_iter().for_each(|name| authorizer.add(rule(name)));
        assert_eq!(authorizer.prefix_lengths, BTreeMap::from([(2, 3), (3, 1)]));
        let covering = |name: &str| authorizer.covering(ResourceType::Topic, name).cloned().collect::<Vec<_>>();
        assert_eq!(covering("abcd"), [rule("ab"), rule("abc")]);
        assert_eq!(covering("éa"), [rule("é")]);
        assert_eq!(covering("aé"), []);
        authorizer.remove(&[rule("ab"), rule("ab"), rule("xy"), rule("no")]);
        assert_eq!(authorizer.prefix_lengths, BTreeMap::from([(2, 1), (3, 1)]));
    }
}
