//! What brokers are told to do wrong, as a sentence in a test.

use super::TestCluster;
use super::parked::Parked;
use crate::broker::{APIS_OF_GROUPS, Action, Answerer, Closing, Outcome, Reacted, Rule, Scope, Step, When};
use crate::faults::{Effect, Malformation, Then};
use millstream_protocol::frame;
use millstream_protocol::messages::{FetchRequest, Request};
use millstream_protocol::{ApiKey, ErrorCode, NodeId};
use std::marker::PhantomData;
use std::time::Duration;

/// Stands for requests whose type a rule does not look at.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct AnyRequest;

/// What a closure decides about a request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Reaction<R: Request> {
    /// One of the effects that need not know the request.
    Do(Effect),
    /// This is the answer; nothing is done.
    Reply(Box<R::Response>),
}
impl<R: Request> Reaction<R> {
    /// It is served as if there were no rule.
    #[must_use]
    pub const fn pass() -> Self {
        Self::Do(Effect::Pass)
    }
    /// It is refused with a code, at the level where its API has codes.
    #[must_use]
    pub const fn error(code: ErrorCode) -> Self {
        Self::Do(Effect::Error(code))
    }
    /// This is the answer; nothing is done.
    #[must_use]
    pub fn reply(response: R::Response) -> Self {
        Self::Reply(Box::new(response))
    }
}
impl<R: Request> From<Effect> for Reaction<R> {
    fn from(effect: Effect) -> Self {
        Self::Do(effect)
    }
}

/// A rule being written: for which requests, how many, and, as its last word, what becomes of them.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use millstream_protocol::ErrorCode;
/// use millstream_protocol::messages::ProduceRequest;
/// use millstream_testkit::TestCluster;
///
/// let cluster = TestCluster::start().await;
/// cluster.on::<ProduceRequest>().times(3).when(|request| request.acks == -1).error(ErrorCode::NOT_ENOUGH_REPLICAS);
/// assert_eq!(cluster.faults()[0].left, Some(3));
/// # }
/// ```
#[must_use = "a rule does nothing until it says what is to happen, as with `error` or `disconnect`"]
pub struct FaultRule<'c, R = AnyRequest> {
    cluster: &'c TestCluster,
    scope: Scope,
    times: Option<u64>,
    rtt: Duration,
    when: Option<When>,
    request: PhantomData<fn(R)>,
}

impl<R> std::fmt::Debug for FaultRule<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultRule").field("scope", &self.scope).field("times", &self.times).finish_non_exhaustive()
    }
}

#[expect(clippy::must_use_candidate, reason = "only some tests ask later what became of a rule")]
impl<'c, R> FaultRule<'c, R> {
    pub(super) fn new(cluster: &'c TestCluster, api: Option<ApiKey>) -> Self {
        let scope = Scope { api, ..Scope::default() };
        Self { cluster, scope, times: Some(1), rtt: Duration::ZERO, when: None, request: PhantomData }
    }
    /// Only at this broker.
    pub fn node(mut self, node: impl Into<NodeId>) -> Self {
        self.scope.node = Some(node.into());
        self
    }
    /// Only about this group.
    ///
    /// # Panics
    ///
    /// When requests of this API are about no group.
    pub fn group(mut self, group: &str) -> Self {
        if let Some(api) = self.scope.api {
            assert!(APIS_OF_GROUPS.contains(&api), "{api} is about no group: the rule would never be used");
        }
        self.scope.group = Some(group.to_owned());
        self
    }
    /// Only from clients of this `client.id`.
    pub fn client_id(mut self, client_id: &str) -> Self {
        self.scope.client_id = Some(client_id.to_owned());
        self
    }
    /// Only so many requests. Default: one.
    pub fn times(mut self, count: u64) -> Self {
        self.times = Some(count);
        self
    }
    /// All requests that come.
    pub fn always(mut self) -> Self {
        self.times = None;
        self
    }
    /// The answer, if there is one, comes so much later.
    pub fn rtt(mut self, rtt: Duration) -> Self {
        self.rtt = rtt;
        self
    }

    /// Serves it as if there were no rule: to count requests, or for [`rtt`](Self::rtt) alone.
    pub fn pass(self) {
        self.effect(Effect::Pass);
    }
    /// Answers with a code, at the level where the API has it; nothing is done.
    pub fn error(self, code: ErrorCode) {
        self.effect(Effect::Error(code));
    }
    /// Closes the connection; nothing is done.
    pub fn disconnect(self) {
        self.effect(Effect::Disconnect);
    }
    /// Never answers, and leaves the connection open; nothing is done.
    pub fn silence(self) {
        self.effect(Effect::Silence);
    }
    /// Waits before it is served.
    pub fn delay(self, by: Duration) {
        self.effect(Effect::Delay(by));
    }
    /// Serves it, and spoils how the answer comes.
    pub fn apply_then(self, then: Then) {
        self.effect(Effect::ApplyThen(then));
    }
    /// Serves it, and answers what no Kafka would.
    pub fn malform(self, how: Malformation) {
        self.effect(Effect::Malform(how));
    }
    /// Any of the effects; returns the rule's number, for [`TestCluster::fault`].
    pub fn effect(self, effect: Effect) -> u64 {
        self.add(Action::Effect(effect))
    }
    /// Holds the requests until the guard is told to let them go, or is dropped: so that something can happen while they are under way.
    pub fn park(self) -> Parked<'c> {
        let cluster = self.cluster;
        Parked::new(cluster, self.add(Action::Park))
    }
    fn add(self, action: Action) -> u64 {
        let step = Step { action, rtt: self.rtt, left: self.times };
        let rule = Rule::new(self.scope, self.when, [step]);
        self.cluster.with_broker(|broker| broker.faults_mut().add(rule))
    }
}

impl<R: Request> FaultRule<'_, R> {
    /// Only requests of which this holds. It is asked in the order in which requests come, while the cluster's lock is held: it must not
    /// ask the cluster for anything.
    pub fn when(mut self, mut holds: impl FnMut(&R) -> bool + Send + 'static) -> Self {
        self.when = Some(Box::new(move |request| request.downcast_ref().is_some_and(&mut holds)));
        self
    }
    /// Answers with this; nothing is done.
    pub fn reply(self, response: R::Response) {
        self.add(Action::Reply(answerer::<R>(response)));
    }
    /// Lets a closure decide, request by request; what holds for [`when`](Self::when) holds for it.
    pub fn react(self, mut react: impl FnMut(&R) -> Reaction<R> + Send + 'static) {
        self.add(Action::React(Box::new(move |request| match request.downcast_ref().map(&mut react) {
            None => Reacted::Effect(Effect::Pass),
            Some(Reaction::Do(effect)) => Reacted::Effect(effect),
            Some(Reaction::Reply(response)) => Reacted::Reply(answerer::<R>(*response)),
        })));
    }
}
impl FaultRule<'_, FetchRequest> {
    /// Serves it, and flips a bit of the records in the answer, as a bad line does: their checksum is wrong.
    pub fn corrupt_records(self) {
        self.effect(Effect::CorruptRecords);
    }
}

fn answerer<R: Request>(response: R::Response) -> Answerer {
    Box::new(move |call| {
        let frame = frame::encode_response::<R>(call.version, call.correlation_id, &response);
        // A test that answers what this version cannot carry is told so by the end of the connection, and here.
        frame.map_or_else(
            |error| Outcome::Close(Closing::failed(format!("the answer of a rule cannot be written: {error}"))),
            Outcome::Frame,
        )
    })
}
