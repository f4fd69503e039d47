//! Panics inside the brokers: of a closure that a test has set, or a bug. They are told with the request that was served, its connection ends, and
//! the test fails when the cluster is dropped.

use super::shared::Shared;
use super::{AnyRequest, LoggedRequest};
use crate::broker::{Broker, Closing, Peer};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// All panics so far.
#[derive(Debug, Default)]
pub(super) struct Panics(Mutex<Vec<String>>);

impl Panics {
    /// Tells of one, and hangs up on whoever waits for the answer.
    pub(super) fn note(&self, broker: &mut Broker, peer: &Peer, reason: &(dyn Any + Send)) {
        let asked = broker.request_log().exchanges().filter(|exchange| exchange.connection == peer.connection.0).last();
        let picture = asked.map(|exchange| LoggedRequest::<AnyRequest>::new(exchange.clone()).picture());
        let text = format!("{}, while it served {}", words(reason), picture.unwrap_or_default());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text.clone());
        broker.end_connection(peer, Closing::failed(format!("a broker panicked: {text}")));
    }
    /// Tells of one in what a broker does by itself. Time goes on: what was due is done no more, and all else is served.
    pub(super) fn note_in_time(&self, reason: &(dyn Any + Send)) {
        let text = format!("{}, while it did what was due", words(reason));
        tracing::error!("a broker panicked: {text}");
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }
    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
/// What a panic says.
fn words(reason: &(dyn Any + Send)) -> &str {
    let text = reason.downcast_ref::<&str>().copied();
    text.or_else(|| reason.downcast_ref::<String>().map(String::as_str)).unwrap_or("it did not say why")
}

/// Fails the test whose cluster has panicked, when it is dropped.
#[derive(Debug)]
pub(super) struct Verdict(pub(super) Arc<Shared>);

impl Drop for Verdict {
    fn drop(&mut self) {
        let all = self.0.panics().all();
        // A test that fails by itself has said so.
        assert!(all.is_empty() || std::thread::panicking(), "a broker panicked: {}", all.join("\n"));
    }
}
