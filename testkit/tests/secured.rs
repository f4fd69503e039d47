//! Clients that others wrote on clusters with TLS, SASL and rules. The scripts are in `foreign/`; each prints `ok` as its last line.
#![cfg(feature = "tls")]

use millstream_testkit::{SecurityProtocol, TestCluster, TestClusterBuilder};
use std::path::{Path, PathBuf};
use std::process::Command;

fn builder() -> TestClusterBuilder {
    let builder = TestCluster::builder().user("alice", "alice-secret").user("admin", "admin-secret");
    let builder = builder.config("auto.create.topics.enable", "false").config("ssl.client.auth", "requested");
    builder.acls().super_user("User:admin").config("allow.everyone.if.no.acl.found", "true")
}
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(name)
}
/// Runs a Python script on a cluster with a listener of each protocol that has to do with security.
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
    let output = Command::new("python3").arg(script(name)).arg(about.to_string()).output().expect("python3 runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let is_ok = output.status.success() && out.trim_end().ends_with("ok");
    assert!(is_ok, "{name} ended with {}:\n{out}\n{err}", output.status);
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

/// A real Kafka with SASL that ends with the test.
struct RealKafka {
    launcher: PathBuf,
    folder: tempfile::TempDir,
    bootstrap: String,
}
impl RealKafka {
    fn up() -> Self {
        let launcher = Path::new(env!("CARGO_MANIFEST_DIR")).join("kafka/kafka");
        let folder = tempfile::tempdir().expect("a folder for Kafka");
        let mut command = Command::new(&launcher);
        command.args(["up", "--dir"]).arg(folder.path()).args(["--port", "0", "--security", "sasl"]);
        let output = command.output().expect("the launcher runs");
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let bootstrap = out.lines().find_map(|line| line.strip_prefix("bootstrap="));
        let bootstrap = bootstrap.unwrap_or_else(|| panic!("Kafka does not start: {out}")).to_owned();
        Self { launcher, folder, bootstrap }
    }
    fn tools_on(&self, bootstrap: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder for the tools' configurations");
        let mut command = Command::new("bash");
        command.arg(script("secured_tools.sh")).arg(bootstrap).arg(&self.launcher).arg(folder.path());
        String::from_utf8_lossy(&command.output().expect("bash runs").stdout).into_owned()
    }
}
impl Drop for RealKafka {
    fn drop(&mut self) {
        let ended = Command::new(&self.launcher).args(["down", "--dir"]).arg(self.folder.path()).output();
        if let Err(error) = ended {
            eprintln!("the Kafka in {} was not ended: {error}", self.folder.path().display());
        }
    }
}

#[test]
#[ignore = "needs java and Kafka's jars"]
fn kafkas_tools_print_under_sasl_and_rules_what_they_print_on_a_real_kafka() {
    let kafka = RealKafka::up();
    let cluster = builder().sasl(&["SCRAM-SHA-256"]).try_start().expect("loopback has free ports");
    let (real, ours) = (kafka.tools_on(&kafka.bootstrap), kafka.tools_on(&cluster.bootstrap_servers()));
    assert!(real.contains("written") && real.ends_with("end\n"), "the tools do not run here:\n{real}");
    for (line, (real, ours)) in real.lines().zip(ours.lines()).enumerate() {
        assert_eq!(ours, real, "in line {}", line + 1);
    }
    assert_eq!(ours.lines().count(), real.lines().count());
}
