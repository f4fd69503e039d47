//! The binary: its readiness line, its control port, its end.

use super::http::ask;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

fn start(flags: &[&str]) -> (Child, String) {
    start_by(Command::new(env!("CARGO_BIN_EXE_millstream-broker")).args(flags))
}
/// The same by a command that becomes the binary.
fn start_by(command: &mut Command) -> (Child, String) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary was built");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("it is piped")).read_line(&mut line).expect("it says that it is ready");
    (child, line.trim_end().to_owned())
}

#[test]
fn one_line_says_where_it_is() {
    let flags = [
        "--with-parent",
        "--brokers",
        "2",
        "--topic",
        "orders:3:1,cleanup.policy=compact",
        "--control-port",
        "0",
        "--seed",
        "7",
    ];
    let (mut child, line) = start(&flags);
    let (bootstrap, control) = line.split_once(" control=").expect("both addresses");
    assert_eq!(bootstrap.strip_prefix("bootstrap=").expect("the brokers first").split(',').count(), 2);
    let (status, topic) = ask(control, "GET", "/topics/orders", None);
    let topic: serde_json::Value = serde_json::from_str(&topic).expect("JSON");
    assert_eq!((status, topic["partitions"].as_array().map(Vec::len)), (200, Some(3)), "{topic}");
    assert_eq!(topic["partitions"][0]["replicas"].as_array().map(Vec::len), Some(1), "{topic}");
    assert_eq!(topic["config"]["cleanup.policy"], "compact", "{topic}");
    // Its parent's end is its own.
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
}

/// A connection for each of which the process had no memory any more ended the process.
#[cfg(target_os = "linux")]
#[test]
fn requests_beyond_the_memory_of_the_process_end_their_connections() {
    let limited = "ulimit -v 700000; exec \"$0\" --with-parent";
    let mut shell = Command::new("sh");
    shell.args(["-c", limited, env!("CARGO_BIN_EXE_millstream-broker")]).env("MALLOC_ARENA_MAX", "1");
    let (mut child, line) = start_by(&mut shell);
    let address = line.strip_prefix("bootstrap=").expect("the broker");
    let part = vec![0; 90 << 20];
    let send = |_| {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(&(100_u32 << 20).to_be_bytes()).and_then(|()| stream.write_all(&part)).map(|()| stream)
    };
    let sent: Vec<_> = (0..8).map(send).collect();
    assert!(sent.iter().any(Result::is_ok) && sent.iter().any(Result::is_err), "{sent:?}");
    // ApiVersions 0.
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(&[0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff]).expect("it reads");
    stream.read_exact(&mut [0; 100]).expect("it answers");
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn the_line_may_be_json_and_a_signal_ends_it() {
    let security = ["--user", "alice=secret", "--sasl", "PLAIN,SCRAM-SHA-256", "--acls", "--super-user", "User:alice"];
    let (mut child, line) = start(&[&["--json", "--as-version", "3.9"], &security[..]].concat());
    let line: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert!(line["bootstrap"].as_str().is_some_and(|address| address.starts_with("127.0.0.1:")));
    assert!(line["control"].is_null());
    let killed = Command::new("kill").arg(child.id().to_string()).status().expect("there is a kill");
    assert!(killed.success() && child.wait().expect("it ends").success());
}

#[test]
fn each_listener_is_told_where_clients_reach_it() {
    let listeners =
        ["--listener", "PLAINTEXT", "--listener", "CLIENTS=SASL_PLAINTEXT", "--user", "alice=secret", "--brokers", "2"];
    let (mut child, line) = start(&[&listeners[..], &["--with-parent", "--advertise", "kafka:100"]].concat());
    assert_eq!(line, "bootstrap=kafka:100,kafka:101 listener.CLIENTS=kafka:102,kafka:103");
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());

    let (mut child, line) =
        start(&[&listeners[..6], &["--racks", "a", "--with-parent", "--json", "--host", "127.0.0.2"]].concat());
    let line: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(line["listeners"]["PLAINTEXT"], line["bootstrap"]);
    assert!(line["listeners"]["CLIENTS"].as_str().is_some_and(|address| address.starts_with("127.0.0.2:")), "{line}");
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
}
