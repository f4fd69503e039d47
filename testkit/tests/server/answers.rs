//! Many clients that ask for large answers and read nothing: with the binary, since what counts is what its process holds.

use super::crowd::{Broker, ask, most_files};
use bytes::Bytes;
use millstream_protocol::ApiKey;
use millstream_protocol::frame;
use millstream_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use millstream_protocol::messages::{
    DescribeGroupsRequest, GroupId, JoinGroupRequest, Request, ResponseKind, StrBytes, SyncGroupRequest,
};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// What each of them asks for, in bytes.
const LARGE: usize = 4 << 20;
/// What all of them may leave unread.
const BOUND_KIB: usize = 64 << 10;
/// What there is besides: answers that are being made, and what an allocator keeps of them.
const SLACK_KIB: usize = 40 << 10;

fn send<R: Request>(stream: &mut TcpStream, version: i16, request: &R) {
    let frame = frame::encode_request(version, 7, Some("slow"), request).expect("it can be written");
    stream.write_all(&frame.to_bytes()).expect("the broker takes it");
}
fn receive(stream: &mut TcpStream, api: ApiKey, version: i16) -> ResponseKind {
    let mut size = [0; 4];
    stream.read_exact(&mut size).expect("it answers");
    let mut payload = vec![0; usize::try_from(u32::from_be_bytes(size)).expect("32 bits")];
    stream.read_exact(&mut payload).expect("all of it");
    frame::decode_any_response(api, version, payload.into()).expect("an answer").1
}
fn group() -> GroupId {
    GroupId(StrBytes::from_static_str("large"))
}
/// Has the broker remember what makes the answer large: what a member of a group that works told of itself.
fn join(broker: &Broker) {
    let text = StrBytes::from_static_str;
    let protocol = JoinGroupRequestProtocol::default().with_name(text("range"));
    let request = JoinGroupRequest::default()
        .with_group_id(group())
        .with_session_timeout_ms(300_000)
        .with_rebalance_timeout_ms(300_000)
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol.with_metadata(Bytes::from(vec![7; LARGE]))]);
    let mut stream = broker.connect();
    send(&mut stream, 3, &request);
    let ResponseKind::JoinGroup(joined) = receive(&mut stream, ApiKey::JOIN_GROUP, 3) else { panic!("another answer") };
    let sync = SyncGroupRequest::default().with_group_id(group()).with_member_id(joined.member_id);
    send(&mut stream, 3, &sync.with_generation_id(joined.generation_id));
    receive(&mut stream, ApiKey::SYNC_GROUP, 3);
}
/// Asks again and again, and reads nothing.
fn hoarder(broker: &Broker) -> TcpStream {
    let mut stream = broker.connect();
    let request = DescribeGroupsRequest::default().with_groups(vec![group()]);
    (0..10).for_each(|_| send(&mut stream, 0, &request));
    stream
}
fn settled_kib(broker: &Broker) -> usize {
    std::thread::sleep(Duration::from_millis(300));
    broker.memory_kib()
}

/// Each connection held an answer: a thousand of them, as many gigabytes as a group had megabytes to tell.
#[test]
fn answers_that_nobody_reads_have_a_bound_over_all_connections() {
    let flags =
        format!("--set millstream.max.unread.bytes={} --set group.initial.rebalance.delay.ms=0", BOUND_KIB << 10);
    let mut broker = Broker::with_files_and_flags(most_files(), &flags);
    join(&broker);
    let before = settled_kib(&broker);
    let one = hoarder(&broker);
    let held = settled_kib(&broker).saturating_sub(before);
    println!("1 connection holds {held} KiB");
    assert!(held < 4 * (LARGE >> 10), "{held} KiB");
    let crowd: Vec<TcpStream> = (0..100).map(|_| hoarder(&broker)).collect();
    let held = settled_kib(&broker).saturating_sub(before);
    println!("101 connections hold {held} KiB");
    assert!(held < BOUND_KIB + SLACK_KIB, "{held} KiB");
    // Whoever reads nothing is not waited for, and the log says whose fault it is.
    let mut said = String::new();
    let errors = broker.process.stderr.as_mut().expect("it is piped");
    BufReader::new(errors).read_line(&mut said).expect("it says something");
    assert!(said.contains("its client has read less than 262") && said.contains(" of an answer of 419"), "{said}");
    assert!(said.contains("(millstream.max.unread.bytes)"), "{said}");
    drop((one, crowd));
    ask(&mut broker.connect());
}
