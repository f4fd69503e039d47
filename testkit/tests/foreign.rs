//! Clients that others wrote, in other languages, on the embedded cluster. The scripts are in `foreign/`; each prints `ok` as its last line.

mod services;

use millstream_testkit::{TestCluster, TestClusterBuilder};
use services::real_kafka::RealKafka;
use services::scripts;
use std::process::Command;

/// The cluster that a script meets: two brokers, topics only when made, groups that soon miss who is gone.
fn cluster() -> TestClusterBuilder {
    let builder = TestCluster::builder().brokers(2).topic("kcat", 1).config("auto.create.topics.enable", "false");
    builder.config("group.min.session.timeout.ms", "100")
}
fn started(builder: TestClusterBuilder) -> TestCluster {
    builder.try_start().expect("loopback has free ports")
}
fn run(program: &str, script: &str) {
    run_with(program, &[], script);
}
fn run_with(program: &str, arguments: &[&str], script: &str) {
    let cluster = started(cluster());
    scripts::run(Command::new(program).args(arguments), script, &cluster.bootstrap_servers());
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
    let quickly = ["-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"];
    run_with("java", &[&quickly[..], &["-cp", &format!("{jars}/*")]].concat(), "StreamsSums.java");
}

#[test]
#[ignore = "needs python3 with confluent-kafka"]
fn confluent_kafkas_groups_work_on_the_cluster() {
    run("python3", "confluent_groups.py");
}

#[test]
#[ignore = "needs python3 with kafka-python"]
fn every_call_of_kafka_pythons_admin_client_works_on_the_cluster() {
    let cluster = started(cluster().acls().super_user("User:ANONYMOUS"));
    scripts::run(&mut Command::new("python3"), "kafka_python_admin", &cluster.bootstrap_servers());
}

#[test]
#[ignore = "needs kcat"]
fn kcat_works_on_the_cluster() {
    run("sh", "kcat.sh");
}

#[test]
#[ignore = "needs java and Kafka's jars"]
fn kafkas_tools_print_what_they_print_on_a_real_kafka() {
    let kafka = RealKafka::up(&[]);
    let tools_on = |bootstrap: &str| {
        let mut command = Command::new("sh");
        scripts::output_of(command.arg(scripts::path("java_tools.sh")).arg(bootstrap).arg(&kafka.launcher))
    };
    let builder = TestCluster::builder().config("auto.create.topics.enable", "false");
    // As the launcher starts the real one.
    let builder = builder.config("group.consumer.session.timeout.ms", "10000");
    let cluster = builder.config("offsets.topic.num.partitions", "4").try_start().expect("loopback has free ports");
    let (real, ours) = (tools_on(&kafka.bootstrap), tools_on(&cluster.bootstrap_servers()));
    assert!(real.contains("PartitionCount: 5"), "the tools do not run here:\n{real}");
    scripts::assert_same_lines(&ours, &real);
}
