//! What brokers are told to do wrong.

use millstream_protocol::{ApiKey, ErrorCode, NodeId};

/// What becomes of a request instead of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It is refused with a code, at the level where its API has codes; nothing is done.
    Error(ErrorCode),
    /// The connection ends; nothing is done.
    Disconnect,
}

/// A rule for the next requests of an API.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) api: ApiKey,
    pub(crate) node: Option<NodeId>,
    pub(crate) times: usize,
    pub(crate) effect: Effect,
}

/// The rules that are not used up, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn add(&mut self, fault: Fault) {
        self.0.push(fault);
    }
    /// Takes what is to happen to a request.
    pub(crate) fn take(&mut self, api: ApiKey, node: NodeId) -> Option<Effect> {
        let applies = |fault: &Fault| fault.api == api && fault.node.is_none_or(|only| only == node) && fault.times > 0;
        let fault = self.0.iter_mut().find(|fault| applies(fault))?;
        fault.times -= 1;
        let effect = fault.effect;
        self.0.retain(|fault| fault.times > 0);
        Some(effect)
    }
}
