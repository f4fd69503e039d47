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

/// The program, running.
struct Sums {
    child: Child,
    lines: std::sync::mpsc::Receiver<String>,
}

impl Sums {
    fn start(cluster: &TestCluster, folder: &Path, store: Store, stop: Option<&str>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_millstream-sums"));
        command.args(["--bootstrap", &cluster.bootstrap_servers(), "--application-id", "app"]);
        command.arg("--state-dir").arg(folder).args(store.arguments);
        for option in ["commit.interval.ms=20", "session.timeout.ms=1000", "heartbeat.interval.ms=100"] {
            command.args(["--set", option]);
        }
        if let Some(stop) = stop {
            command.env("MILLSTREAM_STOP_AT", stop).env("MILLSTREAM_STOP_HOW", "kill");
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program is built");
        let (tell, lines) = std::sync::mpsc::channel();
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Self { child, lines }
    }

    fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it is our child").is_some()
    }

    /// Every line so far.
    fn lines(&self) -> Vec<String> {
        self.lines.try_iter().collect()
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

async fn sums_survive(store: Store, point: &str) {
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
    let mut killed = Sums::start(&cluster, folder.path(), store, Some(point));
    assert!(feed(&cluster, &mut expected, || killed.has_ended()).await, "{what}: it comes to that point");
    assert!(killed.lines().iter().any(|line| line.starts_with("stopped at")), "{what}: it was killed there");
    let third = Sums::start(&cluster, folder.path(), store, None);
    let deadline = Instant::now() + Duration::from_secs(20);
    while last_values(&cluster, "sums") != expected {
        assert!(Instant::now() < deadline, "{what}: {:?}, not {expected:?}", last_values(&cluster, "sums"));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    if !store.arguments.contains(&"--memory") {
        let restored: Vec<String> = third.lines().into_iter().filter(|line| line.starts_with("restored")).collect();
        assert!(restored.iter().all(|line| line == "restored 0"), "{what}: {restored:?}");
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
