//! K-6: a consumer reads a partition in its order and skips nothing, from one choice of position to the next.

use super::facts::Facts;
use super::{Checker, ClientId, Event, History, TransactionId, Violation};
use millstream_protocol::TopicPartition;
use std::collections::BTreeMap;

pub(super) fn check(facts: &Facts, history: &History, found: &mut Vec<Violation>) {
    let mut last: BTreeMap<(ClientId, TopicPartition), (i64, Option<TransactionId>)> = BTreeMap::new();
    for (_, client, event) in history.events() {
        event.repositioned().iter().for_each(|partition| _ = last.remove(&(client, partition.clone())));
        let Event::Polled { records, transaction, read_committed } = event else { continue };
        for read in records {
            let before = last.insert((client, read.partition.clone()), (read.offset, *transaction));
            let Some((before, other)) = before else { continue };
            let inside = transaction.is_some() && *transaction == other;
            let what = || format!("{client:?} read {}@{} after @{before}", read.partition, read.offset);
            if read.offset <= before {
                let name = if inside { "int-nonmonotonic-poll" } else { "nonmonotonic-poll" };
                found.push(Violation::new(Checker::K6, name, what()));
            } else if let Some(skipped) = skipped(facts, &read.partition, before, read.offset, *read_committed) {
                let name = if inside { "int-poll-skip" } else { "poll-skip" };
                found.push(Violation::new(Checker::K6, name, format!("{}; there is one at @{skipped}", what())));
            }
        }
    }
}

/// A record between two places that every reader must see.
fn skipped(facts: &Facts, partition: &TopicPartition, after: i64, before: i64, read_committed: bool) -> Option<i64> {
    let between = facts.places.get(partition)?.range(after + 1..before);
    let must_see = |values: &std::collections::BTreeSet<u64>| {
        values.iter().all(|value| facts.sends.get(value).is_none_or(|sent| !read_committed || facts.is_durable(sent)))
    };
    between.filter(|(_, values)| must_see(values)).map(|(offset, _)| *offset).next()
}
