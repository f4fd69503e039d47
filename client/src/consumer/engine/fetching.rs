//! The driver's fetches, lookups and checks of truncation.

use super::Shared;
use super::driver::{Checked, Done, Driver};
use crate::Error;
use crate::net::{Place, Purpose, Reply, RequestError};
use millstream_client_core::connection::Outgoing;
use millstream_client_core::fetch::{FetchPlan, Generation, Lookup, Outcome, Position, Stream, Validation};
use millstream_protocol::messages::{
    FetchRequest, FetchResponse, ListOffsetsRequest, ListOffsetsResponse, OffsetForLeaderEpochRequest, Request,
};
use millstream_protocol::{NodeId, Timestamp, TopicPartition};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How soon after one request for the cluster's picture the next may follow, while a partition has no leader.
const REFRESH_AGAIN: Duration = Duration::from_millis(200);

impl Driver {
    pub(super) fn start_fetches(&mut self, now: Instant) {
        let image = self.client.hub().image();
        let mut plans = Vec::new();
        {
            let mut fetcher = self.shared.fetcher();
            for stream in fetcher.streams_to_fetch(now, &image) {
                plans.extend(fetcher.poll_fetch(now, stream, &image));
            }
        }
        plans.into_iter().for_each(|plan| self.start_fetch(plan));
        self.refresh_for_leaders(now);
    }
    fn start_fetch(&mut self, plan: FetchPlan) {
        let stream = plan.stream();
        let (node, purpose) = (stream.node(), if stream.is_beside() { Purpose::FetchBeside } else { Purpose::Fetch });
        let link = self.client.hub().pool().link(Place::Node(node), purpose);
        let mut outgoing = Outgoing::new(FetchRequest::KEY, link.request_timeout() + plan.max_wait());
        outgoing.max_version = plan.max_version();
        let sent = link.send::<FetchRequest, _>(outgoing, move |version| plan.request(version));
        let shared = Arc::clone(&self.shared);
        self.in_flight.push(async move { Done::Fetched(stream, outcome(&shared, node, sent.await)) });
    }
    pub(super) fn file_fetch(&mut self, now: Instant, stream: Stream, outcome: Outcome) {
        let follow_up = self.shared.fetcher().handle_fetch(now, stream, outcome);
        if follow_up.ready {
            self.shared.wake_for_records();
        }
        if !follow_up.hints.is_empty() {
            self.client.hub().handle_hints(&follow_up.hints, follow_up.brokers);
        }
        if follow_up.refresh_metadata {
            self.client.hub().request_refresh();
        }
    }
    /// A partition without a leader waits for the cluster's picture; the next one is asked for until it has one.
    fn refresh_for_leaders(&mut self, now: Instant) {
        let image = self.client.hub().image();
        if !self.shared.fetcher().needs_metadata(&image) {
            self.next_refresh = None;
        } else if self.next_refresh.is_none_or(|at| at <= now) {
            self.client.hub().request_refresh();
            self.next_refresh = Some(now + REFRESH_AGAIN);
        }
    }

    pub(super) fn start_lookups(&mut self, now: Instant, wall: Timestamp) {
        self.start_committed(now);
        let image = self.client.hub().image();
        let was_ready = self.shared.fetcher().has_ready();
        loop {
            let next = self.shared.fetcher().poll_lookup(now, wall, &image);
            let Some(lookup) = next else { break };
            self.start_lookup(lookup);
        }
        loop {
            let next = self.shared.fetcher().poll_validation(now, &image);
            let Some(validation) = next else { break };
            self.start_validation(validation);
        }
        if !was_ready && self.shared.fetcher().has_ready() {
            self.shared.wake_for_records();
        }
    }
    fn start_lookup(&mut self, lookup: Lookup) {
        let link = self.client.hub().pool().link(Place::Node(lookup.node()), Purpose::Other);
        let outgoing = Outgoing::new(ListOffsetsRequest::KEY, link.request_timeout());
        let request = lookup.request();
        let sent = link.send::<ListOffsetsRequest, _>(outgoing, move |_| request);
        let shared = Arc::clone(&self.shared);
        self.in_flight.push(async move {
            let answer = sent.await.map_err(|error| told(&shared, "look up offsets", lookup.node(), error));
            Done::LookedUp(lookup, answer.ok().map(|reply| reply.body))
        });
    }
    pub(super) fn file_lookup(&mut self, now: Instant, lookup: &Lookup, answer: Option<&ListOffsetsResponse>) {
        if self.shared.fetcher().handle_lookup(now, lookup, answer) {
            self.client.hub().request_refresh();
        }
    }
    fn start_validation(&mut self, validation: Validation) {
        let link = self.client.hub().pool().link(Place::Node(validation.node()), Purpose::Other);
        let outgoing = Outgoing::new(OffsetForLeaderEpochRequest::KEY, link.request_timeout());
        let request = validation.request();
        let sent = link.send::<OffsetForLeaderEpochRequest, _>(outgoing, move |_| request);
        let shared = Arc::clone(&self.shared);
        self.in_flight.push(async move {
            let checked = match sent.await {
                Ok(reply) => Checked::Answer(reply.body),
                Err(RequestError::Unsupported(_)) => Checked::Unsupported,
                Err(error) => {
                    told(&shared, "check for truncation", validation.node(), error);
                    Checked::NoAnswer
                }
            };
            Done::Validated(validation, checked)
        });
    }
    pub(super) fn file_validation(&mut self, now: Instant, validation: &Validation, checked: &Checked) {
        let refresh = {
            let mut fetcher = self.shared.fetcher();
            match checked {
                Checked::Answer(answer) => fetcher.handle_validation(now, validation, Some(answer)),
                Checked::NoAnswer => fetcher.handle_validation(now, validation, None),
                Checked::Unsupported => {
                    fetcher.handle_validation_unsupported(validation);
                    false
                }
            }
        };
        if refresh {
            self.client.hub().request_refresh();
        }
        self.shared.wake_for_records();
    }

    fn start_committed(&mut self, now: Instant) {
        let asked = self.shared.fetcher().poll_uncommitted(now);
        if asked.is_empty() {
            return;
        }
        let Some(group) = self.group.clone() else {
            self.file_committed(now, &asked, Ok(crate::Offsets::new()));
            return;
        };
        let client = self.client.clone();
        self.in_flight.push(async move {
            let partitions = asked.iter().map(|(id, _)| id.clone()).collect();
            let answer = super::committed(&client, &group, partitions).await;
            Done::Committed(asked, answer)
        });
    }
    pub(super) fn file_committed(
        &mut self,
        now: Instant,
        asked: &[(TopicPartition, Generation)],
        answer: Result<crate::Offsets, Error>,
    ) {
        let mut fetcher = self.shared.fetcher();
        match answer {
            Ok(offsets) => {
                for (id, generation) in asked {
                    let committed = offsets.of(id).map(|next| Position::after(next.offset, next.leader_epoch));
                    fetcher.handle_committed(id, *generation, committed);
                }
            }
            Err(error) => {
                for (id, generation) in asked {
                    fetcher.handle_committed_failed(now, id, *generation);
                }
                drop(fetcher);
                if error.is_retriable() {
                    tracing::warn!(%error, "committed offsets are asked for again");
                } else {
                    self.shared.fail(error);
                }
            }
        }
    }
}

fn outcome(shared: &Shared, node: NodeId, answer: Result<Reply<FetchResponse>, RequestError>) -> Outcome {
    match answer {
        Ok(reply) => Outcome::Answered(reply.version, Box::new(reply.body)),
        Err(error) => {
            told(shared, "read records", node, error);
            Outcome::Failed
        }
    }
}

/// Logs a request that is made again; one that no other try can mend is told to the application as well.
fn told(shared: &Shared, what: &'static str, node: NodeId, error: RequestError) {
    tracing::debug!(%node, %error, "could not {what}; trying again");
    if matches!(error, RequestError::Unsupported(_) | RequestError::Encode(_)) {
        shared.fail_once(error.into_error(what).at(node));
    }
}
