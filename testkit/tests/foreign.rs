//! Clients that others wrote, in other languages, on the embedded cluster. The scripts are in `foreign/`; each prints `ok` as its last line.

use millstream_testkit::TestCluster;
use std::path::Path;
use std::process::Command;

/// The cluster that a script meets: two brokers, topics only when made.
fn cluster() -> TestCluster {
    let builder = TestCluster::builder().brokers(2).topic("kcat", 1).config("auto.create.topics.enable", "false");
    builder.try_start().expect("loopback has free ports")
}
fn run(program: &str, script: &str) {
    let cluster = cluster();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(script);
    let output =
        Command::new(program).arg(script).arg(cluster.bootstrap_servers()).output().expect("the program is installed");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success() && out.trim_end().ends_with("ok"),
        "{program} ended with {}:\n{out}\n{err}",
        output.status
    );
}

#[test]
#[ignore = "needs python3 with confluent-kafka"]
fn confluent_kafka_works_on_the_cluster() {
    run("python3", "confluent.py");
}

#[test]
#[ignore = "needs python3 with kafka-python"]
fn kafka_python_works_on_the_cluster() {
    run("python3", "kafka_python.py");
}

#[test]
#[ignore = "needs kcat"]
fn kcat_works_on_the_cluster() {
    run("sh", "kcat.sh");
}
