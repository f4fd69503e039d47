//! The same seed, the same bytes: in one process, and in another.

use millstream_testkit::simulation::workload::{Case, Workload, run};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::Command;

/// Which workload another process is to run.
const CHILD: &str = "MILLSTREAM_TEST_CHILD";

fn log(workload: Workload) -> String {
    let report = run(workload, 42);
    assert!(report.is_good(), "{report}");
    assert!(report.simulated.as_secs() >= 600, "ten minutes at least: {:?}", report.simulated);
    report.request_log.to_string()
}

#[test]
fn the_same_seed_gives_the_same_request_log() {
    let (one, other) = (log(Workload::Producing), log(Workload::Producing));
    assert!(one.lines().count() > 1000, "it is worth comparing");
    assert!(
        one == other,
        "the first difference: {:?}",
        one.lines().zip(other.lines()).find(|(one, other)| one != other)
    );
}

#[test]
fn the_same_case_gives_the_same_request_log() {
    let log = || Case::new(Workload::Exchanging, 42).run().request_log.to_string();
    let (one, other) = (log(), log());
    assert!(one.lines().count() > 1000, "it is worth comparing");
    assert!(one == other);
}

#[test]
fn another_seed_gives_another_request_log() {
    assert!(run(Workload::Producing, 1).request_log != run(Workload::Producing, 2).request_log);
}

#[test]
fn the_same_seed_gives_the_same_request_log_in_another_process() {
    let workloads = Workload::ALL;
    if let Some(index) = std::env::var(CHILD).ok().and_then(|index| index.parse::<usize>().ok()) {
        println!("sum {:016x}", sum(workloads[index]));
        return;
    }
    let own = std::env::current_exe().expect("a test is a program");
    for (index, workload) in workloads.into_iter().enumerate() {
        let name = "determinism::the_same_seed_gives_the_same_request_log_in_another_process";
        let child = Command::new(&own).args(["--exact", name, "--nocapture"]).env(CHILD, index.to_string()).output();
        let text = String::from_utf8(child.expect("it runs").stdout).expect("it is text");
        let expected = format!("sum {:016x}", sum(workload));
        assert!(text.contains(&expected), "{workload:?}: {expected} here, and there {text}");
    }
}

fn sum(workload: Workload) -> u64 {
    let mut hasher = DefaultHasher::new();
    run(workload, 42).request_log.to_string().hash(&mut hasher);
    hasher.finish()
}
