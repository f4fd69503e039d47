//! The same seed, the same bytes: in one process, and in another.

use millstream_testkit::simulation::workload::{Case, Workload, run};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::Command;

/// Which workload another process is to run.
const CHILD: &str = "MILLSTREAM_TEST_CHILD";

#[test]
fn the_same_seed_gives_the_same_request_log_and_another_seed_another_one() {
    let log = |seed| Case::new(Workload::Exchanging, seed).run().request_log.to_string();
    let (one, other) = (log(42), log(42));
    assert!(one.lines().count() > 1000, "it is worth comparing");
    assert!(
        one == other,
        "the first difference: {:?}",
        one.lines().zip(other.lines()).find(|(one, other)| one != other)
    );
    assert!(one != log(43));
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
    let report = run(workload, 42);
    assert!(report.is_good(), "{report}");
    assert!(report.simulated.as_secs() >= 600, "ten minutes at least: {:?}", report.simulated);
    let mut hasher = DefaultHasher::new();
    report.request_log.to_string().hash(&mut hasher);
    hasher.finish()
}
