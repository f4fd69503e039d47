//! The command line.

use crate::cluster::{Cluster, eventually, unique};
use std::process::{Output, Stdio};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

async fn run(cluster: &Cluster, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_millstream"))
        .args(arguments)
        .args(["--bootstrap", cluster.bootstrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(input.as_bytes()).await.expect("it reads its input");
    drop(stdin);
    child.wait_with_output().await.expect("it ends")
}

async fn succeed(cluster: &Cluster, arguments: &[&str], input: &str) -> String {
    let output = run(cluster, arguments, input).await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("it prints UTF-8")
}

pub(crate) async fn lines_go_in_and_come_out(cluster: &Cluster) {
    let (topic, group) = (cluster.topic(1).await, unique("group"));
    succeed(cluster, &["produce", &topic], "alice\t12 apples\nno key\n").await;
    let read = ["consume", &topic, "--from-beginning", "--max", "2"];
    assert_eq!(succeed(cluster, &read, "").await, "alice\t12 apples\nno key\n");
    let json = succeed(cluster, &[&read[..], &["--json"]].concat(), "").await;
    let first: serde_json::Value = serde_json::from_str(json.lines().next().expect("a line")).expect("it is JSON");
    assert_eq!((&first["key"], &first["offset"], &first["partition"]), (&"alice".into(), &0.into(), &0.into()));
    // In a group: one record now, the next one by the next run.
    let one = ["consume", &topic, "--group", &group, "--from-beginning", "--max", "1"];
    assert_eq!(succeed(cluster, &one, "").await, "alice\t12 apples\n");
    assert_eq!(succeed(cluster, &one, "").await, "no key\n");
    let missing = run(cluster, &["consume", "no-such-topic", "--max", "1"], "").await;
    let errors = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert_eq!(missing.status.code(), Some(1));
    assert!(errors.contains("no-such-topic"), "{errors}");
}

/// Asks a broker for a topic's metadata by bytes of our own, and has question and answer explained.
pub(crate) async fn what_a_broker_answers_is_explained(cluster: &Cluster) {
    let topic = cluster.topic(1).await;
    let length = u8::try_from(topic.len()).expect("a short name");
    let request = [&[0, 3, 0, 1, 0, 0, 0, 9, 0xff, 0xff, 0, 0, 0, 1, 0, length], topic.as_bytes()].concat();
    let address = cluster.bootstrap().split(',').next().expect("an address");
    let mut connection = tokio::net::TcpStream::connect(address).await.expect("the broker listens");
    connection.write_u32(u32::try_from(request.len()).expect("short")).await.expect("it reads");
    connection.write_all(&request).await.expect("it reads");
    let mut answer = vec![0; connection.read_u32().await.expect("it answers").try_into().expect("short")];
    connection.read_exact(&mut answer).await.expect("it answers");
    for arguments in [&["decode", &hex(&request)][..], &["decode", "--response", "Metadata", "1", &hex(&answer)]] {
        let output = Command::new(env!("CARGO_BIN_EXE_millstream")).args(arguments).output().await;
        let output = output.expect("the program starts");
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && shown.contains(&format!("topics[0].name = \"{topic}\"")), "{shown}");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) async fn topics_from_the_command_line(cluster: &Cluster) {
    let topic = unique("topic");
    assert_eq!(
        succeed(cluster, &["topics", "create", &topic, "--partitions", "2"], "").await,
        format!("created {topic}\n")
    );
    eventually("the topic is listed", async || {
        succeed(cluster, &["topics", "list"], "").await.lines().any(|line| line == topic).then_some(())
    })
    .await;
    let described = succeed(cluster, &["topics", "describe", &topic], "").await;
    assert!(described.starts_with(&format!("topic {topic} has 2 partition(s)\n  partition 0: leader ")), "{described}");
    let again = run(cluster, &["topics", "create", &topic], "").await;
    assert_eq!(again.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(errors.contains("TOPIC_ALREADY_EXISTS") && errors.contains(&topic), "{errors}");
    assert_eq!(succeed(cluster, &["topics", "delete", &topic], "").await, format!("deleted {topic}\n"));
}

pub(crate) async fn groups_from_the_command_line(cluster: &Cluster) {
    let (topic, group) = (cluster.topic(1).await, unique("group"));
    succeed(cluster, &["produce", &topic], "a\nb\n").await;
    succeed(cluster, &["consume", &topic, "--group", &group, "--from-beginning", "--max", "1"], "").await;
    let listed = succeed(cluster, &["groups", "list"], "").await;
    assert!(listed.lines().any(|line| line == format!("{group}\tClassic\tEmpty")), "{listed}");
    let described = succeed(cluster, &["groups", "describe", &group], "").await;
    let expected = format!("group {group} is Empty and has 0 member(s)\n  {topic}-0: committed 1, end 2, lag 1\n");
    assert_eq!(described, expected);
}

pub(crate) async fn the_demo_verifies_its_sums(cluster: &Cluster) {
    // What an earlier run of this test on the same cluster left is deleted, and then refused.
    let state = tempfile::tempdir().expect("a folder for state");
    let demo = async |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
        command.args(["demo", "--records", "20000", "--bootstrap", cluster.bootstrap()]).args(more);
        command.env("XDG_STATE_HOME", state.path()).kill_on_drop(true);
        command.output().await.expect("the program starts")
    };
    let first = demo(&["--reset"]).await;
    let (out, errors) = (String::from_utf8_lossy(&first.stdout), String::from_utf8_lossy(&first.stderr));
    assert!(first.status.success(), "{out}\n{errors}");
    assert!(out.contains("verified: the last value of each of 100 keys in aggregate-topic"), "{out}");
    let second = demo(&[]).await;
    let errors = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1));
    assert!(errors.contains("--reset"), "{errors}");
}
