//! The driver's crashes between the steps of a commit: what is committed is the same, wherever it crashes.

use millstream::StreamsConfig;
use millstream::prelude::*;
use millstream_testkit::{CommitStep, DriverRecord, TopologyTestDriver};

const STEPS: [CommitStep; 5] =
    [CommitStep::Frozen, CommitStep::Logged, CommitStep::Prepared, CommitStep::Committed, CommitStep::Applied];

fn counts() -> Topology {
    let builder = StreamsBuilder::new();
    builder.stream::<String, i64>("numbers").group_by_key().count().to_stream().to("counts");
    builder.build().expect("the topology is one that can be")
}

/// What is committed after three records, with a crash in the commit of the second.
fn run(crash: Option<CommitStep>) -> (Vec<DriverRecord>, Vec<DriverRecord>) {
    let driver = TopologyTestDriver::with_config(counts(), StreamsConfig::new("counter", "localhost:9092"));
    let numbers = driver.input::<String, i64>("numbers");
    numbers.pipe("a", 1);
    crash.into_iter().for_each(|step| driver.crash_at(step));
    numbers.pipe("a", 2);
    numbers.pipe("b", 3);
    let store = driver.records().iter().find(|record| record.topic.as_str().ends_with("-changelog")).cloned();
    let store = store.expect("the store has a changelog").topic;
    let name = store.as_str().trim_start_matches("counter-").trim_end_matches("-changelog").to_owned();
    (driver.records(), driver.changelog(&name))
}

#[test]
fn what_is_committed_is_the_same_wherever_a_commit_crashes() {
    let (records, changelog) = run(None);
    assert_eq!(changelog.len(), 3, "one change of a count each: {changelog:?}");
    for step in STEPS {
        assert_eq!(run(Some(step)), (records.clone(), changelog.clone()), "a crash at {step:?}");
    }
}

#[test]
fn the_application_s_name_is_that_of_the_config() {
    let (_, changelog) = run(None);
    assert!(changelog.iter().all(|record| record.topic.as_str().starts_with("counter-")), "{changelog:?}");
}
