//! State never drifts: a process is killed at each named point of a commit, a recovery or a revocation, and started again.
//!
//! `cargo test -p millstream --features stop-points --test kill`

mod common;

use common::{last_values, send};
use millstream_testkit::TestCluster;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// One way to run the program.
#[derive(Clone, Copy, Debug)]
struct Store {
    name: &'static str,
    arguments: &'static [&'static str],
}

const STORES: [Store; 5] = [
    Store { name: "journaled key-value", arguments: &[] },
    Store { name: "journaled timestamped", arguments: &["--store", "timestamped"] },
    Store { name: "key-value in memory", arguments: &["--memory"] },
    Store { name: "timestamped in memory", arguments: &["--memory", "--store", "timestamped"] },
    Store { name: "journaled, changelog off", arguments: &["--no-changelog"] },
];

/// Quick commits, and a session and a transaction that do not outlive a pause.
const OPTIONS: [&str; 4] =
    ["commit.interval.ms=20", "session.timeout.ms=1000", "heartbeat.interval.ms=100", "transaction.timeout.ms=2000"];

/// How it is stopped, and where.
#[derive(Clone, Copy, Debug)]
enum Stop {
    Kill(&'static str),
    Pause(&'static str),
}

/// The program, running.
struct Sums {
    child: Child,
    lines: std::sync::mpsc::Receiver<String>,
    seen: Vec<String>,
}

impl Sums {
    fn start(cluster: &TestCluster, folder: &Path, store: Store, stop: Option<Stop>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_millstream-sums"));
        command.args(["--bootstrap", &cluster.bootstrap_servers(), "--application-id", "app"]);
        for option in OPTIONS {
            command.args(["--set", option]);
        }
        command.arg("--state-dir").arg(folder).args(store.arguments);
        if let Some(Stop::Kill(point) | Stop::Pause(point)) = stop {
            command.env("MILLSTREAM_STOP_AT", point);
        }
        if matches!(stop, Some(Stop::Kill(_))) {
            command.env("MILLSTREAM_STOP_HOW", "kill");
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program is built");
        let (tell, lines) = std::sync::mpsc::channel();
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Self { child, lines, seen: Vec::new() }
    }

    fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it is our child").is_some()
    }

    /// Every line so far.
    fn lines(&mut self) -> &[String] {
        self.seen.extend(self.lines.try_iter());
        &self.seen
    }

    fn has_said(&mut self, start: &str) -> bool {
        self.lines().iter().any(|line| line.starts_with(start))
    }

    /// Lets a paused one go on.
    fn resume(&self) {
        let resumed = Command::new("kill").args(["-CONT", &self.child.id().to_string()]).status();
        assert!(resumed.expect("there is kill").success());
    }
}

impl Drop for Sums {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends ten numbers at a time while a condition is awaited; adds them to what is expected.
async fn feed(cluster: &TestCluster, expected: &mut BTreeMap<String, i64>, mut until: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !until() {
        if Instant::now() > deadline {
            return false;
        }
        let numbers: Vec<(String, i64)> = (1..=10).map(|number| (format!("key-{}", number % 3), number)).collect();
        numbers.iter().for_each(|(key, number)| *expected.entry(key.clone()).or_insert(0) += number);
        send(cluster, numbers).await;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    true
}

/// Waits until the last sums that were sent are those of the input.
async fn settle(cluster: &TestCluster, expected: &BTreeMap<String, i64>, what: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while last_values(cluster, "sums") != *expected {
        assert!(Instant::now() < deadline, "{what}: {:?}, not {expected:?}", last_values(cluster, "sums"));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn sums_survive(store: Store, point: &'static str) {
    let cluster = TestCluster::builder().topic("numbers", 2).topic("sums", 2).start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let mut expected = BTreeMap::new();
    let what = format!("{}, killed at {point}", store.name);
    {
        // What a recovery finds: commits of an earlier life.
        let mut first = Sums::start(&cluster, folder.path(), store, None);
        let topic = if store.arguments.contains(&"--no-changelog") { "sums" } else { "app-sums-changelog" };
        let fed = feed(&cluster, &mut expected, || last_values(&cluster, topic).len() == 3 || first.has_ended()).await;
        assert!(fed && !first.has_ended(), "{what}: the first life sums");
    }
    let mut killed = Sums::start(&cluster, folder.path(), store, Some(Stop::Kill(point)));
    assert!(feed(&cluster, &mut expected, || killed.has_ended()).await, "{what}: it comes to that point");
    assert!(killed.has_said("stopped at"), "{what}: it was killed there");
    let mut third = Sums::start(&cluster, folder.path(), store, None);
    settle(&cluster, &expected, &what).await;
    if !store.arguments.contains(&"--memory") {
        let lines = third.lines();
        let is_zero = |line: &&String| !line.starts_with("restored") || *line == "restored 0";
        assert!(lines.iter().all(|line| is_zero(&line)), "{what}: {lines:?}");
    }
}

/// A is paused past its session, B takes over and commits, A goes on as a zombie, B is killed, C restores.
async fn zombie_changes_nothing(store: Store, point: &'static str) {
    let cluster = TestCluster::builder().topic("numbers", 2).topic("sums", 2).start().await;
    let folders = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    let mut expected = BTreeMap::new();
    let what = format!("{}, paused at {point}", store.name);
    let mut a = Sums::start(&cluster, folders[0].path(), store, Some(Stop::Pause(point)));
    assert!(feed(&cluster, &mut expected, || a.has_said("stopped at")).await, "{what}: it comes to that point");
    let mut b = Sums::start(&cluster, folders[1].path(), store, None);
    assert!(feed(&cluster, &mut expected, || b.has_said("state RUNNING")).await, "{what}: the second one takes over");
    settle(&cluster, &expected, &format!("{what}, the second one")).await;
    a.resume();
    let mut rounds = 0;
    let some_rounds = || {
        rounds += 1;
        rounds > 30
    };
    assert!(feed(&cluster, &mut expected, some_rounds).await);
    settle(&cluster, &expected, &format!("{what}, both")).await;
    drop((a, b));
    let _c = Sums::start(&cluster, folders[2].path(), store, None);
    let mut rounds = 0;
    let some_rounds = || {
        rounds += 1;
        rounds > 3
    };
    assert!(feed(&cluster, &mut expected, some_rounds).await);
    settle(&cluster, &expected, &format!("{what}, the third one")).await;
}

macro_rules! paused_at {
    ($($test:ident: $point:literal;)*) => {$(
        #[tokio::test]
        async fn $test() {
            for store in STORES.iter().filter(|store| !store.arguments.contains(&"--no-changelog")) {
                zombie_changes_nothing(*store, $point).await;
            }
        }
    )*};
}

paused_at! {
    zombie_of_step_1_changes_nothing: "step-1@3";
    zombie_of_step_2_changes_nothing: "step-2@3";
    zombie_of_step_3_changes_nothing: "step-3@3";
    zombie_of_step_4_changes_nothing: "step-4@3";
    zombie_of_step_5_changes_nothing: "step-5@3";
    zombie_of_step_6_changes_nothing: "step-6@3";
}

/// A is paused with changelog records in an open transaction, B takes over and commits behind them, B is killed: C cannot read up to what
/// B committed before A's transaction is ended, whose timeout is far away.
#[tokio::test]
async fn open_transaction_of_a_paused_process_is_ended_by_who_has_to_read_past_it() {
    let patient = Store { name: "long transactions", arguments: &["--set", "transaction.timeout.ms=600000"] };
    let cluster = TestCluster::builder().topic("numbers", 2).topic("sums", 2).start().await;
    let folders = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    let mut expected = BTreeMap::new();
    let mut a = Sums::start(&cluster, folders[0].path(), patient, Some(Stop::Pause("step-2@3")));
    assert!(feed(&cluster, &mut expected, || a.has_said("stopped at")).await, "it comes to that point");
    let mut b = Sums::start(&cluster, folders[1].path(), patient, None);
    assert!(feed(&cluster, &mut expected, || b.has_said("state RUNNING")).await, "the second one takes over");
    settle(&cluster, &expected, "the second one").await;
    drop(b);
    let mut c = Sums::start(&cluster, folders[2].path(), patient, None);
    assert!(feed(&cluster, &mut expected, || c.has_said("state RUNNING")).await, "the third one takes over");
    settle(&cluster, &expected, "the third one").await;
}

/// A second process comes, and the first is killed while its tasks are asked back.
#[tokio::test]
async fn sums_survive_a_kill_in_the_middle_of_a_revocation() {
    for store in STORES.iter().filter(|store| !store.arguments.contains(&"--no-changelog")) {
        let cluster = TestCluster::builder().topic("numbers", 2).topic("sums", 2).start().await;
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let mut expected = BTreeMap::new();
        let what = format!("{}, killed in a revocation", store.name);
        let mut a = Sums::start(&cluster, folders[0].path(), *store, Some(Stop::Kill("revocation")));
        assert!(feed(&cluster, &mut expected, || a.has_said("state RUNNING")).await, "{what}: it runs");
        let mut b = Sums::start(&cluster, folders[1].path(), *store, None);
        assert!(feed(&cluster, &mut expected, || a.has_ended()).await, "{what}: it is asked");
        assert!(a.has_said("stopped at"), "{what}: it was killed there");
        assert!(feed(&cluster, &mut expected, || b.has_said("state RUNNING")).await, "{what}: the second one runs");
        settle(&cluster, &expected, &what).await;
    }
}

macro_rules! killed_at {
    ($($test:ident: $point:literal;)*) => {$(
        #[tokio::test]
        async fn $test() {
            for store in STORES {
                sums_survive(store, $point).await;
            }
        }
    )*};
}

killed_at! {
    sums_survive_a_kill_after_step_1: "step-1@3";
    sums_survive_a_kill_after_step_2: "step-2@3";
    sums_survive_a_kill_after_step_3: "step-3@3";
    sums_survive_a_kill_after_step_4: "step-4@3";
    sums_survive_a_kill_after_step_5: "step-5@3";
    sums_survive_a_kill_after_step_6: "step-6@3";
    sums_survive_a_kill_while_recovering: "recovery-fetched@2";
    sums_survive_a_kill_before_the_second_look: "recovery-restored";
}
