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
    /// Those that a filter matches.
    pub(crate) fn find(&self, filter: &Filter) -> Vec<Acl> {
        self.acls.iter().filter(|acl| filter.matches(acl)).cloned().collect()
    }
    pub(crate) fn remove(&mut self, acls: &[Acl]) {
        acls.iter().for_each(|acl| {
            self.acls.remove(acl);
        });
    }
}
