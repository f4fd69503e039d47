//! One case as it plays: a cluster, an application's topics, its processes, and the sums of the input, which everything that is
//! committed is compared with.

use crate::cases::{Stop, Store};
use crate::kafka::{Kafka, Reader, make};
use crate::program::Program;
use millstream::client::ProducerRecord;
use millstream::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::process::id;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Last value, or sum, of each key.
pub(crate) type Sums = BTreeMap<String, i64>;

/// One case as it plays.
#[derive(Debug)]
pub(crate) struct Scene {
    what: String,
    kafka: Kafka,
    client: Client,
    producer: Producer,
    application: String,
    store: Store,
    options: Vec<String>,
    /// The keys of the numbers that are sent.
    keys: &'static [i64],
    /// What the sums of all input are, sent or about to be.
    expected: Sums,
    has_forgotten: bool,
    readers: HashMap<String, Reader>,
}

impl Scene {
    /// The topics are there, and nothing runs. `what` says which case it is when it fails.
    pub(crate) async fn new(kafka: Kafka, store: Store, what: &str) -> Self {
        static CASES: AtomicU32 = AtomicU32::new(0);
        let what = format!("{}, {what}", store.name);
        let application = format!("kill-{}-{}", id(), CASES.fetch_add(1, Ordering::Relaxed));
        let client = Client::builder(kafka.bootstrap_servers()).build().await.expect("the cluster is there");
        let producer = client.producer().build().await.expect("the cluster is there");
        make(&client, [&format!("{application}-numbers"), &format!("{application}-sums")]).await;
        let options = OPTIONS.map(str::to_owned).to_vec();
        let (expected, readers) = (Sums::new(), HashMap::new());
        let keys = ALL_KEYS;
        Self {
            what,
            kafka,
            client,
            producer,
            application,
            store,
            options,
            keys,
            expected,
            has_forgotten: false,
            readers,
        }
    }

    /// Sets an option of the processes that start from here on.
    pub(crate) fn set(&mut self, option: &str) {
        self.options.push(option.to_owned());
    }

    pub(crate) const fn store(&self) -> Store {
        self.store
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn application(&self) -> &str {
        &self.application
    }

    /// The changelog's name.
    pub(crate) fn changelog(&self) -> String {
        format!("{}-sums-changelog", self.application)
    }

    /// An empty folder for a process's state.
    pub(crate) fn folder() -> TempDir {
        tempfile::tempdir().expect("a folder")
    }

    /// Starts a process on a folder.
    pub(crate) fn start(&self, folder: &TempDir, stop: Option<Stop>) -> Program {
        let folder = folder.path().to_str().expect("it is UTF-8");
        let (servers, application) = (self.kafka.bootstrap_servers(), self.application.as_str());
        let named = ["--bootstrap", &servers, "--application-id", application, "--state-dir", folder];
        let arguments = named.iter().chain(self.store.arguments).map(ToString::to_string);
        let options = self.options.iter().flat_map(|option| ["--set".to_owned(), option.clone()]);
        Program::start(&arguments.chain(options).collect::<Vec<_>>(), stop)
    }

    /// Has the processes that start from here on keep their sessions and transactions however long a busy machine holds them up: for
    /// those of which none is stopped by force.
    pub(crate) fn never_lose_a_session(&mut self) {
        self.set("session.timeout.ms=300000");
        self.set("transaction.timeout.ms=300000");
    }

    /// Sends only numbers of these keys from here on.
    pub(crate) const fn feed_only(&mut self, keys: &'static [i64]) {
        self.keys = keys;
    }

    /// Sends ten numbers, less those whose keys are left out.
    pub(crate) async fn feed(&mut self) {
        let topic = format!("{}-numbers", self.application);
        for number in (1..=10_i64).filter(|number| self.keys.contains(&(number % 6))) {
            let key = format!("key-{}", number % 6);
            let value = number.to_be_bytes();
            drop(
                self.producer.enqueue(ProducerRecord::to(&topic).key(&key).value(&value)).await.expect("there is room"),
            );
            *self.expected.entry(key).or_insert(0) += number;
        }
        self.producer.flush().await.expect("the numbers are written");
    }

    /// Sends numbers until something has happened.
    pub(crate) async fn feed_until(&mut self, event: &str, mut has_happened: impl FnMut() -> bool + Send) {
        let deadline = Instant::now() + PATIENCE;
        while !has_happened() {
            assert!(Instant::now() < deadline, "{}: in vain: {event}", self.what);
            self.feed().await;
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until something has happened.
    pub(crate) async fn wait_until(&self, event: &str, mut has_happened: impl FnMut() -> bool + Send) {
        let deadline = Instant::now() + PATIENCE;
        while !has_happened() {
            assert!(Instant::now() < deadline, "{}: in vain: {event}", self.what);
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Lets a process sum some input of every key, commit it and close.
    pub(crate) async fn live_and_close(&mut self, folder: &TempDir) {
        let options = self.options.clone();
        // Nobody has to wait for its session to end: it leaves the group.
        self.never_lose_a_session();
        let mut program = self.start(folder, None);
        self.options = options;
        self.feed_until("the first life sums", || program.sums().len() == KEYS).await;
        self.settle("in the first life").await;
        self.close(program).await;
    }

    /// Lets a process close: it commits, and leaves no transaction open.
    pub(crate) async fn close(&self, mut program: Program) {
        program.ask_to_close();
        self.wait_until("it closes", || program.has_ended()).await;
        assert!(program.has_closed_well(), "{}: it closes without an error", self.what);
    }

    /// Waits, without more input, until what is committed equals the sums of the input: the last aggregates that were sent, and the
    /// last records of the changelog. None of them may ever be more than that: something was counted twice.
    pub(crate) async fn settle(&mut self, when: &str) {
        let mut topics = vec![format!("{}-sums", self.application)];
        topics.extend(self.store.has_changelog.then(|| self.changelog()));
        for topic in topics {
            self.settle_topic(&topic, when).await;
        }
    }

    /// The same, when an open transaction hides the end of the changelog from everybody: aggregates are sent, and offsets committed.
    pub(crate) async fn settle_unseen(&mut self, when: &str) {
        let aggregates = format!("{}-sums", self.application);
        self.settle_topic(&aggregates, when).await;
        self.commits_of_all_partitions(when).await;
    }

    /// Waits, without more input, until the group has committed the end of every partition.
    pub(crate) async fn commits_of_all_partitions(&self, when: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let lag = self.client.admin().groups().lag(&self.application).await.and_then(|lag| lag.all());
            if lag.as_ref().is_ok_and(|lag| lag.len() == 2 && lag.values().all(|lag| *lag == 0)) {
                return;
            }
            assert!(Instant::now() < deadline, "{}, {when}: {lag:?} is not committed", self.what);
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn settle_topic(&mut self, topic: &str, when: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let last = self.last_values(topic).await;
            if !self.has_forgotten {
                self.check_nothing_counted_twice(&last, when);
            }
            if last == self.expected {
                return;
            }
            let late = || format!("{}, {when}: `{topic}` has {last:?}, not {:?}", self.what, self.expected);
            assert!(Instant::now() < deadline, "{}", late());
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn last_values(&mut self, topic: &str) -> Sums {
        if !self.readers.contains_key(topic) {
            let reader = self.kafka.read(&self.client, topic).await;
            self.readers.insert(topic.to_owned(), reader);
        }
        self.readers.get_mut(topic).expect("it is there").last_values(&self.kafka).await
    }

    fn check_nothing_counted_twice(&self, sums: &Sums, when: &str) {
        for (key, sum) in sums {
            let expected = self.expected.get(key).copied().unwrap_or(0);
            assert!(
                *sum <= expected,
                "{}, {when}: the sum of {key} is {sum}, more than all its input, {expected}",
                self.what
            );
        }
    }

    /// Waits until a process that has all tasks shows the sums of the input in its stores.
    pub(crate) async fn shows(&mut self, program: &mut Program, when: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let sums = program.sums();
            self.check_nothing_counted_twice(&sums, when);
            if sums == self.expected {
                return;
            }
            let late = || format!("{}, {when}: its stores have {sums:?}, not {:?}", self.what, self.expected);
            assert!(Instant::now() < deadline, "{}", late());
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Nobody else runs: a process with an empty folder shows the same sums, and has them from the changelog.
    pub(crate) async fn restores_in_an_empty_folder(&mut self) {
        let folder = Self::folder();
        let mut program = self.start(&folder, None);
        self.shows(&mut program, "restored in an empty folder").await;
        self.wait_until("it says that it has restored them all", || program.restored() >= Some(KEYS as u64)).await;
    }

    /// How many changelog records anybody has read so far; none on a real cluster, which does not tell.
    pub(crate) fn read_of_the_changelog(&self) -> Option<u64> {
        self.kafka.fetched_records(&self.changelog())
    }

    /// Forgets the input so far: a store starts empty. Topics still have greater sums of the past.
    pub(crate) fn forget(&mut self) {
        self.expected.clear();
        self.has_forgotten = true;
    }

    pub(crate) fn what(&self) -> &str {
        &self.what
    }
}

/// Quick commits, and a session and a transaction that do not outlive a pause, but what a busy machine does to who is not paused.
const OPTIONS: [&str; 4] =
    ["commit.interval.ms=20", "session.timeout.ms=3000", "heartbeat.interval.ms=100", "transaction.timeout.ms=6000"];
const KEYS: usize = 6;
const LOOK: Duration = Duration::from_millis(20);
/// How long anything may take on a machine that is busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// The numbers of all keys.
pub(crate) const ALL_KEYS: &[i64] = &[0, 1, 2, 3, 4, 5];
/// Those that lie in one of the two partitions.
pub(crate) const KEYS_OF_ONE_PARTITION: &[i64] = &[0, 3, 4];
