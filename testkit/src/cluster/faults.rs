//! Faults of requests: rules and plans, and what became of them.

use super::{AnyRequest, FaultRule, TestCluster};
use crate::broker::{NodeState, Rule};
use crate::faults::{FaultPlan, FaultPlanError, FaultState};
use millstream_protocol::messages::Request;
use millstream_protocol::{ApiKey, NodeId};

impl TestCluster {
    /// Begins a rule for requests of a type: `cluster.on::<ProduceRequest>().times(2).error(code)`.
    pub fn on<R: Request>(&self) -> FaultRule<'_, R> {
        FaultRule::new(self, Some(R::KEY))
    }
    /// Begins a rule for requests of an API, whatever is in them: `cluster.on_api(ApiKey::PRODUCE).disconnect()`.
    pub fn on_api(&self, api: ApiKey) -> FaultRule<'_, AnyRequest> {
        FaultRule::new(self, Some(api))
    }
    /// Begins a rule for all requests.
    pub fn on_any(&self) -> FaultRule<'_, AnyRequest> {
        FaultRule::new(self, None)
    }
    /// Adds a plan of faults; returns its number.
    ///
    /// # Errors
    ///
    /// When the plan cannot be: see [`FaultPlan::check`]; or when the cluster has no such node.
    pub fn add_faults(&self, plan: FaultPlan) -> Result<u64, FaultPlanError> {
        plan.check()?;
        if let Some(node) = plan.node {
            self.check_met_at(NodeId::new(node))?;
        }
        Ok(self.with_broker(|broker| broker.faults_mut().add(Rule::from(plan))))
    }
    fn check_met_at(&self, node: NodeId) -> Result<(), FaultPlanError> {
        let (is_known, state) = self.shared.look(|broker| (broker.has_node(node), broker.node_state(node)));
        let why = match state {
            NodeState::Removed if is_known => {
                format!("node {node} was removed from the cluster, and a restart alone brings it back")
            }
            NodeState::Removed => format!("the cluster has no node {node}"),
            _ => return Ok(()),
        };
        Err(FaultPlanError(format!("{why}: no request would ever meet the plan")))
    }
    /// All rules and plans since the last clearing, oldest first, also those that are used up.
    #[must_use]
    pub fn faults(&self) -> Vec<FaultState> {
        self.shared.look(|broker| broker.faults().states())
    }
    /// What became of one of them.
    #[must_use]
    pub fn fault(&self, id: u64) -> Option<FaultState> {
        self.faults().into_iter().find(|state| state.id == id)
    }
    /// Takes one away; says whether it was there and not used up.
    pub fn remove_fault(&self, id: u64) -> bool {
        self.with_broker(|broker| broker.faults_mut().remove(id))
    }
    /// Takes all away, and forgets those that are used up.
    pub fn clear_faults(&self) {
        self.with_broker(|broker| broker.faults_mut().clear());
    }
    /// Fails the test if a rule or a plan still waits for requests: the fault that was to happen did not. Those without an end have been
    /// used if they have met one request.
    ///
    /// # Panics
    ///
    /// When there is one, with all of them.
    pub fn assert_faults_used(&self) {
        let is_unused = |state: &FaultState| state.left.map_or(state.used == 0, |left| left > 0);
        let unused: Vec<FaultState> = self.faults().into_iter().filter(is_unused).collect();
        assert!(unused.is_empty(), "these faults were not used up: {unused:#?}");
    }
}
