//! Clients that others wrote on clusters with TLS, SASL and rules. The scripts are in `foreign/`; each prints `ok` as its last line.
#![cfg(feature = "tls")]

mod services;

use millstream_testkit::{SecurityProtocol, TestCluster, TestClusterBuilder};
use services::real_kafka::RealKafka;
use services::scripts;
use std::process::Command;

fn builder() -> TestClusterBuilder {
    let builder = TestCluster::builder().user("alice", "alice-secret").user("admin", "admin-secret");
    let builder = builder.config("auto.create.topics.enable", "false").config("ssl.client.auth", "requested");
    builder.acls().super_user("User:admin").config("allow.everyone.if.no.acl.found", "true")
}
/// Runs a script on a cluster with a listener of each protocol that has to do with security.
fn run(name: &str) {
    let builder = [SecurityProtocol::SaslPlaintext, SecurityProtocol::SaslSsl, SecurityProtocol::Ssl]
        .into_iter()
        .fold(builder(), |builder, protocol| builder.listener(protocol.name(), protocol));
    let builder = builder.sasl(&["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]);
    let cluster = builder.try_start().expect("loopback has free ports");
    let folder = tempfile::tempdir().expect("a folder for the PEM files");
    let files = cluster.tls().write_to(folder.path()).expect("the folder is writable");
    let about = serde_json::json!({
        "SASL_PLAINTEXT": cluster.bootstrap_servers_of("SASL_PLAINTEXT"),
        "SASL_SSL": cluster.bootstrap_servers_of("SASL_SSL"),
        "SSL": cluster.bootstrap_servers_of("SSL"),
        "ca": files.ca,
        "certificate": files.certificate,
        "key": files.key,
    });
    let program = if name.ends_with(".py") { "python3" } else { "node" };
    scripts::run(&mut Command::new(program), name, &about.to_string());
}

#[test]
#[ignore = "needs python3 with confluent-kafka"]
fn confluent_kafka_proves_itself_and_keeps_to_the_rules() {
    run("secured_confluent.py");
}

#[test]
#[ignore = "needs python3 with kafka-python"]
fn kafka_python_proves_itself_and_keeps_to_the_rules() {
    run("secured_kafka_python.py");
}

#[test]
#[ignore = "needs python3 with aiokafka"]
fn aiokafka_proves_itself_and_keeps_to_the_rules() {
    run("secured_aiokafka.py");
}

/// `NODE_PATH` names the folder with the package.
#[test]
#[ignore = "needs node with kafkajs"]
fn kafkajs_proves_itself_and_keeps_to_the_rules() {
    run("secured_kafkajs.cjs");
}

#[test]
#[ignore = "needs java and Kafka's jars"]
fn kafkas_tools_print_under_sasl_and_rules_what_they_print_on_a_real_kafka() {
    let kafka = RealKafka::up(&["--security", "sasl"]);
    let tools_on = |bootstrap: &str| {
        let folder = tempfile::tempdir().expect("a folder for the tools' configurations");
        let mut command = Command::new("bash");
        command.arg(scripts::path("secured_tools.sh")).arg(bootstrap).arg(&kafka.launcher).arg(folder.path());
        scripts::output_of(&mut command)
    };
    let cluster = builder().sasl(&["SCRAM-SHA-256"]).try_start().expect("loopback has free ports");
    let (real, ours) = (tools_on(&kafka.bootstrap), tools_on(&cluster.bootstrap_servers()));
    assert!(real.contains("written") && real.ends_with("end\n"), "the tools do not run here:\n{real}");
    scripts::assert_same_lines(&ours, &real);
}
