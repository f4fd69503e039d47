//! Nobody reads what the process says: it serves on.

use super::crowd::{Broker, ask, most_files};
use std::io::{BufRead, BufReader, Read, Write};
use std::time::Duration;

/// Metadata of a version that there is not, correlation id 7, without a client id.
const UNKNOWN: [u8; 15] = [0, 0, 0, 11, 0, 3, 0, 99, 0, 0, 0, 7, 0xff, 0xff, 0];

/// Has a connection closed, about which the process says a line.
fn be_refused(broker: &Broker) {
    let mut stream = broker.connect();
    stream.set_read_timeout(Some(Duration::from_secs(180))).expect("a timeout can be set");
    stream.write_all(&UNKNOWN).expect("it takes the request");
    assert_eq!(stream.read(&mut [0; 1]).expect("it hangs up"), 0);
}

/// The broker wrote its log to standard error under the lock that all requests need: when the pipe was full, it stood still.
#[test]
fn a_full_pipe_of_standard_error_holds_up_nobody() {
    let mut broker = Broker::with_files(most_files());
    // Some hundred lines fill the pipe, a thousand more the queue.
    (0..3000).for_each(|_| be_refused(&broker));
    ask(&mut broker.connect());
    assert_eq!(super::http::ask(&broker.control, "GET", "/topics", None).0, 200);
    drop(broker.process.stdin.take());
    assert!(broker.process.wait().expect("it ends").success());
}

#[test]
fn who_closes_a_connection_says_of_whom_upon_what_and_why() {
    let mut broker = Broker::with_files(most_files());
    be_refused(&broker);
    let mut said = String::new();
    let errors = broker.process.stderr.as_mut().expect("it is piped");
    BufReader::new(errors).read_line(&mut said).expect("it says something");
    assert!(said.contains("node 1 closes the connection of 127.0.0.1:"), "{said}");
    let why =
        "upon Metadata 99 (correlation id 7, client id \"\"): of Metadata these brokers speak the versions 0 to 13";
    assert!(said.contains(why), "{said}");
    let logged: serde_json::Value =
        serde_json::from_str(&super::http::ask(&broker.control, "GET", "/requests?api=Metadata", None).1)
            .expect("JSON");
    assert_eq!(logged[0]["outcome"], "closed");
    assert_eq!(logged[0]["reason"], "of Metadata these brokers speak the versions 0 to 13");
}
