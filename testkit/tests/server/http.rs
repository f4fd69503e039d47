//! The smallest HTTP client there is.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Status and body.
pub(crate) fn ask(url: &str, method: &str, path: &str, body: Option<&serde_json::Value>) -> (u16, String) {
    let (head, body) = exchange(url, method, path, body);
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, body)
}
/// Head and body.
pub(crate) fn exchange(url: &str, method: &str, path: &str, body: Option<&serde_json::Value>) -> (String, String) {
    let address = url.strip_prefix("http://").expect("a URL of HTTP");
    let body = body.map(ToString::to_string).unwrap_or_default();
    let mut stream = TcpStream::connect(address).expect("the port is open");
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).expect("it takes the request");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers and hangs up");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
    (format!("{head}\r\n"), body.to_owned())
}
/// What comes back for bytes of one's own, until the other side hangs up.
pub(crate) fn raw(url: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").expect("a URL of HTTP")).expect("the port is open");
    stream.set_read_timeout(Some(Duration::from_secs(180))).expect("a timeout can be set");
    stream.write_all(bytes).expect("it takes the request");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers and hangs up");
    text
}
