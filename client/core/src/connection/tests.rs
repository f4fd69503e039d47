//! A connection by direct calls: bytes in, frames out, and a clock that jumps.

use super::*;
use millstream_protocol::frame::Decoder;
use millstream_protocol::messages::api_versions_response::{ApiVersion, ApiVersionsResponse, FinalizedFeatureKey};
use millstream_protocol::messages::create_acls_request::AclCreation;
use millstream_protocol::messages::create_acls_response::AclCreationResult;
use millstream_protocol::messages::{
    ApiVersionsRequest, CreateAclsRequest, CreateAclsResponse, MetadataRequest, MetadataResponse, StrBytes,
};

#[expect(
    clippy::disallowed_methods,
    reason = "there is no other way to make a first instant; the tests move it by hand"
)]
fn start() -> Instant {
    Instant::now()
}

struct World {
    now: Instant,
    connection: Connection,
}

impl World {
    fn new() -> Self {
        let now = start();
        Self { now, connection: Connection::new(now, ConnectionOptions::new("tests")) }
    }
    fn ready() -> Self {
        let mut world = Self::new();
        let asked = world.transmit().expect("ApiVersions");
        world.reply_versions(asked, versions(&[(18, 0, 4), (3, 0, 9)]), 4);
        assert!(matches!(world.connection.poll_event(), Some(Event::Ready(_))));
        world
    }
    /// The correlation id of the next frame.
    fn transmit(&mut self) -> Option<i32> {
        let frame = self.connection.poll_transmit(self.now)?;
        let header = frame::decode_request_header(&frame.payload()).expect("a request");
        Some(header.correlation_id())
    }
    fn read(&mut self, frame: &Frame) -> Result<(), Broken> {
        self.connection.read_buffer().extend_from_slice(&frame.to_bytes());
        self.connection.handle_read(self.now)
    }
    fn reply_versions(&mut self, correlation: i32, answer: ApiVersionsResponse, version: i16) {
        let frame = frame::encode_response::<ApiVersionsRequest>(version, correlation, &answer).expect("encodes");
        self.read(&frame).expect("understood");
    }
    fn send(&mut self) -> RequestId {
        let outgoing = Outgoing::new(ApiKey::METADATA, Duration::from_secs(30));
        let sent = self.connection.send(self.now, &outgoing, |version, id, client| {
            frame::encode_request(version, id, Some(client), &MetadataRequest::default())
        });
        sent.expect("sent")
    }
    fn answer(&mut self, correlation: i32) -> Result<(), Broken> {
        let answer = MetadataResponse::default();
        self.read(&frame::encode_response::<MetadataRequest>(9, correlation, &answer).expect("encodes"))
    }
}

fn versions(ranges: &[(i16, i16, i16)]) -> ApiVersionsResponse {
    let mut answer = ApiVersionsResponse::default();
    for (key, min, max) in ranges {
        let mut row = ApiVersion::default();
        (row.api_key, row.min_version, row.max_version) = (*key, *min, *max);
        answer.api_keys.push(row);
    }
    answer
}

// W-1, W-12, W-13
#[test]
fn versions_are_agreed_on_before_anything_else_is_sent() {
    let mut world = World::new();
    let outgoing = Outgoing::new(ApiKey::METADATA, Duration::from_secs(30));
    let early = world.connection.send(world.now, &outgoing, |_, _, _| unreachable!("not ready"));
    assert!(matches!(early, Err(SendError::NotReady)));
    let asked = world.transmit().expect("ApiVersions goes first");
    let mut answer = versions(&[(18, 0, 4), (3, 0, 9)]);
    let mut feature = FinalizedFeatureKey::default();
    feature.name = StrBytes::from_static_str("transaction.version");
    feature.max_version_level = 2;
    answer.finalized_features.push(feature);
    answer.finalized_features_epoch = 12;
    world.reply_versions(asked, answer, 4);
    let Some(Event::Ready(versions)) = world.connection.poll_event() else { panic!("ready") };
    assert_eq!(versions.negotiate(ApiKey::METADATA, None), Ok(9));
    assert_eq!((versions.finalized_features["transaction.version"], versions.features_epoch), (2, 12));
}

// W-2: librdkafka's mock answers so, and kafka-python 3.0.12 fails on it.
#[test]
fn a_broker_that_does_not_know_the_version_is_asked_at_its_own() {
    let mut world = World::new();
    let asked = world.transmit().expect("ApiVersions");
    let mut refusal = versions(&[(18, 0, 2)]);
    refusal.error_code = ErrorCode::UNSUPPORTED_VERSION.get();
    world.reply_versions(asked, refusal, 0);
    let frame = world.connection.poll_transmit(world.now).expect("asked again");
    let header = frame::decode_request_header(&frame.payload()).expect("a request");
    assert_eq!(header.version(), 2);
    world.reply_versions(header.correlation_id(), versions(&[(18, 0, 2), (3, 0, 9)]), 2);
    assert!(world.connection.is_ready());
}

#[test]
fn a_version_that_the_broker_lacks_is_refused_without_breaking_the_connection() {
    let mut world = World::ready();
    let outgoing = Outgoing::new(ApiKey::PRODUCE, Duration::from_secs(30));
    let error =
        world.connection.send(world.now, &outgoing, |_, _, _| unreachable!("no version")).expect_err("not offered");
    assert!(error.to_string().contains("Produce"), "{error}");
    world.send();
    assert!(world.transmit().is_some());
}

// W-9
#[test]
fn answers_are_matched_in_order() {
    let mut world = World::ready();
    let requests = [world.send(), world.send()];
    let ids = [world.transmit().expect("first"), world.transmit().expect("second")];
    for (request, correlation) in requests.into_iter().zip(ids) {
        world.answer(correlation).expect("in order");
        let Some(Event::Answer { id, version, .. }) = world.connection.poll_event() else { panic!("an answer") };
        assert_eq!((id, version), (request, 9));
    }
}

/// A rule is told in four bytes and takes sixty-four: whoever made a few thousand at once could not read that they were made.
#[test]
fn an_answer_may_take_as_much_as_was_asked_for() {
    let mut world = World::new();
    let asked = world.transmit().expect("ApiVersions");
    world.reply_versions(asked, versions(&[(18, 0, 4), (30, 0, 3)]), 4);
    world.connection.poll_event();
    let outgoing = Outgoing::new(ApiKey::CREATE_ACLS, Duration::from_secs(30));
    let request = CreateAclsRequest::default().with_creations(vec![AclCreation::default(); 10_000]);
    let sent = world
        .connection
        .send(world.now, &outgoing, |version, id, client| frame::encode_request(version, id, Some(client), &request));
    let id = sent.map(|_| world.transmit()).expect("sent").expect("it is next");
    let answer = CreateAclsResponse::default().with_results(vec![AclCreationResult::default(); 10_000]);
    world.read(&frame::encode_response::<CreateAclsRequest>(3, id, &answer).expect("encodes")).expect("in order");
    let Some(Event::Answer { payload, limits, .. }) = world.connection.poll_event() else { panic!("an answer") };
    let by = |limits| Decoder::new(limits).response::<CreateAclsRequest>(3, payload.clone());
    assert_eq!(by(limits).expect("it was asked for").1, answer);
    by(ConnectionOptions::limits()).expect_err("the frame alone allows less");
}

#[test]
fn an_answer_out_of_order_breaks_the_connection() {
    let mut world = World::ready();
    world.send();
    world.send();
    world.transmit().expect("first");
    let second = world.transmit().expect("second");
    let broken = world.answer(second).expect_err("not its turn");
    assert!(matches!(&broken, Broken::Malformed(why) if why.contains("where")), "{broken}");
    assert!(!world.connection.is_ready());
}

// W-10
#[test]
fn a_request_that_takes_too_long_poisons_the_connection() {
    let mut world = World::ready();
    world.send();
    world.transmit();
    world.now = world.connection.poll_deadline().expect("a deadline");
    let broken = world.connection.handle_timeout(world.now).expect_err("too long");
    assert_eq!(broken.to_string(), "the broker did not answer Metadata in time");
    assert!(!world.connection.is_ready());
}

// W-14
#[test]
fn a_pause_holds_requests_back_and_does_not_age_them() {
    let mut world = World::ready();
    world.connection.handle_throttle(world.now, Duration::from_secs(60));
    world.send();
    assert_eq!(world.transmit(), None);
    assert_eq!(world.connection.poll_deadline(), Some(world.now + Duration::from_secs(60)));
    world.now += Duration::from_secs(60);
    world.connection.handle_timeout(world.now).expect("it waited for the pause, not for an answer");
    assert!(world.transmit().is_some());
    world.now += Duration::from_secs(29);
    world.connection.handle_timeout(world.now).expect("30 s from when it could be written");
}

// W-18
#[test]
fn an_early_end_of_the_stream_hints_at_security() {
    let mut world = World::new();
    world.transmit();
    let broken = world.connection.handle_closed();
    assert_eq!(broken, Broken::Closed(ClosedDuring::Setup));
    assert!(broken.to_string().contains("security.protocol"), "{broken}");
}

// W-16
#[test]
fn the_end_of_an_idle_connection_is_no_failure() {
    let mut world = World::ready();
    assert_eq!(world.connection.handle_closed(), Broken::Closed(ClosedDuring::Idle));
}

// W-8
#[test]
fn correlation_ids_wrap_and_skip_those_that_wait() {
    let mut world = World::ready();
    world.connection.next_correlation = i32::MAX;
    world.send();
    world.send();
    assert_eq!((world.transmit(), world.transmit()), (Some(i32::MAX), Some(0)));
    world.connection.next_correlation = i32::MAX;
    world.send();
    assert_eq!(world.transmit(), Some(1), "the others wait for their answers");
}

// P-9
#[test]
fn a_request_without_an_answer_is_not_waited_for() {
    let mut world = World::ready();
    let mut outgoing = Outgoing::new(ApiKey::METADATA, Duration::from_secs(30));
    outgoing.answered = false;
    let sent = world.connection.send(world.now, &outgoing, |version, id, client| {
        frame::encode_request(version, id, Some(client), &MetadataRequest::default())
    });
    sent.expect("sent");
    assert!(world.transmit().is_some());
    assert_eq!((world.connection.in_flight(), world.connection.poll_deadline()), (0, None));
}
