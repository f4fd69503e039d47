//! The layers against a model: any order of writes, records' ends, freezes, decisions and crashes.

mod common;

use common::{Contents, commit, contents, open, position};
use millstream_protocol::{Timestamp, TopicName};
use millstream_state::fs::MemoryFs;
use millstream_state::{
    ChangelogRecord, Frozen, KeyValueStore, LayeredStore, MemoryStore, OrderedStore, RecordScope, StoreBuilder,
    TimestampedStore, WriteBatch, key_value, timestamped,
};
use proptest::prelude::*;
use std::sync::Arc;

type Store = KeyValueStore<Vec<u8>, Vec<u8>>;

#[derive(Debug, Clone)]
enum Step {
    Begin,
    End,
    Drop,
    Put(u8, u8),
    Delete(u8),
    Freeze,
    Prepare,
    Apply,
    Discard,
    /// The process dies; whether the commit in hand happened is known afterwards.
    Crash(bool),
    Range(u8, u8),
    /// An iterator of which this many entries are read, then a key is written, then the rest is read.
    IterateAcross(usize, u8),
}
fn step() -> impl Strategy<Value = Step> {
    let key = 0..40_u8;
    prop_oneof![
        6 => Just(Step::Begin),
        4 => Just(Step::End),
        2 => Just(Step::Drop),
        12 => (key.clone(), any::<u8>()).prop_map(|(key, value)| Step::Put(key, value)),
        4 => key.clone().prop_map(Step::Delete),
        4 => Just(Step::Freeze),
        4 => Just(Step::Prepare),
        4 => Just(Step::Apply),
        1 => Just(Step::Discard),
        1 => any::<bool>().prop_map(Step::Crash),
        2 => (key.clone(), key.clone()).prop_map(|(from, to)| Step::Range(from, to)),
        2 => (0..10_usize, key).prop_map(|(read, key)| Step::IterateAcross(read, key)),
    ]
}
/// Short keys and long ones, in an order of bytes that is not that of numbers.
fn key(number: u8) -> Vec<u8> {
    let text = format!("{number}");
    if number.is_multiple_of(3) { format!("{text}-a-key-that-is-too-long-to-lie-in-place") } else { text }.into_bytes()
}
fn value(number: u8) -> Vec<u8> {
    vec![number; usize::from(number) % 40]
}

/// What is to be: every layer as the whole contents that it shows.
#[derive(Debug, Default)]
struct Model {
    committed: Contents,
    frozen: Option<Contents>,
    epoch: Contents,
    record: Option<Contents>,
    dirty: bool,
    record_dirty: bool,
}
impl Model {
    fn shown(&mut self) -> &mut Contents {
        self.record.as_mut().unwrap_or(&mut self.epoch)
    }
    fn write(&mut self, key: Vec<u8>, value: Option<Vec<u8>>) {
        if self.record.is_some() {
            self.record_dirty = true
        } else {
            self.dirty = true
        }
        match value {
            Some(value) => self.shown().insert(key, value),
            None => self.shown().remove(&key),
        };
    }
    fn end(&mut self) {
        if let Some(record) = self.record.take() {
            self.epoch = record;
            self.dirty |= std::mem::take(&mut self.record_dirty);
        }
    }
    fn lose(&mut self) {
        *self = Self { committed: std::mem::take(&mut self.committed), ..Self::default() };
        self.epoch = self.committed.clone();
    }
}

struct Run {
    fs: MemoryFs,
    builder: StoreBuilder<Store>,
    scope: RecordScope,
    layers: LayeredStore,
    store: Store,
    frozen: Option<Frozen>,
    prepared: bool,
    number: u64,
    model: Model,
    changelog: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}
impl Run {
    fn new() -> Self {
        let (fs, builder, scope) = (MemoryFs::new(), key_value("sums"), RecordScope::new());
        let layers = layers(Arc::new(open(&fs)), &builder, &scope);
        let store = builder.open(&layers);
        let (model, changelog) = (Model::default(), Vec::new());
        Self { fs, builder, scope, layers, store, frozen: None, prepared: false, number: 0, model, changelog }
    }
    fn take(&mut self, step: &Step) {
        match step {
            Step::Begin => {
                self.model.end();
                self.scope.begin_record(Timestamp::EPOCH);
                self.model.record = Some(self.model.epoch.clone());
            }
            Step::End => {
                self.scope.end_record();
                self.model.end();
            }
            Step::Drop => {
                self.layers.drop_record();
                self.scope.end_record();
                (self.model.record, self.model.record_dirty) = (None, false);
            }
            Step::Put(number, content) => {
                self.store.put(&key(*number), &value(*content)).expect("writable");
                self.model.write(key(*number), Some(value(*content)));
            }
            Step::Delete(number) => {
                let expected = self.model.shown().get(&key(*number)).cloned();
                assert_eq!(self.store.delete(&key(*number)).expect("readable"), expected);
                self.model.write(key(*number), None);
            }
            Step::Freeze => self.freeze(),
            Step::Prepare => self.prepare(),
            Step::Apply => self.apply(),
            Step::Discard => self.discard(),
            Step::Crash(happened) => self.crash(*happened),
            Step::Range(from, to) => {
                let (from, to) = (key(*from), key(*to));
                let expected = self.model.shown().clone().into_iter().filter(|(key, _)| *key >= from && *key < to);
                let expected: Vec<_> = expected.collect();
                let found: Result<Vec<_>, _> = self.store.range(from.clone()..to.clone()).collect();
                assert_eq!(found.expect("readable"), expected);
                let found: Result<Vec<_>, _> = self.store.range(from..to).rev().collect();
                assert!(found.expect("readable").into_iter().rev().eq(expected));
            }
            Step::IterateAcross(read, number) => self.iterate_across(*read, *number),
        }
    }
    fn freeze(&mut self) {
        if self.frozen.is_some() {
            assert!(self.layers.freeze().is_err(), "one commit at a time");
            return;
        }
        assert_eq!(self.layers.is_clean(), !self.model.dirty);
        self.frozen = self.layers.freeze().expect("nothing is frozen");
        assert_eq!(self.frozen.is_some(), self.model.dirty, "{:?}", self.model);
        if self.model.dirty {
            self.model.frozen = Some(self.model.epoch.clone());
            self.model.dirty = false;
        }
        if let Some(frozen) = &self.frozen {
            let mut replayed = self.model.committed.clone();
            for record in frozen.changelog() {
                match record.value {
                    Some(value) => replayed.insert(record.key.to_vec(), value.to_vec()),
                    None => replayed.remove(record.key),
                };
            }
            assert_eq!(Some(&replayed), self.model.frozen.as_ref(), "the batch leads from the committed to the frozen");
        }
    }
    fn prepare(&mut self) {
        if let (Some(frozen), false) = (&self.frozen, self.prepared) {
            self.number += 1;
            frozen.prepare(commit(self.number), &position(self.number)).expect("prepares");
            self.prepared = true;
        }
    }
    fn apply(&mut self) {
        if !self.prepared {
            return;
        }
        let Some(frozen) = self.frozen.take() else { return };
        frozen.apply(commit(self.number)).expect("applies");
        self.changelog.extend(frozen.changelog().map(|record| (record.key.to_vec(), record.value.map(<[u8]>::to_vec))));
        self.prepared = false;
        self.model.committed = self.model.frozen.take().expect("frozen in both");
    }
    fn discard(&mut self) {
        let Some(frozen) = self.frozen.take() else { return };
        self.scope.end_record();
        frozen.discard(commit(self.number)).expect("discards");
        self.prepared = false;
        self.model.lose();
    }
    fn crash(&mut self, happened: bool) {
        if let (true, true, Some(frozen)) = (happened, self.prepared, &self.frozen) {
            self.changelog
                .extend(frozen.changelog().map(|record| (record.key.to_vec(), record.value.map(<[u8]>::to_vec))));
            self.model.committed = self.model.frozen.take().expect("frozen in both");
        }
        (self.frozen, self.scope) = (None, RecordScope::new());
        let empty = layers(Arc::new(MemoryStore::new("none")), &self.builder, &self.scope);
        (self.store, self.layers) = (self.builder.open(&empty), empty); // the folder's last owner goes
        let base = Arc::new(open(&self.fs));
        assert_eq!(base.prepared().len(), usize::from(self.prepared));
        if self.prepared {
            let commit = commit(self.number);
            if happened { base.apply(commit) } else { base.discard(commit) }.expect("judged");
        }
        self.layers = layers(base, &self.builder, &self.scope);
        self.store = self.builder.open(&self.layers);
        self.prepared = false;
        self.model.lose();
    }
    fn iterate_across(&mut self, read: usize, number: u8) {
        let expected: Vec<_> = self.model.shown().clone().into_iter().collect();
        let reader = self.builder.open(&self.layers);
        let mut entries = reader.all();
        let mut found: Vec<_> = entries.by_ref().take(read).map(|entry| entry.expect("readable")).collect();
        self.take(&Step::Put(number, number));
        self.freeze();
        self.prepare();
        self.apply();
        self.take(&Step::Delete(number));
        found.extend(entries.map(|entry| entry.expect("readable")));
        assert_eq!(found, expected, "as it was when the iterator was made");
    }
    fn check(&mut self) {
        let expected = self.model.shown().clone();
        for number in 0..40 {
            assert_eq!(self.store.get(&key(number)).expect("readable").as_ref(), expected.get(&key(number)));
        }
        let all: Result<Vec<_>, _> = self.store.all().collect();
        assert!(all.expect("readable").into_iter().eq(expected.clone()));
        let prefixed: Result<Vec<_>, _> = self.store.prefix(b"1").collect();
        assert!(
            prefixed.expect("readable").into_iter().eq(expected.clone().into_iter().filter(|(key, _)| key[0] == b'1'))
        );
        assert_eq!(usize::try_from(self.store.approximate_len()), Ok(expected.len()));
        assert_eq!(contents(&**self.layers.base()), self.model.committed);
        if self.model.frozen.is_none() && !self.model.dirty && !self.model.record_dirty {
            assert_eq!(self.layers.uncommitted_bytes(), 0);
        }
    }
}
fn layers(base: Arc<dyn OrderedStore>, builder: &StoreBuilder<Store>, scope: &RecordScope) -> LayeredStore {
    LayeredStore::new(builder.spec().clone(), base, TopicName::from_static("app-sums-changelog"), scope.clone())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn every_order_of_steps_shows_what_the_model_shows(steps in proptest::collection::vec(step(), 1..120)) {
        let mut run = Run::new();
        for step in &steps {
            run.take(step);
            run.check();
        }
        // The changelog alone gives the same.
        let restored = MemoryStore::new("sums");
        let mut batch = WriteBatch::default();
        for (key, value) in &run.changelog {
            run.layers.push_changelog(&mut batch, &ChangelogRecord::new(key, value.as_deref(), Timestamp::EPOCH));
        }
        restored.restore(batch, &position(1)).expect("restores");
        prop_assert_eq!(contents(&restored), run.model.committed);
    }
}

#[test]
fn a_record_in_hand_belongs_to_the_next_commit_when_another_thread_freezes() {
    let mut run = Run::new();
    run.scope.begin_record(Timestamp::EPOCH);
    run.store.put(&key(1), &value(1)).expect("writable");
    run.scope.end_record();
    run.scope.begin_record(Timestamp::EPOCH);
    run.store.put(&key(1), &value(2)).expect("writable");
    run.store.put(&key(2), &value(2)).expect("writable");
    let layers = run.layers.clone();
    let freeze = || layers.freeze().expect("nothing is frozen").expect("dirty");
    let frozen = std::thread::scope(|threads| threads.spawn(freeze).join().expect("no panic"));
    let written: Vec<_> =
        frozen.changelog().map(|record| (record.key.to_vec(), record.value.map(<[u8]>::to_vec))).collect();
    assert_eq!(written, [(key(1), Some(value(1)))]);
    assert_eq!(run.store.get(&key(1)).expect("readable"), Some(value(2)), "the record goes on");
    run.layers.drop_record();
    assert_eq!(run.store.get(&key(1)).expect("readable"), Some(value(1)), "and can still be taken back");
    assert_eq!(run.store.get(&key(2)).expect("readable"), None);
}

#[test]
fn a_changelog_record_bears_the_time_of_the_record_that_wrote_it() {
    let mut run = Run::new();
    for (number, time) in [(1, 10), (2, 20), (1, 30)] {
        run.scope.begin_record(Timestamp::from_millis(time));
        run.store.put(&key(number), &value(1)).expect("writable");
        run.scope.end_record();
    }
    let frozen = run.layers.freeze().expect("nothing is frozen").expect("dirty");
    let times: Vec<_> = frozen.changelog().map(|record| record.timestamp.as_millis()).collect();
    assert_eq!(times, [30, 20], "in the order in which the keys were first written");
}

#[test]
fn a_store_with_times_keeps_kafkas_bytes_and_its_changelog_the_plain_value() {
    let builder: StoreBuilder<TimestampedStore<String, i64>> = timestamped("counts");
    let base: Arc<dyn OrderedStore> = Arc::new(MemoryStore::new("counts"));
    let scope = RecordScope::new();
    let changelog = TopicName::from_static("app-counts-changelog");
    let layers = LayeredStore::new(builder.spec().clone(), Arc::clone(&base), changelog.clone(), scope.clone());
    let mut counts = builder.open(&layers);
    let (a, b) = ("a".to_owned(), "b".to_owned());
    scope.begin_record(Timestamp::from_millis(99));
    counts.put(&a, &7, Timestamp::from_millis(258)).expect("writable");
    counts.delete(&b).expect("writable");
    scope.end_record();
    let frozen = layers.freeze().expect("nothing is frozen").expect("dirty");
    let records: Vec<_> = frozen.changelog().collect();
    let seven = 7_i64.to_be_bytes();
    assert_eq!(
        records,
        [
            ChangelogRecord::new(b"a", Some(&seven), Timestamp::from_millis(258)),
            ChangelogRecord::new(b"b", None, Timestamp::from_millis(99)),
        ]
    );
    frozen.prepare(commit(1), &position(1)).and_then(|()| frozen.apply(commit(1))).expect("applies");
    let bytes = [258_i64.to_be_bytes(), seven].concat();
    assert_eq!(base.get(b"a").expect("readable").as_deref(), Some(&bytes[..]));
    let restored: Arc<dyn OrderedStore> = Arc::new(MemoryStore::new("counts"));
    let mut batch = WriteBatch::default();
    records.iter().for_each(|record| layers.push_changelog(&mut batch, record));
    restored.restore(batch, &position(1)).expect("restores");
    assert_eq!(contents(&*restored), contents(&*base));
    let reader = builder.open_committed(restored, changelog);
    assert_eq!(reader.get(&a).expect("readable"), Some(7));
}

#[test]
fn a_record_that_overwrites_two_keys_for_ever_can_still_be_taken_back() {
    let mut run = Run::new();
    run.take(&Step::Put(1, 1));
    run.take(&Step::Put(2, 2));
    run.take(&Step::Begin);
    for number in 0..10_000_u32 {
        let content = value(u8::try_from(number % 200).expect("small"));
        run.store.put(&key(1), &content).expect("writable");
        run.store.put(&key(2), &content).expect("writable");
    }
    run.take(&Step::Drop);
    run.check();
}

#[test]
fn a_null_value_deletes() {
    let mut store = KeyValueStore::<String, Option<i64>>::for_test();
    let key = "a".to_owned();
    store.put(&key, &Some(1)).expect("writable");
    assert_eq!(store.get(&key).expect("readable"), Some(Some(1)));
    store.put(&key, &None).expect("writable");
    assert_eq!(store.get(&key).expect("readable"), None);
    assert_eq!(store.approximate_len(), 0);
}

#[test]
fn a_value_of_another_serde_is_told() {
    let builder: StoreBuilder<KeyValueStore<String, String>> = key_value("sums");
    let base: Arc<dyn OrderedStore> = Arc::new(MemoryStore::new("sums"));
    let topic = TopicName::from_static("app-sums-changelog");
    let layers = LayeredStore::new(builder.spec().clone(), Arc::clone(&base), topic, RecordScope::new());
    builder.open(&layers).put(&"a".to_owned(), &"text".to_owned()).expect("writable");
    let numbers: StoreBuilder<KeyValueStore<String, i64>> = key_value("sums");
    let error = numbers.open(&layers).get(&"a".to_owned()).expect_err("no number");
    assert_eq!(
        common::told(&error),
        "store `sums`: a value is not what its serde expects. Was the store written with another serde? Then give it another \
         name, or reset the application: has 4 bytes where a value of 8 is expected"
    );
}

#[test]
fn put_if_absent_update_and_delete_tell_what_was_there() {
    let mut store = KeyValueStore::<String, i64>::for_test();
    let key = "a".to_owned();
    assert_eq!(store.put_if_absent(&key, &1).expect("writable"), None);
    assert_eq!(store.put_if_absent(&key, &2).expect("writable"), Some(1));
    assert_eq!(store.update(&key, |value| value.map(|value| value + 4)).expect("writable"), Some(5));
    assert_eq!(store.delete(&key).expect("writable"), Some(5));
    assert_eq!(store.update(&key, |value| value).expect("writable"), None);
    assert_eq!(store.all().count(), 0);
}
