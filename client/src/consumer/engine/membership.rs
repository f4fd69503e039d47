//! The driver's part in the group: it does what the member's machine asks for.

use super::LossAck;
use super::driver::{Done, Driver};
use crate::client::Client;
use crate::net::{Place, Purpose, RequestError, Throttled};
use crate::{Error, ErrorKind};
use millstream_client_core::cluster::CoordinatorKey;
use millstream_client_core::connection::Outgoing;
use millstream_client_core::group::{Action, Failure, GroupError, GroupEvent, Member};
use millstream_protocol::messages::{HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, Request, SyncGroupRequest};
use std::time::{Duration, Instant};

impl Driver {
    pub(super) fn act_for_group(&mut self, now: Instant) {
        loop {
            let action = self.shared.member().and_then(|mut member| member.poll_action(now));
            let Some(action) = action else { return };
            self.act_on(action);
        }
    }
    pub(super) fn with_member(&self, change: impl FnOnce(&mut Member)) {
        if let Some(mut member) = self.shared.member() {
            change(&mut member);
        }
    }

    fn act_on(&mut self, action: Action) {
        let Some(group) = self.group.clone() else { return };
        let client = self.client.clone();
        let (quick, request) = (self.session_timeout.min(client.options().request_timeout), Purpose::Group);
        match action {
            Action::Join(call, body, timeout) => self.in_flight.push(async move {
                Done::Joined(call, ask::<JoinGroupRequest>(client, group, request, timeout, move |_| *body).await)
            }),
            Action::Sync(call, body, timeout) => self.in_flight.push(async move {
                Done::Synced(call, ask::<SyncGroupRequest>(client, group, request, timeout, move |_| *body).await)
            }),
            Action::Heartbeat(call, body) => self.in_flight.push(async move {
                Done::Beaten(call, ask::<HeartbeatRequest>(client, group, request, quick, move |_| *body).await)
            }),
            // A JoinGroup that waits must not hold it up.
            Action::Leave(call, leave) => self.in_flight.push(async move {
                let build = move |version| leave.request(version);
                Done::Left(call, ask::<LeaveGroupRequest>(client, group, Purpose::Other, quick, build).await)
            }),
            Action::FetchLayout(call, topics) => self.start_layout(call, topics),
            Action::ForgetCoordinator => self.forget_coordinator(),
            Action::Event(event) => self.tell(event),
            _ => {}
        }
    }
    fn forget_coordinator(&self) {
        if let Some(group) = &self.group {
            self.client.forget_coordinator(group);
        }
    }
    /// Queues an event first, so that nothing of what it changes is seen before it.
    fn tell(&self, event: GroupEvent) {
        if let GroupEvent::Failed(error) = &event {
            return self.shared.end_membership(edge_error(error));
        }
        self.shared.queue_event(event.clone());
        match event {
            GroupEvent::Assigned { added, .. } if self.shared.loss_ack == LossAck::AtOnce => {
                self.shared.fetcher().add(added);
            }
            GroupEvent::Lost { partitions, ack } => {
                self.shared.fetcher().remove(&partitions);
                if self.shared.loss_ack == LossAck::AtOnce {
                    self.shared.acknowledge(ack);
                }
            }
            _ => {}
        }
        self.shared.wake_for_events.notify_one();
    }
}

/// One request to the coordinator, and no second try: the member decides.
async fn ask<R: Request>(
    client: Client,
    group: CoordinatorKey,
    purpose: Purpose,
    timeout: Duration,
    build: impl FnOnce(i16) -> R + Send + 'static,
) -> Result<R::Response, Failure>
where
    R::Response: Throttled,
{
    let deadline = client.api_deadline();
    let node = client.coordinator(&group, deadline).await.map_err(|error| failure(&error))?;
    let link = client.hub().pool().link(Place::Node(node), purpose);
    match link.send::<R, _>(Outgoing::new(R::KEY, timeout), build).await {
        Ok(reply) => Ok(reply.body),
        Err(error @ (RequestError::Unsupported(_) | RequestError::Encode(_))) => Err(Failure::Fatal(error.to_string())),
        Err(error) => {
            tracing::debug!(%group, %node, %error, "the coordinator did not answer {}", R::KEY);
            Err(Failure::Unavailable)
        }
    }
}

fn failure(error: &Error) -> Failure {
    if error.is_retriable() { Failure::Unavailable } else { Failure::Fatal(error.to_string()) }
}

fn edge_error(error: &GroupError) -> Error {
    let edge = match error {
        GroupError::Refused { group, attempt, code } => Error::broker(*code, format!("{attempt} in group `{group}`")),
        GroupError::Fenced { group, .. } => Error::new(ErrorKind::Fenced, format!("stay in group `{group}`")),
        _ => Error::new(ErrorKind::Malformed, "join the group"),
    };
    edge.reason(error).because(error.clone())
}
