//! What a judgement leaves out: transactions of which it is not known how they ended, by the reason. K-9 counts what they consumed neither as
//! consumed nor as left over.

use super::{Ended, Event, History, TransactionId};
use std::collections::{BTreeMap, BTreeSet};

/// Of how many transactions it is not known how they ended, by the cause: what Jepsen's suite for Kafka lists as its info causes.
///
/// ```
/// use millstream_testkit::checkers::{Ended, Event, History, doubts};
/// use std::time::Duration;
///
/// let mut history = History::default();
/// let (transaction, outcome) = (7.into(), Ended::Unknown);
/// history.add(Duration::ZERO, 1, Event::Ending { transaction, commit: true });
/// history.add(Duration::ZERO, 1, Event::InDoubt { transaction, cause: "no answer".to_owned() });
/// history.add(Duration::ZERO, 1, Event::Ended { transaction, outcome });
///
/// assert_eq!(doubts(&history)["no answer"], 1);
/// ```
#[must_use]
pub fn doubts(history: &History) -> BTreeMap<String, u64> {
    let mut open: BTreeSet<TransactionId> = BTreeSet::new();
    let mut known: BTreeSet<TransactionId> = BTreeSet::new();
    let mut causes: BTreeMap<TransactionId, &str> = BTreeMap::new();
    for (_, _, event) in history.events() {
        match event {
            Event::Send { transaction: Some(transaction), .. }
            | Event::Polled { transaction: Some(transaction), .. }
            | Event::Ending { transaction, .. } => _ = open.insert(*transaction),
            Event::InDoubt { transaction, cause } => _ = causes.insert(*transaction, cause),
            Event::Ended { transaction, outcome: Ended::Unknown } => _ = causes.entry(*transaction).or_insert(UNTOLD),
            Event::Ended { transaction, .. } => _ = known.insert(*transaction),
            _ => {}
        }
    }
    let mut counts = BTreeMap::new();
    for transaction in open.difference(&known) {
        let cause = causes.get(transaction).copied().unwrap_or(GONE);
        *counts.entry(cause.to_owned()).or_default() += 1;
    }
    counts
}

/// The cause of those whose client did not say how they ended.
const GONE: &str = "the client was gone before the end";
/// The cause of those whose client did not say why it does not know.
const UNTOLD: &str = "no cause was told";
