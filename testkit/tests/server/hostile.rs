//! Whoever connects to the control port and means no good, or does not know better.

use super::Controlled;
use super::http::raw;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

impl Controlled {
    fn connect(&self, bytes: &[u8]) -> TcpStream {
        let url = self.server.url();
        let mut stream = TcpStream::connect(url.strip_prefix("http://").expect("a URL of HTTP")).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(180))).expect("a timeout can be set");
        stream.write_all(bytes).expect("it takes the request");
        stream
    }
    fn raw(&self, text: &str) -> String {
        raw(&self.server.url(), text.as_bytes())
    }
}
fn body(answer: &str) -> String {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head and body: {answer:?}"));
    let value: serde_json::Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {answer:?}"));
    value["error"].as_str().expect("a sentence").to_owned()
}

/// A hundred connections with half a body each were all that the port served at a time: nobody else was ever let in.
#[tokio::test(flavor = "multi_thread")]
async fn half_a_body_holds_the_port_for_nobody_else() {
    let controlled = Controlled::start().await;
    let half = b"POST /topics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{";
    let crowd: Vec<TcpStream> = (0..150).map(|_| controlled.connect(half)).collect();
    assert_eq!(controlled.ask("GET", "/topics", None).0, 200);
    drop(crowd);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_long_is_refused_whether_it_comes_or_not() {
    let controlled = Controlled::start().await;
    let whole = "POST /topics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n";
    let answer = controlled.raw(whole);
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert_eq!(body(&answer), "the body has 1048577 bytes; this port takes 1048576 at most");
    // The port hung up in the middle of it, and all that was seen of its refusal was a broken pipe.
    let answer = controlled.raw(
        &whole
            .replace("1048577", "3000000")
            .replace("\r\n\r\n", &("\r\nConnection: close\r\n\r\n".to_owned() + &" ".repeat(3_000_000))),
    );
    assert_eq!(body(&answer), "the body has 3000000 bytes; this port takes 1048576 at most");
    let mut chunked =
        controlled.connect(b"POST /topics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
    chunked.write_all(format!("100001\r\n{}", " ".repeat(0x10_0001)).as_bytes()).expect("it takes the request");
    let mut answer = vec![0; 12];
    chunked.read_exact(&mut answer).expect("it answers");
    assert_eq!(answer, b"HTTP/1.1 413");
}

/// Any page that a browser showed could drive a cluster on the same machine.
#[tokio::test(flavor = "multi_thread")]
async fn no_web_page_drives_the_port() {
    let controlled = Controlled::start().await;
    let ask = |headers: &str| {
        controlled.raw(&format!("DELETE /topics/orders HTTP/1.1\r\nConnection: close\r\n{headers}\r\n\r\n"))
    };
    for headers in [
        "Host: evil.example",
        "Host: 127.0.0.1:1\r\nOrigin: https://evil.example",
        "Host: localhost\r\nOrigin: null",
        "Host: localhost.evil.example:80",
    ] {
        let answer = ask(headers);
        assert!(answer.starts_with("HTTP/1.1 403 "), "{headers}: {answer}");
        assert!(body(&answer).contains("send it to 127.0.0.1, localhost or [::1]"), "{answer}");
    }
    let own = ask("Host: localhost:8080\r\nOrigin: http://localhost:3000");
    assert!(own.starts_with("HTTP/1.1 204 "), "{own}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_http_is_refused_with_a_sentence() {
    let controlled = Controlled::start().await;
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(70_000));
    let headers = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "A: b\r\n".repeat(101));
    for (bytes, status, reason) in [
        ("what is this\r\n\r\n", 400, "this is no request of HTTP/1.1"),
        (&long, 414, "the path with its query is longer than the 65534 bytes"),
        (&headers, 431, "there are more than 100 headers"),
    ] {
        let answer = controlled.raw(bytes);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(body(&answer).starts_with(reason), "{answer}");
    }
}
