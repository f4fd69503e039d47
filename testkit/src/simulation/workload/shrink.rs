//! The search for the shortest case that still fails as the first one did.

use super::Report;

/// Runs a seed with those faults alone that it is told to keep.
pub type Again<'a> = dyn Fn(&dyn Fn(usize) -> bool) -> Report + 'a;

/// Leaves faults out as long as the run fails without them in the same way: the shortest case, as far as halving and trying each finds it. What
/// fails in another way alone is another bug, to which the first would be lost. `again` runs the seed with those faults alone whose numbers it is
/// told to keep, as [`run_with`](super::run_with) does. A run that is good is left as it is.
#[must_use]
pub fn shrink(report: Report, again: &Again<'_>) -> Report {
    let Some(kind) = report.failures().next() else { return report };
    let mut best = report;
    let mut step = best.faults.len().div_ceil(2);
    while step > 0 {
        let numbers: Vec<usize> = best.faults.iter().map(|(number, ..)| *number).collect();
        let mut without = numbers.chunks(step).map(|left_out| {
            let keeps = |number: usize| numbers.contains(&number) && !left_out.contains(&number);
            again(&keeps)
        });
        match without.find(|report| report.failures().any(|other| other == kind)) {
            Some(smaller) => {
                step = step.min(smaller.faults.len().div_ceil(2));
                best = smaller;
            }
            None => step /= 2,
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkers::{Checker, History, Violation};
    use crate::simulation::workload::Workload;
    use crate::simulation::{Fault, FaultCounts, RequestLog, SimulationError};
    use std::time::Duration;

    /// What came of a run with those of twenty faults that are kept.
    fn report(keeps: &dyn Fn(usize) -> bool, violations: &[(Checker, &'static str)]) -> Report {
        let violation = |(checker, name): &(Checker, &'static str)| Violation::new(*checker, name, "here");
        let faults = (0..20).filter(|number| keeps(*number));
        Report {
            seed: 1,
            workload: Workload::Producing,
            violations: violations.iter().map(violation).collect(),
            error: None,
            faults: faults.map(|number| (number, Duration::from_secs(1), Fault::Recreate)).collect(),
            counts: FaultCounts::default(),
            doubts: std::collections::BTreeMap::new(),
            simulated: Duration::from_secs(600),
            events: 0,
            request_log: RequestLog::default(),
            history: History::default(),
        }
    }
    fn numbers(report: &Report) -> Vec<usize> {
        report.faults.iter().map(|(number, ..)| *number).collect()
    }

    // It kept whatever failed, and so ended at another bug than the one that was to be looked for.
    #[test]
    fn the_shortest_case_fails_as_the_first_one_did() {
        let (lost, late) = ((Checker::K1, "lost-write"), (Checker::K17, "liveness"));
        // One bug needs two faults; another needs one, and a third none.
        let again = |keeps: &dyn Fn(usize) -> bool| {
            let mut found = if keeps(3) && keeps(11) { vec![lost] } else { Vec::new() };
            found.extend(keeps(5).then_some(late));
            let mut report = report(keeps, &found);
            report.error = Some(SimulationError::TooLong(report.simulated));
            report
        };
        let shortest = shrink(again(&|_| true), &again);
        assert_eq!(numbers(&shortest), [3, 11]);
        assert_eq!(numbers(&shrink(again(&|number| number != 3), &again)), [5]);
        assert!(numbers(&shrink(again(&|number| number > 6), &again)).is_empty());
    }

    #[test]
    fn panics_of_other_words_are_other_failures() {
        let again = |keeps: &dyn Fn(usize) -> bool| {
            let mut report = report(keeps, &[]);
            let text =
                if keeps(7) { format!("record {} is gone: why", numbers(&report).len()) } else { "no".to_owned() };
            report.error = Some(SimulationError::Panicked(text));
            report
        };
        assert_eq!(numbers(&shrink(again(&|_| true), &again)), [7]);
    }

    #[test]
    fn a_good_run_is_left_as_it_is() {
        let good = |keeps: &dyn Fn(usize) -> bool| report(keeps, &[]);
        assert_eq!(numbers(&shrink(good(&|_| true), &good)).len(), 20);
    }
}
