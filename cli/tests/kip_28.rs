//! KIP-28's example at length, on a real Kafka of its own: a million records, two processes, one of them killed half-way.

use millstream::TopicPartition;
use millstream::client::admin::NewTopic;
use millstream::client::{Client, OffsetSpec, Offsets, Producer, ProducerRecord};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};
use tokio::time::sleep;

const INPUT: &str = "millstream-demo-input";
const AGGREGATES: &str = "aggregate-topic";
const CHANGELOG: &str = "millstream-demo-sums-changelog";
const APPLICATION: &str = "millstream-demo";
const PARTITIONS: i32 = 4;
const RECORDS: u64 = 1_000_000;
/// How many records go in at once; the others come at a steady rate, so that there is input in every second of the rebalances.
const AT_ONCE: u64 = 400_000;
const PER_SECOND: u64 = 20_000;
/// Longer than a busy machine holds up whoever is alive.
const SESSION: Duration = Duration::from_secs(20);
/// A rebalance that stopped everybody would wait for the killed process as long as its session lasts. Much less is what a busy machine may
/// take for a commit.
const STALL: Duration = Duration::from_secs(10);

/// How long anything may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(600);

/// A cluster of its own, ended with the test.
struct Kafka {
    folder: tempfile::TempDir,
    bootstrap: String,
}

impl Kafka {
    async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let out = launcher(folder.path(), &["up", "--port", "0", "--jvm", "-Xmx1g"]).await;
        let bootstrap =
            out.lines().find_map(|line| line.strip_prefix("bootstrap=")).expect("it says where it is").to_owned();
        Self { folder, bootstrap }
    }
    /// What Kafka's own console consumer reads from a topic's start, values as Java's `LongDeserializer` reads them.
    async fn read_by_jvm(&self, topic: &str) -> Vec<(String, i64)> {
        const LONG: &str = "value.deserializer=org.apache.kafka.common.serialization.LongDeserializer";
        let out = launcher(
            self.folder.path(),
            &[
                "tool",
                "console-consumer",
                "--topic",
                topic,
                "--from-beginning",
                "--timeout-ms",
                "30000",
                "--isolation-level",
                "read_committed",
                "--formatter-property",
                "print.key=true",
                "--formatter-property",
                LONG,
            ],
        )
        .await;
        let parse = |line: &str| {
            let (key, value) = line.split_once('\t')?;
            Some((key.to_owned(), value.parse().ok()?))
        };
        out.lines().filter_map(parse).collect()
    }
}
impl Drop for Kafka {
    fn drop(&mut self) {
        let launcher = launcher_path();
        let _ = std::process::Command::new(launcher)
            .arg("--dir")
            .arg(self.folder.path().join("kafka"))
            .arg("down")
            .status();
    }
}

fn launcher_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/kafka/kafka")
}

async fn launcher(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(launcher_path());
    command.arg("--dir").arg(folder.join("kafka")).args(arguments).stdin(Stdio::null()).stderr(Stdio::piped());
    let output = command.output().await.expect("bash and Java are there");
    // The console consumer ends with an error when its time is over, having printed everything.
    if arguments.first() != Some(&"tool") {
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// One process of the application. Its log tells which tasks it made, restored, paused and closed.
struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    fn start(kafka: &Kafka, name: &str, run: u32) -> Self {
        let log = kafka.folder.path().join(format!("{name}-{run}.log"));
        let file = std::fs::File::create(&log).expect("a log");
        let child = Command::new(env!("CARGO_BIN_EXE_millstream"))
            .arg("demo-app")
            .arg("--state-dir")
            .arg(kafka.folder.path().join(name))
            .args(["--bootstrap", &kafka.bootstrap])
            .args(["--set", &format!("session.timeout.ms={}", SESSION.as_millis())])
            .env("RUST_LOG", "millstream=info")
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(file)
            .kill_on_drop(true)
            .spawn()
            .expect("it starts");
        Self { child, log }
    }
    /// The tasks of which the log says this.
    fn tasks(&self, event: &str) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).expect("its log");
        let task = |line: &str| Some(line.split("task=").nth(1)?.split_whitespace().next()?.to_owned());
        log.lines().filter(|line| line.contains(event)).filter_map(task).collect()
    }
    /// The tasks that run here and have not been closed.
    fn held(&self) -> BTreeSet<String> {
        let closed = self.tasks("task closed");
        self.tasks("task runs").into_iter().filter(|task| !closed.contains(task)).collect()
    }
    async fn close(mut self) {
        drop(self.child.stdin.take());
        let status = self.child.wait().await.expect("it ends");
        assert!(status.success(), "{}", std::fs::read_to_string(&self.log).expect("its log"));
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Java and Maven for a real Kafka of its own"]
async fn a_million_records_are_summed_up_while_a_process_is_killed_and_comes_back() {
    let kafka = Kafka::start().await;
    let client = Client::builder(&kafka.bootstrap).build().await.expect("Kafka answers");
    let topics = [INPUT, AGGREGATES].map(|name| NewTopic::new(name).partitions(PARTITIONS));
    client.admin().topics().create(topics).await.expect("asked").all().expect("created");

    let survivor = Process::start(&kafka, "survivor", 1);
    let mut victim = Process::start(&kafka, "victim", 1);
    let feeding = tokio::spawn(feed(client.clone()));
    // Whoever came first may have had all four for a moment.
    until("both have two tasks", || survivor.held().len() == 2 && victim.held().len() == 2).await;
    until_committed(&client, |done| done > RECORDS / 4).await;
    let kept = survivor.held();

    // Half-way: SIGKILL, and a new start with the files kept.
    until_committed(&client, |done| done >= RECORDS / 2).await;
    victim.child.start_kill().expect("it is killed");
    victim.child.wait().await.expect("it is dead");
    let over = Arc::new(AtomicBool::new(false));
    let watch = tokio::spawn(watch_progress(client.clone(), kept.clone(), Arc::clone(&over)));
    sleep(Duration::from_secs(2)).await;
    let back = Process::start(&kafka, "victim", 2);
    until("the killed process has tasks again", || back.tasks("task runs").len() >= 2).await;
    over.store(true, Ordering::Relaxed);
    let stall = watch.await.expect("the offsets are told");
    assert!(stall < STALL, "the survivor committed nothing for {stall:?}");

    feeding.await.expect("the input is written");
    until_committed(&client, |done| done >= RECORDS).await;
    // Each of the survivor's tasks was recovered once and ran once, from its start to here.
    for (event, times) in [("task recovers", 1), ("task runs", 1), ("task is asked back", 0), ("task closed", 0)] {
        let told = survivor.tasks(event);
        for task in &kept {
            let count = told.iter().filter(|each| *each == task).count();
            assert_eq!(count, times, "`{event}` of the survivor's task {task}; all: {told:?}");
        }
    }
    // A punctuation after the last input.
    sleep(Duration::from_secs(1)).await;
    survivor.close().await;
    back.close().await;

    // Side by side, since each waits for half a minute at its topic's end.
    let (input, changelog, aggregates) =
        tokio::join!(kafka.read_by_jvm(INPUT), kafka.read_by_jvm(CHANGELOG), kafka.read_by_jvm(AGGREGATES));
    let mut sums = BTreeMap::new();
    assert_eq!(u64::try_from(input.len()), Ok(RECORDS));
    for (key, value) in input {
        *sums.entry(key).or_insert(0) += value;
    }
    for (topic, records) in [(CHANGELOG, changelog), (AGGREGATES, aggregates)] {
        let last: BTreeMap<String, i64> = records.into_iter().collect();
        assert_eq!(last, sums, "the last values in {topic}");
    }
}

async fn feed(client: Client) {
    let producer: Producer = client.producer().build().await.expect("Kafka answers");
    let start = Instant::now();
    for number in 0..RECORDS {
        let due = Duration::from_secs_f64(number.saturating_sub(AT_ONCE) as f64 / PER_SECOND as f64);
        if number % 1_000 == 0 && start.elapsed() < due {
            sleep(due - start.elapsed()).await;
        }
        let (key, value) = (format!("key-{}", number % 997), i64::try_from(number % 1_009).expect("small"));
        let value = value.to_be_bytes();
        drop(producer.enqueue(ProducerRecord::to(INPUT).key(&key).value(&value)).await.expect("there is space"));
    }
    producer.flush().await.expect("all is written");
}

async fn committed(client: &Client) -> Offsets {
    client.admin().groups().offsets(APPLICATION).await.expect("offsets are told")
}

async fn until_committed(client: &Client, enough: impl Fn(u64) -> bool) {
    let start = Instant::now();
    loop {
        let done: i64 = committed(client).await.iter().map(|(_, next)| next.offset.get()).sum();
        if enough(u64::try_from(done).expect("not negative")) {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "only {done} records are committed after {PATIENCE:?}");
        sleep(Duration::from_millis(100)).await;
    }
}

async fn until(what: &str, mut reached: impl FnMut() -> bool) {
    let start = Instant::now();
    while !reached() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        sleep(Duration::from_millis(50)).await;
    }
}

/// Looks every second whether the committed offsets of these tasks' partitions have risen, while there was input. Gives the longest time
/// in which they had not.
async fn watch_progress(client: Client, tasks: BTreeSet<String>, over: Arc<AtomicBool>) -> Duration {
    let of_task = |task: &String| task.split('_').nth(1).and_then(|partition| partition.parse().ok());
    let partitions: Vec<TopicPartition> =
        tasks.iter().filter_map(of_task).map(|partition: i32| TopicPartition::new(INPUT, partition)).collect();
    let (mut longest, mut risen) = (Duration::ZERO, Instant::now());
    let mut before = position(&client, &partitions).await;
    while !over.load(Ordering::Relaxed) {
        sleep(Duration::from_secs(1)).await;
        let now = position(&client, &partitions).await;
        let specs = partitions.iter().map(|partition| (partition.clone(), OffsetSpec::Latest)).collect::<Vec<_>>();
        let ends = client.admin().topics().offsets(specs).await.expect("asked").all().expect("offsets are told");
        let end: i64 = ends.values().map(|end| end.map_or(0, |end| end.get())).sum();
        if now > before || before >= end {
            risen = Instant::now();
        }
        longest = longest.max(risen.elapsed());
        before = now;
    }
    longest
}

async fn position(client: &Client, partitions: &[TopicPartition]) -> i64 {
    let committed = committed(client).await;
    partitions.iter().filter_map(|partition| committed.of(partition)).map(|next| next.offset.get()).sum()
}
