//! Addresses where no Kafka answers.

use super::{whole, within};
use millstream_client::{Client, ErrorKind};
use millstream_testkit::TestCluster;
use std::net::TcpListener;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The text of the error that connecting to an address ends with, the address in it called ADDRESS.
async fn refusal(address: &str) -> String {
    refusal_within(Duration::from_secs(120), address).await
}
async fn refusal_within(patience: Duration, address: &str) -> String {
    let builder = Client::builder(address).socket_connection_setup_timeout(patience);
    let error = within("an error", builder.build()).await.expect_err("no Kafka is there");
    assert_eq!(error.kind(), ErrorKind::Unreachable, "{error:?}");
    assert!(error.is_retriable());
    whole(&error).replace(address, "ADDRESS")
}
/// The text for an address that reads a request and then says these bytes.
async fn refusal_of_one_that_says(bytes: &'static [u8]) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    let server = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // A peer that is gone is the test's end.
            let _ = stream.read(&mut [0; 64]).await;
            let _ = stream.write_all(bytes).await;
        }
    });
    let text = refusal(&address).await;
    server.abort();
    text
}

/// A cluster that is down: nobody listens at its address, and nobody else can.
async fn nobody() -> TestCluster {
    let cluster = TestCluster::start().await;
    cluster.crash(1);
    cluster
}

#[tokio::test]
async fn a_refused_port_is_named() {
    assert_eq!(
        refusal(&nobody().await.bootstrap_servers()).await,
        "connect to the cluster: no broker answered. Tried: ADDRESS: Connection refused (os error 111). \
         Check that the brokers run, that bootstrap.servers names their listeners, and that nothing on the \
         way blocks the ports"
    );
}

#[tokio::test]
async fn a_name_without_an_address_is_named() {
    let text = refusal("no-such-host.invalid:9092").await;
    // The words of the system's resolver are its own.
    let (before, after) = text.split_once("the name cannot be resolved: ").expect("it says so");
    assert_eq!(before, "connect to the cluster: no broker answered. Tried: ADDRESS: ");
    let (_, after) = after.split_once(". ").expect("it says what to do");
    assert_eq!(
        after,
        "Check that the brokers run, that bootstrap.servers names their listeners, and that nothing on the way blocks \
         the ports"
    );
}

#[tokio::test]
async fn a_port_that_says_nothing_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    assert_eq!(
        refusal_within(Duration::from_secs(5), &address).await,
        "connect to the cluster: no broker answered. Tried: ADDRESS: it took the connection and then said \
         nothing: it is no Kafka broker, or one that is stuck. Check that the brokers run, that \
         bootstrap.servers names their listeners, and that nothing on the way blocks the ports"
    );
}

#[tokio::test]
async fn a_port_that_speaks_http_is_called_that() {
    assert_eq!(
        refusal_of_one_that_says(b"HTTP/1.1 400 Bad Request\r\n\r\n").await,
        "connect to the cluster: no broker answered. Tried: ADDRESS: the broker's answer is not Kafka's \
         protocol: the other side speaks HTTP, not Kafka: check the port (a Kafka broker listens on 9092 by \
         default). Check that the brokers run, that bootstrap.servers names their listeners, and that \
         nothing on the way blocks the ports"
    );
}

#[tokio::test]
async fn a_port_that_speaks_tls_is_called_that() {
    // What OpenSSL says to bytes that are no TLS: a fatal alert, protocol_version.
    assert_eq!(
        refusal_of_one_that_says(b"\x15\x03\x03\x00\x02\x02\x46").await,
        "connect to the cluster: no broker answered. Tried: ADDRESS: the broker's answer is not Kafka's \
         protocol: the other side speaks TLS and this side does not: check security.protocol, or the port. \
         Check that the brokers run, that bootstrap.servers names their listeners, and that nothing on the \
         way blocks the ports"
    );
}

#[tokio::test]
async fn a_port_that_speaks_something_else_is_called_that() {
    assert_eq!(
        refusal_of_one_that_says(b"220 mail.example ESMTP\r\n").await,
        "connect to the cluster: no broker answered. Tried: ADDRESS: the broker's answer is not Kafka's \
         protocol: it begins with `220 `: check the port (a Kafka broker listens on 9092 by default). Check \
         that the brokers run, that bootstrap.servers names their listeners, and that nothing on the way \
         blocks the ports"
    );
}

#[tokio::test]
async fn a_port_that_hangs_up_gets_a_hint_about_security() {
    assert_eq!(
        refusal_of_one_that_says(b"").await,
        "connect to the cluster: no broker answered. Tried: ADDRESS: the broker closed the connection at the first \
         request; if that goes on, its listener wants TLS or a login (check security.protocol and the port), or it is \
         not a Kafka broker. Check that the brokers run, that bootstrap.servers names their listeners, and that \
         nothing on the way blocks the ports"
    );
}

#[tokio::test]
async fn every_address_is_accounted_for() {
    let (first, second) = (nobody().await, nobody().await);
    let (first, second) = (first.bootstrap_servers(), second.bootstrap_servers());
    let error = Client::builder(format!("{first},{second}")).build().await.expect_err("nobody listens");
    let text = whole(&error);
    for address in [first, second] {
        assert!(text.contains(&format!("{address}: Connection refused")), "{text}");
    }
}

#[tokio::test]
async fn what_is_no_address_is_said_before_anything_is_sent() {
    for (address, expected) in [
        (
            "kafka",
            "configure: option `bootstrap.servers`: `kafka` is not `host:port` (an IPv6 address goes in brackets: `[::1]:9092`)",
        ),
        (
            "kafka:http",
            "configure: option `bootstrap.servers`: `kafka:http` does not end in a port between 1 and 65535",
        ),
        (
            "",
            "configure: option `bootstrap.servers`: names no address; write `host:9092`, or several with commas between them",
        ),
    ] {
        let error = Client::builder(address).build().await.expect_err("no address");
        assert_eq!((whole(&error).as_str(), error.kind()), (expected, ErrorKind::Config));
    }
}
