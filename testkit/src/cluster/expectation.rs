//! Statements about what was asked, that fail a test.

use super::logged::LoggedRequest;
use super::{AnyRequest, TestCluster};
use crate::broker::Exchange;
use millstream_protocol::messages::Request;
use millstream_protocol::{ApiKey, NodeId};

type Holds<R> = Box<dyn Fn(&LoggedRequest<R>) -> bool>;

/// A statement about the requests that are kept. Its last word says how many there are to be, and fails the test when there are not.
#[must_use = "it states nothing until it says how many, as with `exactly`"]
pub struct Expectation<'c, R = AnyRequest> {
    cluster: &'c TestCluster,
    api: ApiKey,
    node: Option<NodeId>,
    client_id: Option<String>,
    when: Option<Holds<R>>,
}
impl<R> std::fmt::Debug for Expectation<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Expectation").field("api", &self.api).field("node", &self.node).finish_non_exhaustive()
    }
}

impl<'c, R> Expectation<'c, R> {
    pub(super) fn new(cluster: &'c TestCluster, api: ApiKey) -> Self {
        Self { cluster, api, node: None, client_id: None, when: None }
    }
    /// Only at this broker.
    pub fn node(mut self, node: impl Into<NodeId>) -> Self {
        self.node = Some(node.into());
        self
    }
    /// Only from clients of this `client.id`.
    pub fn client_id(mut self, client_id: &str) -> Self {
        self.client_id = Some(client_id.to_owned());
        self
    }
    /// There are so many, no fewer and no more.
    ///
    /// # Panics
    ///
    /// When that is not so, with all that came.
    #[track_caller]
    pub fn exactly(self, count: usize) {
        let found = self.count();
        assert_eq!(found, count, "requests of {}; all that came:\n{}", self.api, self.cluster.requests().text());
    }
    /// There are no fewer than so many.
    ///
    /// # Panics
    ///
    /// When that is not so, with all that came.
    #[track_caller]
    pub fn at_least(self, count: usize) {
        let (found, api) = (self.count(), self.api);
        let all = self.cluster.requests().text();
        assert!(found >= count, "{found} requests of {api}, fewer than {count}; all that came:\n{all}");
    }
    /// There is none.
    ///
    /// # Panics
    ///
    /// When there is one, with all that came.
    #[track_caller]
    pub fn never(self) {
        self.exactly(0);
    }
    fn count(&self) -> usize {
        let is_meant = |exchange: &&Exchange| {
            exchange.api == self.api
                && self.node.is_none_or(|only| only == exchange.node)
                && self.client_id.as_ref().is_none_or(|only| *only == exchange.client_id)
        };
        let found: Vec<Exchange> =
            self.cluster.shared.look(|broker| broker.request_log().exchanges().filter(is_meant).cloned().collect());
        let holds = |exchange: Exchange| self.when.as_ref().is_none_or(|when| when(&LoggedRequest::new(exchange)));
        found.into_iter().filter(|exchange| holds(exchange.clone())).count()
    }
}
impl<R: Request> Expectation<'_, R> {
    /// Only those of which this holds.
    pub fn when(mut self, holds: impl Fn(&LoggedRequest<R>) -> bool + 'static) -> Self {
        self.when = Some(Box::new(holds));
        self
    }
}
