//! What a commit freezes.

use super::fixture::Fixture;
use millstream_processor_core::failure::Handlers;
use millstream_processor_core::task::{TaskCommits, TaskFreeze};
use millstream_processor_core::{Context, Processor, ProcessorResult, Record, StreamsBuilder, Task, Topology};
use millstream_protocol::{Offset, Timestamp};
use millstream_state::{ChangelogPosition, CommitId, KeyValueStore, key_value};
use std::sync::{Arc, Mutex};

fn counted() -> Topology {
    let builder = StreamsBuilder::new();
    builder.stream::<String, String>("in").group_by_key().count_with("counts").to("out");
    builder.build().unwrap()
}
fn keys(freeze: &TaskFreeze) -> Vec<String> {
    let records = freeze.stores.iter().flat_map(|frozen| frozen.changelog());
    records.map(|record| record.key.escape_ascii().to_string()).collect()
}
fn apply(freeze: &TaskFreeze, number: u64) {
    let commit = CommitId::new(number, 1);
    for frozen in &freeze.stores {
        frozen.prepare(commit, &ChangelogPosition::new(Offset::new(0), Timestamp::EPOCH)).unwrap();
        frozen.apply(commit).unwrap();
    }
}

#[test]
fn task_moves_between_threads() {
    fn is_send<T: Send>() {}
    fn is_shared<T: Send + Sync + Clone>() {}
    is_send::<Task>();
    is_shared::<TaskCommits>();
    is_shared::<Topology>();
}
#[test]
fn freeze_gives_what_finished_and_the_next_one_what_came_after() {
    let mut fixture = Fixture::new(&counted(), Handlers::default());
    let commits = fixture.task.commits();
    fixture.feed("in", &["a=1@1", "b=1@2", "a=2@7"]);
    fixture.task.process(Timestamp::EPOCH, 2).unwrap();
    let first = commits.freeze().unwrap().unwrap();
    assert_eq!((keys(&first), first.positions[0].next), (vec!["a".to_owned(), "b".to_owned()], Some(Offset::new(2))));
    fixture.task.process(Timestamp::EPOCH, 9).unwrap();
    apply(&first, 1);
    let second = commits.freeze().unwrap().unwrap();
    assert_eq!((keys(&second), second.positions[0].next), (vec!["a".to_owned()], Some(Offset::new(3))));
    assert_eq!(second.positions[0].partition_time, Some(Timestamp::from_millis(7)));
    apply(&second, 2);
    assert!(commits.freeze().unwrap().is_none(), "nothing has happened since");
}

/// Freezes its own task in the middle of a record.
struct Freezer {
    store: KeyValueStore<String, String>,
    commits: Arc<Mutex<Option<TaskCommits>>>,
    frozen: Arc<Mutex<Vec<TaskFreeze>>>,
}
impl Processor for Freezer {
    type In = Record<String, String>;
    type Out = Record<String, String>;

    fn process(&mut self, record: Self::In, _: &mut Context<'_, Self>) -> ProcessorResult {
        self.store.put(&record.key, &record.value)?;
        let commits = self.commits.lock().unwrap().clone().unwrap();
        if record.value == "freeze" {
            self.frozen.lock().unwrap().extend(commits.freeze()?);
        }
        Ok(())
    }
}
#[test]
fn record_in_hand_belongs_to_the_next_epoch() {
    let (commits, frozen) = (Arc::default(), Arc::<Mutex<Vec<TaskFreeze>>>::default());
    let mut topology = Topology::builder();
    let store = topology.add_state_store(key_value::<String, String>("store"));
    let source = topology.add_source::<String, String>("source", "in");
    let (shared, taken) = (Arc::clone(&commits), Arc::clone(&frozen));
    topology.add_processor_with("freezer", &source, &store, move |store| Freezer {
        store,
        commits: Arc::clone(&shared),
        frozen: Arc::clone(&taken),
    });
    let mut fixture = Fixture::new(&topology.build().unwrap(), Handlers::default());
    *commits.lock().unwrap() = Some(fixture.task.commits());
    fixture.feed("in", &["a=1@1", "b=freeze@2"]);
    fixture.task.process(Timestamp::EPOCH, 9).unwrap();
    let first = frozen.lock().unwrap().pop().unwrap();
    assert_eq!((keys(&first), first.positions[0].next), (vec!["a".to_owned()], Some(Offset::new(1))));
    apply(&first, 1);
    let second = fixture.task.commits().freeze().unwrap().unwrap();
    assert_eq!((keys(&second), second.positions[0].next), (vec!["b".to_owned()], Some(Offset::new(2))));
}
#[test]
fn abandoned_task_has_nothing_to_commit() {
    let mut fixture = Fixture::new(&counted(), Handlers::default());
    fixture.feed("in", &["a=1@1"]);
    fixture.task.process(Timestamp::EPOCH, 9).unwrap();
    let commits = fixture.task.commits();
    commits.abandon();
    assert!(!commits.is_dirty());
    assert_eq!(commits.uncommitted_bytes(), 0);
}
