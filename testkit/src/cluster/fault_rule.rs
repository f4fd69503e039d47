//! What brokers are told to do wrong.

use super::TestCluster;
use crate::broker::{Effect, Fault};
use millstream_protocol::{ApiKey, ErrorCode, NodeId};

/// A rule being written. It holds for the next requests of its API until it is used up; rules for one API are used in the order in which
/// they were made.
#[derive(Debug)]
#[must_use = "a rule does nothing until it says what is to happen: `error` or `disconnect`"]
pub struct FaultRule<'c> {
    cluster: &'c TestCluster,
    api: ApiKey,
    node: Option<NodeId>,
    times: usize,
}
impl<'c> FaultRule<'c> {
    pub(super) fn new(cluster: &'c TestCluster, api: ApiKey) -> Self {
        Self { cluster, api, node: None, times: 1 }
    }
    /// Only at this broker.
    pub fn node(mut self, node: impl Into<NodeId>) -> Self {
        self.node = Some(node.into());
        self
    }
    /// Only so many requests. Default: one.
    pub fn times(mut self, count: usize) -> Self {
        self.times = count;
        self
    }
    /// Answers with a code, at the level where the API has it; nothing is done.
    pub fn error(self, code: ErrorCode) {
        self.set(Effect::Error(code));
    }
    /// Closes the connection; nothing is done.
    pub fn disconnect(self) {
        self.set(Effect::Disconnect);
    }
    fn set(self, effect: Effect) {
        let fault = Fault { api: self.api, node: self.node, times: self.times, effect };
        self.cluster.with_broker(|broker| broker.add_fault(fault));
    }
}
