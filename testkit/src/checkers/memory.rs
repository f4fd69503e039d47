//! K-16: what a producer has taken and not resolved is never more than it may hold.

use super::{Checker, ClientId, Event, History, Value, Violation};
use std::collections::BTreeMap;

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let mut limits: BTreeMap<ClientId, usize> = BTreeMap::new();
    let mut sizes: BTreeMap<Value, usize> = BTreeMap::new();
    let mut held: BTreeMap<ClientId, usize> = BTreeMap::new();
    for (at, client, event) in history.events() {
        match event {
            Event::MemoryLimit(bytes) => _ = limits.insert(client, *bytes),
            Event::Send { value, bytes, .. } => _ = sizes.insert(*value, *bytes),
            Event::Taken { value } => {
                let now = held.entry(client).or_default();
                *now += sizes.get(value).copied().unwrap_or(0);
                if let Some(limit) = limits.get(&client).filter(|limit| **limit < *now) {
                    let text = format!("at {at:?} {client:?} holds {now} bytes, of which it may have {limit}");
                    found.push(Violation::new(Checker::K16, "memory", text));
                }
            }
            Event::Acked { value, .. } | Event::SendFailed { value, .. } => {
                let bytes = sizes.remove(value).unwrap_or(0);
                held.entry(client).and_modify(|held| *held = held.saturating_sub(bytes));
            }
            _ => {}
        }
    }
}
