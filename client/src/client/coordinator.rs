//! Finds the broker that coordinates a group or a transactional id.

use super::Client;
use super::call::{Call, Target};
use crate::{Error, ErrorKind};
use millstream_client_core::cluster::{Broker, CoordinatorKey, Coordinators};
use millstream_protocol::messages::{FindCoordinatorRequest, FindCoordinatorResponse, StrBytes};
use millstream_protocol::{ErrorCode, NodeId};
use std::sync::PoisonError;
use std::time::Instant;

impl Client {
    /// The coordinator, from the cache or by asking. Every caller asks for itself, so none can cancel another's (M-9).
    pub(crate) async fn coordinator(&self, key: &CoordinatorKey, deadline: Instant) -> Result<NodeId, Error> {
        let known = self.with_coordinators(|coordinators| coordinators.find(key));
        if let Some(node) = known {
            return Ok(node);
        }
        let asked = key.clone();
        let call = Call::new(format!("find the coordinator of {key}"), Target::Any).deadline(deadline);
        let reply = self.call(call, move |version| request(&asked, version), |answer| first(answer).0).await?;
        let (code, node, broker) = first(&reply.body);
        if code.is_error() {
            return Err(Error::broker(code, format!("find the coordinator of {key}")).reason(code));
        }
        let broker = broker.ok_or_else(|| {
            Error::new(ErrorKind::Malformed, format!("find the coordinator of {key}")).reason("the answer names none")
        })?;
        self.hub().handle_hints(&[], vec![broker]);
        self.with_coordinators(|coordinators| coordinators.handle_found(key.clone(), node));
        Ok(node)
    }
    /// The broker said that it does not coordinate this, or was silent: the next call looks again.
    pub(crate) fn coordinator_moved(&self, key: &CoordinatorKey, from: NodeId) {
        self.with_coordinators(|coordinators| coordinators.handle_moved(key, from));
    }

    /// Whoever was the coordinator is so no more, or cannot be reached: the next call looks again.
    pub(crate) fn forget_coordinator(&self, key: &CoordinatorKey) {
        self.with_coordinators(|coordinators| {
            if let Some(node) = coordinators.find(key) {
                coordinators.handle_moved(key, node);
            }
        });
    }

    pub(super) fn with_coordinators<T>(&self, change: impl FnOnce(&mut Coordinators) -> T) -> T {
        change(&mut self.hub().coordinators.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn request(key: &CoordinatorKey, version: i16) -> FindCoordinatorRequest {
    let name = StrBytes::from_string(key.name().to_owned());
    let request = FindCoordinatorRequest::default().with_key_type(key.type_code());
    if version >= 4 { request.with_coordinator_keys(vec![name]) } else { request.with_key(name) }
}

/// The one answer, in either layout.
fn first(answer: &FindCoordinatorResponse) -> (ErrorCode, NodeId, Option<Broker>) {
    let (code, node, host, port) = match answer.coordinators.first() {
        Some(one) => (one.error_code, one.node_id, &one.host, one.port),
        None => (answer.error_code, answer.node_id, &answer.host, answer.port),
    };
    let id = NodeId::new(node.0);
    let broker = u16::try_from(port).ok().filter(|_| node.0 >= 0).map(|port| Broker::new(id, host.as_str(), port));
    (ErrorCode::new(code), id, broker)
}
