//! What is to be put into answers that come later.

use super::{Guard, Rights};
use crate::broker::Broker;
use crate::broker::call::{Call, ConnectionId};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

type Change<A> = dyn FnOnce(&Rights<'_>, &mut A) + Send;

/// Changes an answer of one API.
pub(crate) struct Patch<A>(Box<Change<A>>);

impl<A> Patch<A> {
    pub(crate) fn new(change: impl FnOnce(&Rights<'_>, &mut A) + Send + 'static) -> Self {
        Self(Box::new(change))
    }
    pub(crate) fn apply(self, rights: &Rights<'_>, answer: &mut A) {
        (self.0)(rights, answer);
    }
}

/// By connection: each has one request open.
#[derive(Default)]
pub(crate) struct Patches(BTreeMap<ConnectionId, Box<dyn Any + Send>>);

impl Patches {
    pub(crate) fn put<A: 'static>(&mut self, connection: ConnectionId, patch: Option<Patch<A>>) {
        match patch {
            Some(patch) => self.0.insert(connection, Box::new(patch)),
            None => self.0.remove(&connection),
        };
    }
    pub(crate) fn take<A: 'static>(&mut self, connection: ConnectionId) -> Option<Patch<A>> {
        self.0.remove(&connection)?.downcast().ok().map(|patch| *patch)
    }
    pub(crate) fn has(&self, connection: ConnectionId) -> bool {
        self.0.contains_key(&connection)
    }
    pub(crate) fn forget(&mut self, connection: ConnectionId) {
        self.0.remove(&connection);
    }
}

impl Broker {
    /// Puts into an answer what its request's guard has left for it.
    pub(crate) fn patch<R: Guard>(&mut self, call: &Call, response: &mut R::Response) {
        if let Some(patch) = self.patches.take::<R::Response>(call.connection) {
            patch.apply(&Rights::new(self, call, R::NEEDS), response);
        }
    }
}
impl fmt::Debug for Patches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
