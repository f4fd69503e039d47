//! A request with retries, until its deadline: what everything off the hot paths uses.

use super::Client;
use crate::net::{Place, Purpose, Reply, RequestError, Throttled};
use crate::runtime::{sleep_until, timeout_at};
use crate::{Error, ErrorKind};
use millstream_client_core::backoff::Backoff;
use millstream_client_core::cluster::{CoordinatorKey, Creation};
use millstream_client_core::connection::Outgoing;
use millstream_protocol::messages::Request;
use millstream_protocol::{ErrorCode, NodeId, TopicPartition};
use std::sync::Arc;
use std::time::Instant;

/// Whom to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// Any broker.
    Any,
    /// The broker that changes the cluster.
    Controller,
    /// This broker and no other.
    Node(NodeId),
    /// The coordinator of a group or a transactional id.
    Coordinator(CoordinatorKey),
    /// The leader of a partition.
    Leader(TopicPartition),
}

/// A request, but for its body.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    operation: String,
    target: Target,
    purpose: Purpose,
    max_version: Option<i16>,
    deadline: Option<Instant>,
}

impl Call {
    /// A call whose errors begin with `operation`: "describe group `g`".
    pub(crate) fn new(operation: impl Into<String>, target: Target) -> Self {
        let operation = operation.into();
        Self { operation, target, purpose: Purpose::Other, max_version: None, deadline: None }
    }
    /// Uses the connections for this purpose instead of those for everything else.
    pub(crate) const fn purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = purpose;
        self
    }
    /// Uses no version above this.
    pub(crate) const fn max_version(mut self, version: i16) -> Self {
        self.max_version = Some(version);
        self
    }
    /// When to give up, instead of after `default.api.timeout.ms`.
    pub(crate) const fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }
}

impl Client {
    /// Sends a request until it is answered by something that another try would not change, or the deadline passes.
    ///
    /// `build` makes the body for the agreed version; `code` is what decides whether to try again: retriable codes are, after
    /// the metadata or the coordinator has been looked up anew if they say so. Any other code is the caller's to judge: the
    /// answer is returned. A failure after which the request may have had its effect `is_in_doubt`.
    pub(crate) async fn call<R: Request>(
        &self,
        call: Call,
        build: impl Fn(i16) -> R + Send + Sync + 'static,
        code: impl Fn(&R::Response) -> ErrorCode + Send,
    ) -> Result<Reply<R::Response>, Error>
    where
        R::Response: Throttled,
    {
        let deadline = call.deadline.unwrap_or_else(|| self.api_deadline());
        let build = Arc::new(build);
        let mut attempts = Attempts::new(self, &call, deadline);
        loop {
            let place = match self.place(&call, deadline).await {
                Ok(place) => place,
                Err(error) if error.is_retriable() && self.now() < deadline => {
                    attempts.pause(Failure::Nowhere(error)).await?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let link = self.hub().pool().link(place, call.purpose);
            let mut outgoing = Outgoing::new(R::KEY, link.request_timeout());
            outgoing.max_version = call.max_version;
            let build = Arc::clone(&build);
            let sent = link.send(outgoing, move |version| build(version));
            match timeout_at(&**self.runtime(), deadline, sent).await {
                None => return Err(attempts.timed_out(place)),
                Some(Ok(reply)) => {
                    self.reached(&call.target);
                    let code = code(&reply.body);
                    if !code.is_retriable() && !code.refreshes_coordinator() {
                        return Ok(Reply { in_doubt: attempts.in_doubt, ..reply });
                    }
                    self.handle_code(&call.target, place, code);
                    attempts.pause(Failure::Code(place, code)).await?;
                }
                Some(Err(error)) => {
                    self.handle_error(&call.target, place, &error);
                    attempts.pause(Failure::Request(place, error)).await?;
                }
            }
        }
    }

    /// The broker to ask now.
    async fn place(&self, call: &Call, deadline: Instant) -> Result<Place, Error> {
        let image = self.hub().image();
        match &call.target {
            Target::Any => Ok(self.any_place()),
            Target::Node(id) => Ok(Place::Node(*id)),
            Target::Controller => Ok(image.controller.map_or_else(|| self.any_place(), Place::Node)),
            Target::Coordinator(key) => Ok(Place::Node(Box::pin(self.coordinator(key, deadline)).await?)),
            Target::Leader(partition) => {
                let topic = self.hub().topic(&partition.topic, Creation::Forbidden, deadline).await?;
                let leader = topic.partition(partition.partition).and_then(|partition| partition.leader);
                leader.map(Place::Node).ok_or_else(|| {
                    self.hub().request_refresh();
                    Error::broker(ErrorCode::LEADER_NOT_AVAILABLE, &call.operation).about(partition.clone())
                })
            }
        }
    }
    fn any_place(&self) -> Place {
        self.hub().places().into_iter().next().unwrap_or(Place::Bootstrap(0))
    }

    fn reached(&self, target: &Target) {
        if let Target::Coordinator(key) = target {
            self.with_coordinators(|coordinators| coordinators.handle_reached(key));
        }
    }
    fn handle_code(&self, target: &Target, place: Place, code: ErrorCode) {
        if let (Target::Coordinator(key), Some(node)) = (target, place.node())
            && code.refreshes_coordinator()
        {
            self.coordinator_moved(key, node);
        }
        if code.refreshes_metadata() || code == ErrorCode::NOT_CONTROLLER {
            self.hub().request_refresh();
        }
    }
    fn handle_error(&self, target: &Target, place: Place, error: &RequestError) {
        if let (Target::Coordinator(key), Some(node)) = (target, place.node()) {
            if error.is_timeout() {
                self.coordinator_moved(key, node);
            } else if matches!(error, RequestError::Connect(_)) {
                self.with_coordinators(|coordinators| coordinators.handle_unreachable(key, node));
            }
        }
        if error.is_retriable() && !error.is_idle_close() {
            self.hub().request_refresh();
        }
    }
}

enum Failure {
    Nowhere(Error),
    Code(Place, ErrorCode),
    Request(Place, RequestError),
}

/// The tries of one call: how long to wait between them, and what to say when they are over.
struct Attempts<'c> {
    client: &'c Client,
    operation: &'c str,
    deadline: Instant,
    backoff: Backoff,
    in_doubt: bool,
    last: Option<String>,
}

impl<'c> Attempts<'c> {
    fn new(client: &'c Client, call: &'c Call, deadline: Instant) -> Self {
        let backoff = client.hub().backoff();
        Self { client, operation: &call.operation, deadline, backoff, in_doubt: false, last: None }
    }
    /// Waits for the next try, unless there should be none.
    async fn pause(&mut self, failure: Failure) -> Result<(), Error> {
        let why = match &failure {
            Failure::Nowhere(error) => error.to_string(),
            Failure::Code(_, code) => code.to_string(),
            Failure::Request(_, error) => error.to_string(),
        };
        let (retriable, error) = match failure {
            Failure::Nowhere(error) => (true, error),
            Failure::Code(place, code) => {
                (true, at(place, Error::broker(code, self.operation).reason(code).retriable(true)))
            }
            Failure::Request(place, error) => {
                self.in_doubt |= error.may_be_sent();
                (error.is_retriable(), at(place, error.into_error(self.operation)))
            }
        };
        let error = if self.in_doubt { error.doubtful() } else { error };
        let wait = self.client.hub().next_wait(&mut self.backoff);
        let until = self.client.now() + wait;
        if !retriable || until >= self.deadline {
            return Err(error);
        }
        tracing::debug!(%error, ?wait, "trying again");
        self.last = Some(why);
        sleep_until(&**self.client.runtime(), until).await;
        Ok(())
    }
    fn timed_out(self, place: Place) -> Error {
        let error = at(place, Error::new(ErrorKind::TimedOut, self.operation)).doubtful();
        match self.last {
            Some(last) => error.reason(format_args!("no answer in time; the try before ended with: {last}")),
            None => error.reason("no answer in time"),
        }
    }
}

fn at(place: Place, error: Error) -> Error {
    match place.node() {
        Some(node) => error.at(node),
        None => error,
    }
}
