//! K-13: every send is resolved exactly once, and none after its client is closed.

use super::{Checker, ClientId, Event, History, Value, Violation};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let mut open: BTreeMap<Value, ClientId> = BTreeMap::new();
    let mut closed: BTreeSet<ClientId> = BTreeSet::new();
    let mut violate = |text: String| found.push(Violation::new(Checker::K13, "resolution", text));
    for (at, client, event) in history.events() {
        match event {
            Event::Send { value, .. } => _ = open.insert(*value, client),
            Event::Acked { value, .. } | Event::SendFailed { value, .. } => {
                if open.remove(value).is_none() {
                    violate(format!("the send of value {value} was resolved again at {at:?}"));
                }
                if closed.contains(&client) {
                    violate(format!("the send of value {value} was resolved at {at:?}, after {client:?} was closed"));
                }
            }
            Event::Closed => _ = closed.insert(client),
            _ => {}
        }
    }
    for (value, client) in open.iter().filter(|(_, client)| closed.contains(client)) {
        violate(format!("the send of value {value} by {client:?}, which is closed, was never resolved"));
    }
}
