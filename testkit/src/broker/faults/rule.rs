//! One rule: for which requests, and what becomes of one after the other.

use super::Taken;
use crate::broker::call::{Call, Outcome};
use crate::faults::{Effect, FaultPlan, FaultState, PartitionScope};
use millstream_protocol::{ApiKey, NodeId};
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

/// Says whether a request is meant; it gets the request's own type.
pub(crate) type When = Box<dyn FnMut(&dyn Any) -> bool + Send>;
/// Writes a typed answer for whoever asked.
pub(crate) type Answerer = Box<dyn Fn(&Call) -> Outcome + Send>;
/// Decides by the request.
pub(crate) type Reactor = Box<dyn FnMut(&dyn Any) -> Reacted + Send>;

/// What a step does.
pub(crate) enum Action {
    Effect(Effect),
    /// Answers with this; nothing is done.
    Reply(Answerer),
    /// Decides by the request.
    React(Reactor),
    /// Holds the request until it is let go.
    Park,
}
/// What a closure decided.
pub(crate) enum Reacted {
    Effect(Effect),
    Reply(Answerer),
}
/// What becomes of one request.
#[derive(Debug)]
pub(crate) enum Verdict {
    Effect(Effect),
    Answer(Outcome),
    Park,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Effect(effect) => effect.fmt(f),
            Self::Reply(_) => f.write_str(REPLIED),
            Self::React(_) => f.write_str("treated as a closure decides"),
            Self::Park => f.write_str(HELD),
        }
    }
}
impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Action({self})")
    }
}
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Effect(effect) => effect.fmt(f),
            Self::Answer(_) => f.write_str(REPLIED),
            Self::Park => f.write_str(HELD),
        }
    }
}
const REPLIED: &str = "answered with what a test has set";
const HELD: &str = "held until a test lets it go";

/// What a step does to how many requests.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    pub(crate) rtt: Duration,
    pub(crate) left: Option<u64>,
}
impl fmt::Display for Step {
    /// As in "3 times refused with NOT_ENOUGH_REPLICAS, the answer 20 ms late".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.left {
            None => f.write_str("always ")?,
            Some(1) => f.write_str("once ")?,
            Some(left) => write!(f, "{left} times ")?,
        }
        self.action.fmt(f)?;
        if self.rtt.is_zero() { Ok(()) } else { write!(f, ", the answer {} ms late", self.rtt.as_millis()) }
    }
}

/// Which requests are meant.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    pub(crate) api: Option<ApiKey>,
    pub(crate) node: Option<NodeId>,
    pub(crate) group: Option<String>,
    pub(crate) partition: Option<PartitionScope>,
    pub(crate) client_id: Option<String>,
}
impl Scope {
    /// Narrower scopes come first: of a partition, of a group, of a node, of the cluster.
    pub(super) fn narrowness(&self) -> (bool, bool, bool) {
        (self.group.is_some(), self.client_id.is_some(), self.node.is_some())
    }
    fn contains(&self, api: ApiKey, call: &Call, group: Option<&str>) -> bool {
        self.api.is_none_or(|only| only == api)
            && self.node.is_none_or(|only| only == call.node)
            && self.client_id.as_deref().is_none_or(|only| only == call.client_id.as_str())
            && self.group.as_deref().is_none_or(|only| Some(only) == group)
    }
}
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.api {
            Some(api) => write!(f, "{api}")?,
            None => f.write_str("any request")?,
        }
        if let Some(PartitionScope { topic, partition }) = &self.partition {
            write!(f, " of {topic}-{partition}")?;
        }
        if let Some(group) = &self.group {
            write!(f, " of group {group}")?;
        }
        if let Some(client_id) = &self.client_id {
            write!(f, " from {client_id}")?;
        }
        self.node.map_or(Ok(()), |node| write!(f, " at node {node}"))
    }
}

/// A rule.
pub(crate) struct Rule {
    pub(crate) id: u64,
    pub(crate) scope: Scope,
    pub(crate) when: Option<When>,
    pub(crate) steps: VecDeque<Step>,
    pub(crate) used: u64,
}
impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").field("state", &self.state()).finish_non_exhaustive()
    }
}
impl Rule {
    pub(crate) fn new(scope: Scope, when: Option<When>, steps: impl Into<VecDeque<Step>>) -> Self {
        Self { id: 0, scope, when, steps: steps.into(), used: 0 }
    }
    pub(super) fn applies(&mut self, api: ApiKey, call: &Call, group: Option<&str>, request: &dyn Any) -> bool {
        self.scope.contains(api, call, group) && self.when.as_mut().is_none_or(|when| when(request))
    }
    pub(super) fn applies_to_partition(&self, api: ApiKey, call: &Call, topic: &str, partition: i32) -> bool {
        let is_meant = |scope: &PartitionScope| scope.topic == topic && scope.partition == partition;
        self.scope.partition.as_ref().is_some_and(is_meant) && self.scope.contains(api, call, None)
    }
    /// Uses one of its turns up.
    pub(super) fn take(&mut self, call: &Call, request: &dyn Any) -> Option<Taken> {
        let step = self.steps.front_mut()?;
        let verdict = match &mut step.action {
            Action::Effect(effect) => Verdict::Effect(*effect),
            Action::Reply(answer) => Verdict::Answer(answer(call)),
            Action::Park => Verdict::Park,
            Action::React(react) => match react(request) {
                Reacted::Effect(effect) => Verdict::Effect(effect),
                Reacted::Reply(answer) => Verdict::Answer(answer(call)),
            },
        };
        let rtt = step.rtt;
        step.left = step.left.map(|left| left.saturating_sub(1));
        if step.left == Some(0) {
            self.steps.pop_front();
        }
        self.used += 1;
        Some(Taken { verdict, rtt, rule: self.id })
    }
    pub(super) fn state(&self) -> FaultState {
        let steps: Vec<String> = self.steps.iter().map(Step::to_string).collect();
        let left = if steps.is_empty() { "used up".to_owned() } else { steps.join("; then ") };
        FaultState {
            id: self.id,
            text: format!("{}: {left}", self.scope),
            used: self.used,
            left: self.steps.iter().try_fold(0_u64, |sum, step| Some(sum.saturating_add(step.left?))),
        }
    }
}
impl From<FaultPlan> for Rule {
    fn from(plan: FaultPlan) -> Self {
        let FaultPlan { api, node, group, partition, client_id, steps } = plan;
        let scope = Scope { api, node: node.map(NodeId::new), group, partition, client_id };
        let steps =
            steps.into_iter().map(|step| Step { action: Action::Effect(step.effect), rtt: step.rtt, left: step.times });
        Self::new(scope, None, steps.collect::<VecDeque<_>>())
    }
}
