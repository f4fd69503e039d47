//! What the brokers were asked: counts, the last exchanges with their types, waits and dumps.

use super::coverage::Coverage;
use super::expectation::Expectation;
use super::logged::LoggedRequest;
use super::{AnyRequest, TestCluster};
use millstream_protocol::messages::Request;
use millstream_protocol::{ApiKey, NodeId};
use std::fmt::Write;

/// What the brokers were asked since the cluster began. Counts are of all requests; of exchanges the last 10,000 are kept, and no more than
/// 16 MiB of them.
#[derive(Debug, Clone, Copy)]
pub struct RequestLog<'c>(&'c TestCluster);

impl<'c> RequestLog<'c> {
    pub(super) fn new(cluster: &'c TestCluster) -> Self {
        Self(cluster)
    }
    /// How many requests of an API came, whatever became of them.
    #[must_use]
    pub fn count(&self, api: ApiKey) -> u64 {
        self.0.shared.look(|broker| broker.request_log().count(api, None))
    }
    /// How many came to one broker.
    #[must_use]
    pub fn count_at(&self, node: impl Into<NodeId>, api: ApiKey) -> u64 {
        let node = node.into();
        self.0.shared.look(|broker| broker.request_log().count(api, Some(node)))
    }
    /// All exchanges that are kept, oldest first.
    #[must_use]
    pub fn all(&self) -> Vec<LoggedRequest> {
        self.0.shared.look(|broker| broker.request_log().exchanges().cloned().map(LoggedRequest::new).collect())
    }
    /// How many exchanges were kept once and are no more.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.0.shared.look(|broker| broker.request_log().forgotten())
    }
    /// The exchanges of one type that are kept.
    #[must_use]
    pub fn of<R: Request>(&self) -> Vec<LoggedRequest<R>> {
        let is_meant = |exchange: &&crate::broker::Exchange| exchange.api == R::KEY;
        self.0
            .shared
            .look(|broker| broker.request_log().exchanges().filter(is_meant).cloned().map(LoggedRequest::new).collect())
    }
    /// Waits for a request of a type, among those that are kept and those that come.
    ///
    /// # Cancel safety
    ///
    /// Waiting changes nothing.
    ///
    /// # Panics
    ///
    /// After a minute without one, with all that came.
    pub async fn wait_for<R: Request>(&self, mut is_it: impl FnMut(&LoggedRequest<R>) -> bool) -> LoggedRequest<R> {
        let look = || self.of::<R>().into_iter().find(&mut is_it);
        self.0.wait_until(&format!("a request of {}", R::KEY), look).await
    }
    /// Waits until so many requests of an API have come since the cluster began.
    ///
    /// # Cancel safety
    ///
    /// Waiting changes nothing.
    ///
    /// # Panics
    ///
    /// After a minute with fewer, with all that came.
    pub async fn wait_for_count(&self, api: ApiKey, count: u64) {
        let look = || (self.count(api) >= count).then_some(());
        self.0.wait_until(&format!("{count} requests of {api}"), look).await;
    }
    /// Begins a statement about requests of a type: `cluster.requests().expect::<ProduceRequest>().exactly(2)`.
    pub fn expect<R: Request>(&self) -> Expectation<'c, R> {
        Expectation::new(self.0, R::KEY)
    }
    /// Begins a statement about requests of an API.
    pub fn expect_api(&self, api: ApiKey) -> Expectation<'c, AnyRequest> {
        Expectation::new(self.0, api)
    }
    /// One line for each exchange that is kept.
    #[must_use]
    pub fn text(&self) -> String {
        self.all().iter().fold(String::new(), |mut text, logged| {
            // Writing to a string cannot fail.
            let _infallible = writeln!(text, "{logged}");
            text
        })
    }
    /// Which APIs, versions and error codes were met, beside all that the cluster serves.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        self.0.shared.look(Coverage::of)
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
