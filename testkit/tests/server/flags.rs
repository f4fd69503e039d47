//! What the command line takes, what it refuses and how, and its help.

use std::net::TcpListener;
use std::process::{Command, Stdio};

/// The exit code and what is said to standard error, on one line.
fn run(flags: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_millstream-broker"))
        .args(flags)
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn flags_that_would_do_nothing_are_refused_with_what_to_add() {
    let table: &[(&[&str], &str)] = &[
        (&["--user", "alice=secret"], "add --sasl SCRAM-SHA-256"),
        (&["--sasl", "PLAIN"], "add --user NAME=PASSWORD"),
        (&["--listener", "SASL_PLAINTEXT"], "add --user NAME=PASSWORD"),
        (&["--sasl", "PLAIN", "--user", "a=b", "--listener", "PLAINTEXT"], "as in --listener SASL_PLAINTEXT"),
        (&["--sasl", "OAUTHBEARER", "--user", "a=b"], "add --sasl SCRAM-SHA-256"),
        (&["--super-user", "User:admin"], "add --acls"),
        (&["--set", "allow.everyone.if.no.acl.found=true"], "add --acls"),
        (&["--acls", "--set", "super.users=User:a", "--super-user", "User:b"], "leave one out"),
        (&["--listener", "SSL"], "needs --tls FOLDER"),
        (&["--listener", "PLAINTEXT", "--tls", "/tmp"], "as in --listener SSL"),
        (&["--topic", "t", "--topic", "t:2"], "--topic t is there twice"),
        (&["--topic", "t:1:3", "--brokers", "2"], "there are 2 broker(s); add --brokers 3"),
        (&["--port", "19092", "--brokers", "3", "--control-port", "19094"], "which --port 19092 gives 19092 to 19094"),
        (&["--sasl", "PLAIN", "--user", "a=b", "--user", "a=c"], "--user a=… is there twice"),
        (&["--listener", "SSL", "--listener", "SSL", "--tls", "/tmp"], "--listener OTHER=PLAINTEXT"),
        (&["--racks", "a,b"], "add --brokers 2"),
    ];
    for (flags, to_do) in table {
        let (code, text) = run(flags);
        assert!(code == Some(2) && text.contains(to_do), "{flags:?}: {code:?} {text}");
    }
}

#[test]
fn what_cannot_be_read_is_told_with_an_example() {
    let table: &[(&[&str], &str)] = &[
        (&["--super-user", "admin"], "User:admin"),
        (&["--user", "alice"], "NAME=PASSWORD, as in alice=secret"),
        (&["--set", "x"], "KEY=VALUE with a broker's option, as in num.partitions=3"),
        (&["--sasl", "GSSAPI"], "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER"),
        (&["--as-version", "5"], "2.8"),
        (&["--host", "x"], "127.0.0.1"),
        (&["--topic", "t:x"], "orders:12"),
        (&["--listener", "A=B"], "CLIENTS=SASL_SSL"),
        (&["--advertise", "a:b"], "localhost:9092"),
    ];
    for (flags, example) in table {
        let (code, text) = run(flags);
        assert!(code == Some(2) && text.contains(example), "{flags:?}: {code:?} {text}");
    }
}

#[test]
fn what_cannot_start_says_what_was_being_done_why_and_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let port = taken.local_addr().expect("bound").port().to_string();
    let table: &[(&[&str], &str)] = &[
        (&["--set", "no.such.key=1"], "the test cluster has no broker option `no.such.key`"),
        (&["--topic", "t,log.retention.ms=1"], "topics have no option `log.retention.ms`; is `retention.ms` meant?"),
        (&["--set", "retention.ms=1"], "is `log.retention.ms` meant?"),
        (&["--set", "num.partition=3"], "is `num.partitions` meant?"),
        (&["--host", "0.0.0.0"], "--advertise HOST"),
        (&["--host", "192.0.2.1"], "this machine has no such address"),
        (&["--port", &port], "or 0 for any that is free"),
        (&["--control-port", &port], "or 0 for any that is free"),
        (&["--with-parent"], "give it a pipe that stays open"),
        (&["--tls", "/proc/nope"], "the certificates cannot be written into /proc/nope"),
    ];
    for (flags, why) in table {
        let (code, text) = run(flags);
        let is_so = text.starts_with("millstream-broker: start a cluster of 1 broker(s): ") && text.contains(why);
        assert!(code == Some(1) && is_so, "{flags:?}: {code:?} {text}");
    }
}

#[test]
fn the_help_says_what_it_is_and_how_it_is_used() {
    let output = Command::new(env!("CARGO_BIN_EXE_millstream-broker")).arg("--help").output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    for part in [
        "for tests, in any language",
        "bootstrap=HOST:PORT",
        "GET /openapi.yaml",
        "Who may come:",
        "    millstream-broker --json --with-parent",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}
