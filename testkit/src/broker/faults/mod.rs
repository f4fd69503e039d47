//! What brokers are told to do wrong: rules about requests, the requests that a rule holds back, and what becomes of answers.

mod answers;
mod group;
mod held;
mod malform;
mod rule;

pub(crate) use answers::After;
pub(crate) use group::APIS_OF_GROUPS;
pub(crate) use held::Judged;
pub(crate) use rule::{Action, Answerer, Reacted, Rule, Scope, Step, Verdict, When};

use super::call::{Call, ConnectionId};
use crate::faults::{Effect, FaultState};
use answers::Late;
use held::Held;
use millstream_protocol::{ApiKey, ErrorCode, NodeId};
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// All that is wrong with the cluster by will.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    rules: Vec<Rule>,
    /// Rules that are used up, for whoever asks what became of them.
    spent: Vec<FaultState>,
    last_id: u64,
    /// What becomes of the next answer on a connection.
    after: BTreeMap<ConnectionId, After>,
    /// Requests that wait to be let go, by the rule that holds them.
    parked: BTreeMap<u64, VecDeque<Held>>,
    /// Requests and answers that wait for a time.
    late: BTreeMap<u64, Late>,
    last_late: u64,
    /// What came to nodes that stand still.
    waiting: Vec<(NodeId, held::Waiting)>,
    /// Whether transactions end only later.
    pub(in crate::broker) holds_markers: bool,
}

/// What a rule says about a request.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) verdict: Verdict,
    pub(crate) rtt: Duration,
    pub(crate) rule: u64,
}

impl Faults {
    /// Adds a rule, and says its number.
    pub(crate) fn add(&mut self, mut rule: Rule) -> u64 {
        self.last_id += 1;
        rule.id = self.last_id;
        self.rules.push(rule);
        self.last_id
    }
    /// Takes a rule away; says whether it was there.
    pub(crate) fn remove(&mut self, id: u64) -> bool {
        let count = self.rules.len();
        self.rules.retain(|rule| rule.id != id);
        self.rules.len() < count
    }
    /// Takes all rules away, and forgets those that are used up.
    pub(crate) fn clear(&mut self) {
        self.rules.clear();
        self.spent.clear();
    }
    /// All rules since the last clearing, oldest first.
    pub(crate) fn states(&self) -> Vec<FaultState> {
        let mut states: Vec<FaultState> =
            self.spent.iter().cloned().chain(self.rules.iter().map(Rule::state)).collect();
        states.sort_by_key(|state| state.id);
        states
    }
    /// Takes what is to happen to a request.
    pub(crate) fn take(&mut self, api: ApiKey, call: &Call, request: &dyn Any) -> Option<Taken> {
        if self.rules.is_empty() {
            return None;
        }
        let group = group::of(request);
        let rules = self.rules.iter_mut().enumerate().filter(|(_, rule)| rule.scope.partition.is_none());
        let meant = rules.filter_map(|(at, rule)| {
            rule.applies(api, call, group, request).then(|| (std::cmp::Reverse(rule.scope.narrowness()), at))
        });
        let (_, at) = meant.min()?;
        let taken = self.rules.get_mut(at)?.take(call, request);
        self.retire();
        taken
    }
    /// Takes the code that one partition of a request is to fail with.
    pub(crate) fn take_for_partition(
        &mut self,
        api: ApiKey,
        call: &Call,
        topic: &str,
        partition: i32,
    ) -> Option<ErrorCode> {
        let rule = self.rules.iter_mut().find(|rule| rule.applies_to_partition(api, call, topic, partition))?;
        let taken = rule.take(call, &());
        self.retire();
        match taken?.verdict {
            Verdict::Effect(Effect::Error(code)) => Some(code),
            _ => None,
        }
    }
    /// Whether any rule is about one partition.
    pub(crate) fn has_for_partitions(&self) -> bool {
        self.rules.iter().any(|rule| rule.scope.partition.is_some())
    }
    fn retire(&mut self) {
        let spent = self.rules.iter().filter(|rule| rule.steps.is_empty()).map(Rule::state);
        self.spent.extend(spent);
        self.rules.retain(|rule| !rule.steps.is_empty());
    }
}
