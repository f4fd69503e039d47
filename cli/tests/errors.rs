//! What the command line prints when something is wrong: what was being done, to what, why, and what to do; and the exit code is 1.

use millstream_testkit::TestCluster;
use std::process::{Command, Stdio};

/// What a failing command prints to standard error, the bootstrap address in it called ADDRESS.
fn failure(bootstrap: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
    command.args(arguments).args(["--bootstrap", bootstrap]).stdin(Stdio::null());
    let output = command.output().expect("the program starts");
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8(output.stderr).expect("it prints UTF-8").replace(bootstrap, "ADDRESS")
}

/// A cluster that is down: nobody listens at its address, and nobody else can.
fn nobody() -> TestCluster {
    let cluster = cluster();
    cluster.crash(1);
    cluster
}
fn cluster() -> TestCluster {
    let builder = TestCluster::builder().topic("there", 1).config("auto.create.topics.enable", "false");
    builder.try_start().expect("loopback has free ports")
}

#[test]
fn an_address_where_nobody_listens() {
    let text = failure(&nobody().bootstrap_servers(), &["topics", "list"]);
    assert_eq!(
        text,
        "millstream: connect to the cluster: no broker answered. Tried: ADDRESS: Connection refused (os \
         error 111). Check that the brokers run, that bootstrap.servers names their listeners, and that \
         nothing on the way blocks the ports\n"
    );
}

#[test]
fn what_is_no_address() {
    let text = failure("kafka", &["topics", "list"]);
    assert_eq!(
        text,
        "millstream: configure: option `bootstrap.servers`: `ADDRESS` is not `host:port` (an IPv6 address \
         goes in brackets: `[::1]:9092`)\n"
    );
}

#[test]
fn a_topic_that_does_not_exist_is_not_described() {
    let text = failure(&cluster().bootstrap_servers(), &["topics", "describe", "nowhere"]);
    assert_eq!(
        text,
        "millstream: describe topic `nowhere`: the cluster has no such topic; create it, or check its \
         name\n  because: UNKNOWN_TOPIC_OR_PARTITION (3): This server does not host this topic-partition.\n"
    );
}

#[test]
fn a_topic_that_does_not_exist_is_not_deleted() {
    let text = failure(&cluster().bootstrap_servers(), &["topics", "delete", "nowhere"]);
    assert_eq!(
        text,
        "millstream: delete topic `nowhere`: the cluster has no such topic; check its name\n  because: \
         UNKNOWN_TOPIC_OR_PARTITION (3): This server does not host this topic-partition.\n"
    );
}

/// `broker --topic` takes it so, and Kafka's words for a colon say nothing about partitions.
#[test]
fn partitions_beside_a_name_are_told_how_they_are_said() {
    let text = failure(&nobody().bootstrap_servers(), &["topics", "create", "orders:12:3"]);
    assert_eq!(
        text,
        "millstream: create topic `orders:12:3`: a topic's name has no colon; its partitions are said by --partitions, its replicas by \
         --replication-factor\n"
    );
}

#[test]
fn a_topic_that_exists_is_not_created() {
    let text = failure(&cluster().bootstrap_servers(), &["topics", "create", "there", "--partitions", "1"]);
    assert_eq!(text, "millstream: create topic `there`: TOPIC_ALREADY_EXISTS (36): Topic 'there' already exists.\n");
}

#[test]
fn a_topic_that_does_not_exist_is_not_read() {
    let text = failure(&cluster().bootstrap_servers(), &["consume", "nowhere"]);
    assert_eq!(
        text,
        "millstream: describe topic `nowhere`: the cluster has no such topic; create it, or check its \
         name\n  because: UNKNOWN_TOPIC_OR_PARTITION (3): This server does not host this topic-partition.\n"
    );
}

#[test]
fn a_group_that_does_not_exist_is_not_described() {
    let text = failure(&cluster().bootstrap_servers(), &["groups", "describe", "nobodys"]);
    assert_eq!(text, "millstream: describe group `nobodys`: GROUP_ID_NOT_FOUND (69): Group nobodys not found.\n");
}

#[test]
fn a_key_that_nobody_has_is_refused_with_the_nearest() {
    let text = failure(&nobody().bootstrap_servers(), &["topics", "list", "--set", "request.timeout=5"]);
    assert_eq!(
        text,
        "millstream: configure: option `request.timeout`: is not known; did you mean \
         `request.timeout.ms`?\n"
    );
}
