//! Many clients at once, and clients that stay without doing anything: with the binary, since what counts is what its process holds.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// ApiVersions 0, correlation id 7, without a client id.
const ASK: [u8; 14] = [0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 0xff, 0xff];
const CROWD: usize = 10_000;
/// Files that this process has open besides, at most.
const OTHERS: usize = 1_000;
/// What a process may hold more for another reason than its connections, where these are few.
const SLACK_KIB: usize = 2 << 10;

pub(crate) struct Broker {
    pub(crate) process: Child,
    address: String,
    pub(crate) control: String,
}
impl Broker {
    /// One that may have this many files open.
    pub(crate) fn with_files(most: usize) -> Self {
        Self::with_files_and_flags(most, "")
    }
    /// The same with more flags.
    pub(crate) fn with_files_and_flags(most: usize, flags: &str) -> Self {
        let binary = env!("CARGO_BIN_EXE_millstream-broker");
        let limited = format!("ulimit -n {most}; exec {binary} --with-parent --control-port 0 {flags}");
        let piped = Stdio::piped;
        let mut process = Command::new("sh")
            .args(["-c", &limited])
            .stdin(piped())
            .stdout(piped())
            .stderr(piped())
            .spawn()
            .expect("sh");
        let mut line = String::new();
        let out = process.stdout.as_mut().expect("it is piped");
        BufReader::new(out).read_line(&mut line).expect("it says that it is ready");
        let (address, control) = line.trim_end().split_once(" control=").expect("both addresses");
        let address = address.strip_prefix("bootstrap=").expect("the brokers first").to_owned();
        let broker = Self { process, address, control: control.to_owned() };
        // What serves a connection is in memory now, so that it is not counted as what connections hold.
        ask(&mut broker.connect());
        broker
    }
    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).expect("it listens")
    }
    /// Kilobytes that it holds now.
    pub(crate) fn memory_kib(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).expect("Linux tells");
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it tells of memory");
        memory.trim().trim_end_matches(" kB").parse().expect("a number")
    }
}
impl Drop for Broker {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It ends with its standard input.
        let _ = self.process.wait();
    }
}
/// How many files this process may have open.
pub(crate) fn most_files() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").expect("Linux tells");
    let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("it tells of files");
    line.split_whitespace().nth(3).and_then(|soft| soft.parse().ok()).unwrap_or(CROWD + OTHERS)
}
pub(crate) fn ask(stream: &mut TcpStream) {
    stream.write_all(&ASK).expect("it takes the request");
    let mut size = [0; 4];
    stream.read_exact(&mut size).expect("it answers");
    let mut answer = vec![0; usize::try_from(u32::from_be_bytes(size)).expect("32 bits")];
    stream.read_exact(&mut answer).expect("all of it");
    assert_eq!(answer[..4], [0, 0, 0, 7]);
}

#[test]
fn ten_thousand_connections_are_served_at_once() {
    let most = most_files();
    let broker = Broker::with_files(most);
    let before = broker.memory_kib();
    let mut streams: Vec<TcpStream> =
        (0..most.saturating_sub(OTHERS).clamp(1, CROWD)).map(|_| broker.connect()).collect();
    streams.iter_mut().for_each(ask);
    let held = broker.memory_kib().saturating_sub(before);
    println!("{} connections, {held} KiB", streams.len());
    // Of each its buffer, and of the exchanges those that the request log keeps.
    assert!(held < SLACK_KIB + 32 * streams.len(), "{held} KiB for {} connections", streams.len());
}

#[test]
fn who_sends_half_a_frame_and_stays_holds_little_more_than_what_came() {
    let broker = Broker::with_files(most_files());
    let before = broker.memory_kib();
    let half = [&(100_u32 << 20).to_be_bytes()[..], &[0; 1000]].concat();
    let mut streams: Vec<TcpStream> = (0..200).map(|_| broker.connect()).collect();
    streams.iter_mut().for_each(|stream| stream.write_all(&half).expect("it reads"));
    ask(&mut broker.connect());
    let held = broker.memory_kib().saturating_sub(before);
    println!("{} connections with half a frame, {held} KiB", streams.len());
    assert!(held < SLACK_KIB + 64 * streams.len(), "{held} KiB for {} connections", streams.len());
}

#[test]
fn who_asks_and_does_not_read_holds_an_answer_and_no_more() {
    let broker = Broker::with_files(most_files());
    let before = broker.memory_kib();
    let mut stream = broker.connect();
    stream.set_write_timeout(Some(Duration::from_millis(500))).expect("a timeout can be set");
    let many = ASK.repeat(4096);
    let sent = (0..).find(|_| stream.write_all(&many).is_err()).unwrap_or(0) * many.len();
    ask(&mut broker.connect());
    let held = broker.memory_kib().saturating_sub(before);
    println!("{sent} bytes of requests were taken, {held} KiB held");
    // The request log keeps the last ten thousand exchanges.
    assert!(held < 32 << 10, "{held} KiB after {sent} bytes");
}

#[test]
fn who_does_not_read_from_the_control_port_hinders_nobody() {
    let broker = Broker::with_files(most_files());
    let address = broker.control.strip_prefix("http://").expect("a URL of HTTP");
    let slow = |_| {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(b"GET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it takes the request");
        stream
    };
    // More than are served at a time, and fewer than the system holds besides.
    let crowd: Vec<TcpStream> = (0..150).map(slow).collect();
    ask(&mut broker.connect());
    drop(crowd);
    assert_eq!(super::http::ask(&broker.control, "GET", "/topics", None).0, 200);
}

/// Each that said nothing was waited for a second, and few are served at a time where files are few.
#[test]
fn hundreds_that_say_nothing_hold_the_control_port_for_a_moment() {
    let broker = Broker::with_files(64);
    let address = broker.control.strip_prefix("http://").expect("a URL of HTTP");
    let crowd: Vec<TcpStream> = (0..260).map(|_| TcpStream::connect(address).expect("it listens")).collect();
    let begun = Instant::now();
    assert_eq!(super::http::ask(&broker.control, "GET", "/topics", None).0, 200);
    println!("an answer behind {} others after {:?}", crowd.len(), begun.elapsed());
    // A second for each eight would be more than half a minute, however idle the machine.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// Every connection is a file: those of the brokers' clients left none to whoever wanted to ask the control port what was the matter.
#[test]
fn a_broker_that_may_open_no_more_files_says_so_and_serves_on() {
    let mut broker = Broker::with_files(40);
    let crowd: Vec<TcpStream> = (0..50).map(|_| broker.connect()).collect();
    assert_eq!(super::http::ask(&broker.control, "GET", "/topics", None).0, 200);
    let mut said = String::new();
    let errors = broker.process.stderr.as_mut().expect("it is piped");
    BufReader::new(errors).read_line(&mut said).expect("it says something");
    assert!(said.contains("node 1 cannot accept a connection") && said.contains("`ulimit -n` raises"), "{said}");
    assert!(said.contains("this process may open 40 files, and keeps 10 of them for its control port"), "{said}");
    drop(crowd);
    ask(&mut broker.connect());
}
