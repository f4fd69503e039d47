//! A thousand clusters in one process, started and dropped: no port, thread, task or memory stays behind.
//! Alone in its binary, since it counts what the whole process has.

use millstream_client::{Producer, ProducerRecord};
use millstream_testkit::TestCluster;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

const CLUSTERS: usize = 1_000;
/// How many live at a time.
const TOGETHER: usize = 50;
/// How long another program may have a port that was free again, and the system a thread that has ended.
const PATIENCE: Duration = Duration::from_secs(180);
/// ApiVersions 0, correlation id 7, without a client id.
const ASK: [u8; 14] = [0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 0xff, 0xff];

/// What the process holds: threads, file descriptors, kilobytes of memory.
#[derive(Debug, Clone, Copy)]
struct Held {
    threads: usize,
    files: usize,
    memory_kib: usize,
}
impl Held {
    fn now() -> Self {
        let count = |path| fs::read_dir(path).expect("Linux tells").count();
        let status = fs::read_to_string("/proc/self/status").expect("Linux tells");
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it tells of memory");
        let memory_kib = memory.trim().trim_end_matches(" kB").parse().expect("a number");
        Self { threads: count("/proc/self/task"), files: count("/proc/self/fd"), memory_kib }
    }
}

fn start() -> TestCluster {
    TestCluster::builder().brokers(3).topic("t", 1).try_start().expect("loopback has free ports")
}
/// Leaves a connection open that has been answered.
fn visit(cluster: &TestCluster) -> TcpStream {
    let servers = cluster.bootstrap_servers();
    let mut stream = TcpStream::connect(servers.split(',').next().expect("a first one")).expect("it listens");
    stream.write_all(&ASK).expect("it takes the request");
    let mut head = [0; 8];
    stream.read_exact(&mut head).expect("it answers");
    assert_eq!(head[4..], [0, 0, 0, 7]);
    stream
}
fn wave() -> Vec<String> {
    let clusters: Vec<TestCluster> = (0..TOGETHER).map(|_| start()).collect();
    let streams: Vec<TcpStream> = clusters.iter().map(visit).collect();
    let ports = clusters.iter().map(TestCluster::bootstrap_servers).collect();
    drop(clusters);
    drop(streams);
    ports
}
/// Waits until something holds; whether it did.
fn comes_true(is_so: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !is_so() && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
    is_so()
}

/// What an idle cluster takes of memory that the process did not have before: nothing has been freed yet that it could take again.
fn an_idle_cluster_is_small() {
    let before = Held::now();
    let idle: Vec<TestCluster> = (0..TOGETHER).map(|_| start()).collect();
    let each = (Held::now().memory_kib - before.memory_kib) / idle.len();
    println!("an idle cluster of three brokers holds {each} KiB");
    assert!((1..2 * 1024).contains(&each), "an idle cluster holds {each} KiB");
}

/// Clusters that run in the test's own runtime: no task of theirs outlives them.
fn a_thousand_clusters_leave_no_task() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
        let mut clusters = Vec::new();
        for _ in 0..CLUSTERS {
            let cluster = TestCluster::builder().brokers(3).topic("t", 1).in_memory().start().await;
            let producer = Producer::connect(&cluster).await.expect("it is there");
            producer.send(ProducerRecord::to("t").value("x")).await.expect("it is written");
            clusters.push(cluster);
        }
        assert!(tasks() >= CLUSTERS, "they all run here: {} tasks", tasks());
        drop(clusters);
        while tasks() > 0 {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn a_thousand_clusters_leave_nothing_behind() {
    let alone = Held::now().threads;
    // Who joins a thread goes on a moment before the system has forgotten it.
    let is_alone = || comes_true(|| Held::now().threads <= alone);
    an_idle_cluster_is_small();
    a_thousand_clusters_leave_no_task();
    // The first waves warm caches that the process keeps.
    wave();
    wave();
    is_alone();
    let before = Held::now();
    for _ in 0..CLUSTERS / TOGETHER {
        for address in wave().iter().flat_map(|servers| servers.split(',')) {
            assert!(comes_true(|| TcpListener::bind(address).is_ok()), "{address} is still taken");
        }
    }
    is_alone();
    let after = Held::now();
    println!("before: {before:?}, after {CLUSTERS} clusters: {after:?}");
    assert_eq!(after.threads, before.threads);
    assert_eq!(after.files, before.files);
    assert!(after.memory_kib < before.memory_kib + 8 * 1024, "{before:?} {after:?}");
}
