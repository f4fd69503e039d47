//! Bugs of a broker that are planted: the checkers find them.

use millstream_testkit::simulation::Bug;
use millstream_testkit::simulation::workload::{Report, Workload, run_with_bug, shrink};
use std::collections::BTreeSet;

fn names(bug: Bug, workload: Workload) -> BTreeSet<&'static str> {
    let report = run_with_bug(bug, workload, 3);
    report.violations.iter().map(|violation| violation.name()).collect()
}

#[test]
fn lost_writes_are_found() {
    let names = names(Bug::LoseEveryFifthWrite, Workload::Producing);
    assert!(names.contains("lost-write"), "{names:?}");
}

#[test]
fn a_broker_that_shows_what_is_not_committed_is_found() {
    let names = names(Bug::ForgetIsolation, Workload::Copying);
    assert!(names.contains("G1a") && names.contains("precommitted-read"), "{names:?}");
    assert!(names.contains("position"), "{names:?}");
}

#[test]
fn a_coordinator_that_takes_commits_back_is_found() {
    let names = names(Bug::RewindCommits, Workload::Grouping);
    assert!(names.contains("commit"), "{names:?}");
}

#[test]
fn a_case_is_shrunk_to_the_faults_that_matter() {
    let fails_with = |numbers: &dyn Fn(usize) -> bool| {
        let mut report: Report = millstream_testkit::simulation::workload::run_with(Workload::Producing, 5, numbers);
        // As if one fault, of many, were to blame.
        if report.faults.iter().any(|(number, ..)| *number == 3) {
            report.error = Some(millstream_testkit::simulation::SimulationError::Deadlock(report.simulated));
        }
        report
    };
    let all = fails_with(&|_| true);
    assert!(all.faults.len() > 10);
    let shortest = shrink(all, &fails_with);
    assert_eq!(shortest.faults.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), [3]);
}
