//! K-16: what a producer has taken and not resolved is never more than it may hold. What is resolved at the moment at which more is taken made
//! room for that: in which order a program's tasks write the two down is chance.

use super::{Checker, ClientId, Event, History, Value, Violation};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let mut producers = Producers::default();
    let mut events = history.events().peekable();
    while let Some((at, client, event)) = events.next() {
        producers.note(client, event);
        if events.peek().is_none_or(|(next, ..)| *next > at) {
            producers.moment_ends(at, found);
        }
    }
}

#[derive(Debug, Default)]
struct Producers {
    limits: BTreeMap<ClientId, usize>,
    sizes: BTreeMap<Value, usize>,
    held: BTreeMap<ClientId, usize>,
    /// Those that have taken something at this moment.
    took: BTreeSet<ClientId>,
}

impl Producers {
    fn note(&mut self, client: ClientId, event: &Event) {
        match event {
            Event::MemoryLimit(bytes) => _ = self.limits.insert(client, *bytes),
            Event::Send { value, bytes, .. } => _ = self.sizes.insert(*value, *bytes),
            Event::Taken { value } => {
                *self.held.entry(client).or_default() += self.sizes.get(value).copied().unwrap_or(0);
                self.took.insert(client);
            }
            Event::Acked { value, .. } | Event::SendFailed { value, .. } => {
                let bytes = self.sizes.remove(value).unwrap_or(0);
                self.held.entry(client).and_modify(|held| *held = held.saturating_sub(bytes));
            }
            _ => {}
        }
    }
    fn moment_ends(&mut self, at: Duration, found: &mut Vec<Violation>) {
        for client in std::mem::take(&mut self.took) {
            let held = self.held.get(&client).copied().unwrap_or(0);
            if let Some(limit) = self.limits.get(&client).filter(|limit| **limit < held) {
                let text = format!("at {at:?} {client:?} holds {held} bytes, of which it may have {limit}");
                found.push(Violation::new(Checker::K16, "memory", text));
            }
        }
    }
}
