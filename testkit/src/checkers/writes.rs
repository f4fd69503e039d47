//! K-1 and K-2: no acknowledged record is passed over, and none is left unread.

use super::facts::Facts;
use super::{Checker, History, Violation};

pub(super) fn check(facts: &Facts, history: &History, found: &mut Vec<Violation>) {
    let is_unread = |value| !facts.read.contains(value);
    for (value, sent) in facts.sends.iter().filter(|(value, sent)| is_unread(value) && facts.is_durable(sent)) {
        let Some(highest) = facts.read_to.get(&sent.partition) else {
            let is_read = facts.read_to.keys().any(|partition| partition.topic == sent.partition.topic);
            if is_read && history.is_read_whole {
                found.push(unseen(*value, sent));
            }
            continue;
        };
        if sent.offset.is_some_and(|offset| offset < *highest) {
            let text =
                format!("value {value} at {}@{:?} was never read, and {highest} was", sent.partition, sent.offset);
            found.push(Violation::new(Checker::K1, "lost-write", text));
        } else if history.is_read_whole {
            found.push(unseen(*value, sent));
        }
    }
}

fn unseen(value: super::Value, sent: &super::facts::Sent) -> Violation {
    let text = format!("value {value}, acknowledged at {}@{:?}, is unread at the end", sent.partition, sent.offset);
    Violation::new(Checker::K2, "unseen", text)
}
