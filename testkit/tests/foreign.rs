//! Clients that others wrote, in other languages, on the embedded cluster. The scripts are in `foreign/`; each prints `ok` as its last line.

use millstream_testkit::TestCluster;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The cluster that a script meets: two brokers, topics only when made.
fn cluster() -> TestCluster {
    let builder = TestCluster::builder().brokers(2).topic("kcat", 1).config("auto.create.topics.enable", "false");
    builder.try_start().expect("loopback has free ports")
}
fn run(program: &str, script: &str) {
    run_with(program, &[], script);
}
fn run_with(program: &str, arguments: &[&str], script: &str) {
    let cluster = cluster();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(script);
    let mut command = Command::new(program);
    command.args(arguments).arg(script).arg(cluster.bootstrap_servers());
    let output = command.output().expect("the program is installed");
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
#[ignore = "needs python3 with aiokafka"]
fn aiokafka_works_on_the_cluster() {
    run("python3", "aio_kafka.py");
}

/// `NODE_PATH` names the folder with the package.
#[test]
#[ignore = "needs node with kafkajs"]
fn kafkajs_works_on_the_cluster() {
    run("node", "kafkajs.cjs");
}

/// `MILLSTREAM_KAFKA_JARS` is the folder of Kafka 4.4's jars.
#[test]
#[ignore = "needs java and Kafka's jars"]
fn a_kafka_streams_application_counts_once_on_the_cluster() {
    let jars = std::env::var("MILLSTREAM_KAFKA_JARS").expect("MILLSTREAM_KAFKA_JARS names the folder of the jars");
    run_with("java", &["-cp", &format!("{jars}/*")], "StreamsSums.java");
}

#[test]
#[ignore = "needs python3 with confluent-kafka"]
fn confluent_kafkas_groups_work_on_the_cluster() {
    run("python3", "confluent_groups.py");
}

#[test]
#[ignore = "needs python3 with kafka-python"]
fn kafka_pythons_admin_client_works_on_the_cluster() {
    run("python3", "kafka_python_admin.py");
}

#[test]
#[ignore = "needs kcat"]
fn kcat_works_on_the_cluster() {
    run("sh", "kcat.sh");
}

/// A real Kafka that ends with the test.
struct RealKafka {
    launcher: PathBuf,
    dir: tempfile::TempDir,
    bootstrap: String,
}
impl RealKafka {
    fn up() -> Self {
        let launcher = Path::new(env!("CARGO_MANIFEST_DIR")).join("kafka/kafka");
        let dir = tempfile::tempdir().expect("a directory for Kafka");
        let output = Command::new(&launcher).args(["up", "--dir"]).arg(dir.path()).args(["--port", "0"]).output();
        let output = output.expect("the launcher runs");
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let bootstrap = out.lines().find_map(|line| line.strip_prefix("bootstrap="));
        let bootstrap = bootstrap.unwrap_or_else(|| panic!("Kafka does not start: {out}")).to_owned();
        Self { launcher, dir, bootstrap }
    }
    fn tools_on(&self, bootstrap: &str) -> String {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/java_tools.sh");
        let output = Command::new("sh").arg(script).arg(bootstrap).arg(&self.launcher).output().expect("sh runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}
impl Drop for RealKafka {
    fn drop(&mut self) {
        let ended = Command::new(&self.launcher).args(["down", "--dir"]).arg(self.dir.path()).output();
        if let Err(error) = ended {
            eprintln!("the Kafka in {} was not ended: {error}", self.dir.path().display());
        }
    }
}

#[test]
#[ignore = "needs java and Kafka's jars"]
fn kafkas_tools_print_what_they_print_on_a_real_kafka() {
    let kafka = RealKafka::up();
    let builder = TestCluster::builder().config("auto.create.topics.enable", "false");
    // As the launcher starts the real one.
    let builder = builder.config("group.consumer.session.timeout.ms", "10000");
    let cluster = builder.config("offsets.topic.num.partitions", "4").try_start().expect("loopback has free ports");
    let (real, ours) = (kafka.tools_on(&kafka.bootstrap), kafka.tools_on(&cluster.bootstrap_servers()));
    assert!(real.contains("PartitionCount: 5"), "the tools do not run here:\n{real}");
    for (line, (real, ours)) in real.lines().zip(ours.lines()).enumerate() {
        assert_eq!(ours, real, "in line {}", line + 1);
    }
    assert_eq!(ours.lines().count(), real.lines().count());
}
