//! K-14: delivered offsets grow between two choices of position, and a reader of committed records gets no other.

use super::{Checker, ClientId, Event, History, Violation};
use millstream_protocol::TopicPartition;
use std::collections::BTreeMap;

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let mut last: BTreeMap<(ClientId, TopicPartition), i64> = BTreeMap::new();
    let mut violate = |text: String| found.push(Violation::new(Checker::K14, "position", text));
    for (_, client, event) in history.events() {
        event.repositioned().iter().for_each(|partition| _ = last.remove(&(client, partition.clone())));
        let Event::Polled { records, read_committed, .. } = event else { continue };
        for read in records {
            let what = || format!("{client:?} got {}@{}", read.partition, read.offset);
            let before = last.insert((client, read.partition.clone()), read.offset);
            if let Some(before) = before.filter(|before| *before >= read.offset) {
                violate(format!("{} after @{before}", what()));
            }
            let log = history.log.get(&read.partition);
            if *read_committed && log.is_some_and(|log| !log.contains_key(&read.offset)) {
                violate(format!("{}, where no committed record is", what()));
            }
        }
    }
}
