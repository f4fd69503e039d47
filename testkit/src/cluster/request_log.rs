//! What the brokers were asked, in numbers.

use super::TestCluster;
use millstream_protocol::{ApiKey, NodeId};

/// What the brokers were asked since the cluster began.
#[derive(Debug, Clone, Copy)]
pub struct RequestLog<'c>(&'c TestCluster);

impl<'c> RequestLog<'c> {
    pub(super) fn new(cluster: &'c TestCluster) -> Self {
        Self(cluster)
    }
    /// How many requests of an API came, whatever became of them.
    #[must_use]
    pub fn count(&self, api: ApiKey) -> u64 {
        self.0.shared.look(|broker| broker.request_count(api, None))
    }
    /// How many came to one broker.
    #[must_use]
    pub fn count_at(&self, node: impl Into<NodeId>, api: ApiKey) -> u64 {
        let node = node.into();
        self.0.shared.look(|broker| broker.request_count(api, Some(node)))
    }
    /// How many records of a topic fetches have carried away, all partitions together. A record counts each time; markers of transactions
    /// count too, what lies in a batch before the wanted offset does not.
    #[must_use]
    pub fn fetched_records(&self, topic: &str) -> u64 {
        self.fetched_records_by_partition(topic).into_iter().sum()
    }
    /// The same by partition.
    #[must_use]
    pub fn fetched_records_by_partition(&self, topic: &str) -> Vec<u64> {
        self.0.shared.look(|broker| broker.fetched_records(topic))
    }
}
