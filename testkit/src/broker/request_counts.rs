//! What the brokers were asked.

use hashbrown::HashMap;
use millstream_protocol::{ApiKey, NodeId};

/// Requests by node and API.
#[derive(Debug, Default)]
pub(crate) struct RequestCounts(HashMap<(NodeId, ApiKey), u64>);

impl RequestCounts {
    pub(crate) fn count(&mut self, node: NodeId, api: ApiKey) {
        *self.0.entry((node, api)).or_default() += 1;
    }
    /// At one node, or at all.
    pub(crate) fn of(&self, api: ApiKey, node: Option<NodeId>) -> u64 {
        let is_meant = |(at, asked): &(NodeId, ApiKey)| *asked == api && node.is_none_or(|node| node == *at);
        self.0.iter().filter(|(key, _)| is_meant(key)).map(|(_, count)| count).sum()
    }
}
