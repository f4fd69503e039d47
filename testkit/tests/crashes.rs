//! The driver's crashes between the steps of a commit: what is committed is the same, wherever it crashes.

use millstream::StreamsConfig;
use millstream::prelude::*;
use millstream::stores;
use millstream_testkit::{CommitStep, DriverRecord, TopologyTestDriver};
use std::sync::{Arc, Mutex};

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

/// What became of a processor, in order.
#[derive(Clone, Debug, PartialEq)]
enum Event {
    Made,
    /// A value, and the sum that the store had before it.
    Processed(i64, i64),
}

struct Sum {
    sums: KeyValueStore<String, i64>,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Processor for Sum {
    type In = Record<String, i64>;
    type Out = NoOutput;

    fn process(&mut self, record: Self::In, _ctx: &mut Context<'_, Self>) -> ProcessorResult {
        let before = self.sums.get(&record.key)?.unwrap_or(0);
        self.events.lock().expect("no test has failed").push(Event::Processed(record.value, before));
        Ok(self.sums.put(&record.key, &(before + record.value))?)
    }
}

#[test]
fn after_a_crash_the_processor_is_made_anew_and_sees_again_what_was_not_committed() {
    use Event::{Made, Processed};
    for step in STEPS {
        let events = Arc::new(Mutex::new(Vec::new()));
        let mut topology = Topology::builder();
        let store = topology.add_state_store(stores::key_value("sums").in_memory());
        let numbers = topology.add_source::<String, i64>("numbers", "numbers");
        let told = Arc::clone(&events);
        topology.add_processor_with("sum", &numbers, &store, move |sums| {
            told.lock().expect("no test has failed").push(Made);
            Sum { sums, events: Arc::clone(&told) }
        });
        let driver = TopologyTestDriver::new(topology.build().expect("the topology is one that can be"));
        let numbers = driver.input::<String, i64>("numbers");
        numbers.pipe("a", 1);
        driver.crash_at(step);
        numbers.pipe("a", 2);
        numbers.pipe("a", 3);
        let again = if step < CommitStep::Committed { vec![Processed(2, 1)] } else { Vec::new() };
        let expected = [vec![Made, Processed(1, 0), Processed(2, 1), Made], again, vec![Processed(3, 3)]].concat();
        assert_eq!(*events.lock().expect("no test has failed"), expected, "a crash at {step:?}");
    }
}
