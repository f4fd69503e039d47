//! K-7: what a producer sent to a partition lies there in the order in which it was sent.

use super::facts::Facts;
use super::{Checker, ClientId, Event, History, TransactionId, Violation};
use millstream_protocol::TopicPartition;
use std::collections::BTreeMap;

pub(super) fn check(facts: &Facts, history: &History, found: &mut Vec<Violation>) {
    let mut last: BTreeMap<(ClientId, TopicPartition), (i64, Option<TransactionId>)> = BTreeMap::new();
    for (_, client, event) in history.events() {
        let Event::Send { value, .. } = event else { continue };
        let Some(sent) = facts.sends.get(value) else { continue };
        let Some(offset) = sent.offset else { continue };
        let before = last.insert((client, sent.partition.clone()), (offset, sent.transaction));
        if let Some((before, other)) = before.filter(|(before, _)| *before >= offset) {
            let inside = sent.transaction.is_some() && sent.transaction == other;
            let name = if inside { "int-nonmonotonic-send" } else { "nonmonotonic-send" };
            let text = format!(
                "{client:?} sent value {value} to {}, where it lies at {offset}, after one that lies at {before}",
                sent.partition
            );
            found.push(Violation::new(Checker::K7, name, text));
        }
    }
}
