//! The assignors on the broker's side: for the same input they give what Kafka's give. Kafka goes through its hash tables in their order,
//! which therefore decides who gets what; `java_order` knows it.

mod mixed;
mod range;
mod uniform;
mod votes;

pub(crate) use votes::Votes;

use super::member::Assignment;
use crate::broker::java_hash::{string_hash, uuid_hash};
use crate::broker::java_order::{in_map_order, in_set_order};
use millstream_protocol::messages::{StrBytes, Uuid};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// An assignor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assignor {
    /// The same number of partitions for each, moving few.
    Uniform,
    /// Per topic a range for each, so that equal partitions of several topics meet.
    Range,
}
impl Assignor {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "uniform" => Some(Self::Uniform),
            "range" => Some(Self::Range),
            _ => None,
        }
    }
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Range => "range",
        }
    }
    /// Shares the topics' partitions among the members. Whoever gets nothing may be left out.
    pub(crate) fn assign(
        self,
        mut members: Vec<Subscriber>,
        subscriptions: Subscriptions,
        sizes: &BTreeMap<Uuid, i32>,
    ) -> Targets {
        members = in_map_order(members, |member| string_hash(&member.id));
        match (self, subscriptions) {
            (Self::Range, Subscriptions::Alike) => range::assign_alike(members, sizes),
            (Self::Range, Subscriptions::Different) => range::assign(members, sizes),
            (Self::Uniform, Subscriptions::Alike) => uniform::assign(&members, sizes),
            (Self::Uniform, Subscriptions::Different) => mixed::assign(&members, sizes),
        }
    }
}

/// Whether members are taken to want the same. Of those that are, one is asked for its topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subscriptions {
    Alike,
    Different,
}

/// What each member is to own.
pub(crate) type Targets = BTreeMap<StrBytes, Assignment>;

/// A member as an assignor sees it.
#[derive(Debug, Clone)]
pub(crate) struct Subscriber {
    pub(crate) id: StrBytes,
    pub(crate) instance_id: Option<StrBytes>,
    /// The topics to which it is subscribed, as far as they exist.
    pub(crate) topics: Rc<BTreeSet<Uuid>>,
    /// Its target until now.
    pub(crate) target: Assignment,
}

fn topics_in_order(topics: &BTreeSet<Uuid>) -> Vec<Uuid> {
    in_set_order(topics.iter().copied().collect(), |topic| uuid_hash(*topic))
}
fn size_of(sizes: &BTreeMap<Uuid, i32>, topic: Uuid) -> i32 {
    sizes.get(&topic).copied().unwrap_or(0)
}
