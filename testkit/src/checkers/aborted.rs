//! K-5: what failed or was aborted is not read, and nothing is before its commit is asked for.

use super::facts::Facts;
use super::{Checker, Ended, Event, History, Violation};

pub(super) fn check(facts: &Facts, history: &History, found: &mut Vec<Violation>) {
    for (at, client, event) in history.events() {
        let Event::Polled { records, read_committed: true, .. } = event else { continue };
        for read in records {
            let Some(sent) = facts.sends.get(&read.value) else { continue };
            let what = || format!("{client:?} read value {} at {}@{}", read.value, read.partition, read.offset);
            if sent.is_refused || facts.outcome(sent) == Ended::Aborted {
                let why = if sent.is_refused { "whose send failed" } else { "whose transaction was aborted" };
                found.push(Violation::new(Checker::K5, "G1a", format!("{}, {why}", what())));
            }
            let Some(transaction) = sent.transaction else { continue };
            let asked = facts.transactions.get(&transaction).and_then(|course| course.commit_asked);
            if asked.is_none_or(|asked| asked > at) {
                let text = format!("{} at {at:?}; the commit was asked for at {asked:?}", what());
                found.push(Violation::new(Checker::K5, "precommitted-read", text));
            }
        }
    }
}
