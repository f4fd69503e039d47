//! K-9: committed transactions consume each input record exactly once.

use super::facts::Facts;
use super::{Checker, Ended, Event, History, TransactionId, Violation};
use millstream_protocol::{TopicName, TopicPartition};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(facts: &Facts, history: &History, found: &mut Vec<Violation>) {
    let outcome = |transaction: &TransactionId| facts.transactions.get(transaction).and_then(|course| course.outcome);
    let mut consumed: BTreeMap<(TopicPartition, i64), BTreeSet<TransactionId>> = BTreeMap::new();
    let mut perhaps: BTreeSet<(TopicPartition, i64)> = BTreeSet::new();
    let mut topics: BTreeSet<TopicName> = BTreeSet::new();
    for (_, _, event) in history.events() {
        let Event::Polled { records, transaction: Some(transaction), .. } = event else { continue };
        for read in records {
            topics.insert(read.partition.topic.clone());
            let place = (read.partition.clone(), read.offset);
            match outcome(transaction) {
                Some(Ended::Committed) => _ = consumed.entry(place).or_default().insert(*transaction),
                Some(Ended::Aborted) => {}
                Some(Ended::Unknown) | None => _ = perhaps.insert(place),
            }
        }
    }
    for ((partition, offset), by) in consumed.iter().filter(|(_, by)| by.len() > 1) {
        let text = format!("{partition}@{offset} was consumed by the transactions {by:?}");
        found.push(Violation::new(Checker::K9, "consumed-twice", text));
    }
    if !history.is_read_whole {
        return;
    }
    for (partition, records) in history.log.iter().filter(|(partition, _)| topics.contains(&partition.topic)) {
        for offset in records.keys() {
            let place = (partition.clone(), *offset);
            if !consumed.contains_key(&place) && !perhaps.contains(&place) {
                let text = format!("{partition}@{offset} was consumed by no transaction");
                found.push(Violation::new(Checker::K9, "not-consumed", text));
            }
        }
    }
}
