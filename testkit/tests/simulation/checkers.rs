//! Each checker on a history that is right, and on the same with something wrong.

use bytes::Bytes;
use millstream_protocol::messages::fetch_response::{FetchableTopicResponse, PartitionData};
use millstream_protocol::messages::offset_commit_response::{OffsetCommitResponsePartition, OffsetCommitResponseTopic};
use millstream_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use millstream_protocol::messages::{
    FetchRequest, FetchResponse, FindCoordinatorRequest, HeartbeatRequest, HeartbeatResponse, JoinGroupRequest,
    JoinGroupResponse, MetadataRequest, OffsetCommitRequest, OffsetCommitResponse, ProduceRequest, RecordData, Request,
    StrBytes,
};
use millstream_protocol::record::{BatchBuilder, Stamp};
use millstream_protocol::{
    ApiKey, Compression, Compressor, ErrorCode, Headers, NodeId, ProducerEpoch, ProducerId, Timestamp, TopicPartition,
    frame,
};
use millstream_testkit::checkers::{Checker, Ended, Event, Frame, FrameKind, History, Read, check};
use std::time::Duration;

const WRITER: u64 = 1;
const READER: u64 = 2;
const OTHER: u64 = 3;

fn place() -> TopicPartition {
    TopicPartition::new("t", 0)
}
fn read(offset: i64, value: u64) -> Read {
    Read::new(place(), offset, value)
}
/// A history in the making: one event a second.
#[derive(Default)]
pub(crate) struct Told(History);
impl Told {
    fn then(mut self, client: u64, event: Event) -> Self {
        let at = Duration::from_secs(self.0.events().count() as u64);
        self.0.add(at, client, event);
        self
    }
    fn sent_in(self, value: u64, transaction: Option<u64>) -> Self {
        let transaction = transaction.map(Into::into);
        self.then(WRITER, Event::Send { value, partition: place(), transaction, bytes: 10 })
            .then(WRITER, Event::Taken { value })
    }
    fn sent(self, value: u64) -> Self {
        self.sent_in(value, None)
    }
    fn acked(self, value: u64, offset: i64) -> Self {
        self.then(WRITER, Event::Acked { value, offset: Some(offset) })
    }
    fn polled_in(self, client: u64, records: &[(i64, u64)], transaction: Option<u64>) -> Self {
        let records = records.iter().map(|(offset, value)| read(*offset, *value)).collect();
        let transaction = transaction.map(Into::into);
        self.then(client, Event::Polled { records, transaction, read_committed: true })
    }
    fn polled(self, records: &[(i64, u64)]) -> Self {
        self.polled_in(READER, records, None)
    }
    fn ended(self, transaction: u64, outcome: Ended) -> Self {
        let commit = outcome != Ended::Aborted;
        self.then(WRITER, Event::Ending { transaction: transaction.into(), commit })
            .then(WRITER, Event::Ended { transaction: transaction.into(), outcome })
    }
    fn assigned(self, client: u64, generation: i32) -> Self {
        let (group, partitions) = (Some("g".to_owned()), vec![place()]);
        self.then(client, Event::Assigned { group, generation, partitions })
    }
    fn committed(self, client: u64, offset: i64) -> Self {
        self.then(client, Event::OffsetCommitted { group: "g".to_owned(), partition: place(), offset })
    }
    fn read_whole(mut self) -> Self {
        self.0.set_read_whole();
        self
    }
    fn log(mut self, records: &[(i64, u64)]) -> Self {
        self.0.set_log(place(), records.iter().copied());
        self
    }
    pub(crate) fn frames(mut self, frames: Vec<Frame>) -> Self {
        self.0.add_frames(frames);
        self
    }
    #[track_caller]
    pub(crate) fn passes(self) {
        let found = check(&self.0);
        assert!(found.is_empty(), "{found:?}");
    }
    #[track_caller]
    pub(crate) fn has(self, checker: Checker, name: &str) {
        let found = check(&self.0);
        let is_found = found.iter().any(|violation| violation.checker() == checker && violation.name() == name);
        assert!(is_found, "{checker:?} `{name}` is not among {found:?}");
    }
}
fn two_written() -> Told {
    Told::default().sent(10).acked(10, 0).sent(11).acked(11, 1)
}

#[test]
fn k1_a_record_that_readers_pass_over_is_lost() {
    two_written().polled(&[(0, 10), (1, 11)]).passes();
    two_written().polled(&[(1, 11)]).has(Checker::K1, "lost-write");
}

#[test]
fn k2_a_record_that_is_never_read_is_unseen() {
    two_written().polled(&[(0, 10)]).passes();
    two_written().polled(&[(0, 10)]).read_whole().has(Checker::K2, "unseen");
}

#[test]
fn k3_a_value_at_two_places_is_a_duplicate() {
    two_written().polled(&[(0, 10), (1, 11), (2, 11)]).has(Checker::K3, "duplicate");
}

#[test]
fn k4_two_values_at_one_place_are_inconsistent() {
    two_written().polled(&[(0, 10), (1, 12)]).has(Checker::K4, "inconsistent-offsets");
}

#[test]
fn k5_what_was_aborted_or_failed_is_not_read() {
    let told = |outcome| Told::default().sent_in(10, Some(7)).acked(10, 0).ended(7, outcome).polled(&[(0, 10)]);
    told(Ended::Committed).passes();
    told(Ended::Aborted).has(Checker::K5, "G1a");
    let failed =
        |in_doubt| Told::default().sent(10).then(WRITER, Event::SendFailed { value: 10, in_doubt }).polled(&[(0, 10)]);
    failed(true).passes();
    failed(false).has(Checker::K5, "G1a");
}

#[test]
fn k5_nothing_is_read_before_its_commit_is_asked_for() {
    let early = Told::default().sent_in(10, Some(7)).acked(10, 0).polled(&[(0, 10)]).ended(7, Ended::Committed);
    early.has(Checker::K5, "precommitted-read");
}

#[test]
fn k6_a_reader_neither_skips_nor_goes_back() {
    let three = || two_written().sent(12).acked(12, 2);
    three().polled(&[(0, 10), (1, 11)]).polled(&[(2, 12)]).passes();
    three().polled(&[(0, 10), (2, 12)]).polled_in(OTHER, &[(1, 11)], None).has(Checker::K6, "poll-skip");
    three().polled(&[(1, 11), (0, 10)]).has(Checker::K6, "nonmonotonic-poll");
    let inside =
        |records: &[(i64, u64)]| three().polled_in(OTHER, records, Some(9)).polled(&[(0, 10), (1, 11), (2, 12)]);
    inside(&[(0, 10), (2, 12)]).has(Checker::K6, "int-poll-skip");
    inside(&[(1, 11), (0, 10)]).has(Checker::K6, "int-nonmonotonic-poll");
    let sought = three().polled(&[(1, 11)]).then(READER, Event::Sought { partition: place() });
    sought.polled(&[(0, 10), (1, 11), (2, 12)]).passes();
}

#[test]
fn k7_records_lie_in_the_order_in_which_they_were_sent() {
    let told =
        |transaction| Told::default().sent_in(10, transaction).sent_in(11, transaction).acked(10, 1).acked(11, 0);
    told(None).has(Checker::K7, "nonmonotonic-send");
    told(Some(4)).has(Checker::K7, "int-nonmonotonic-send");
}

#[test]
fn k9_each_input_is_consumed_once() {
    let by = |client, transaction| {
        two_written().polled_in(READER, &[(0, 10), (1, 11)], Some(1)).ended(1, Ended::Committed).polled_in(
            client,
            &[(1, 11)],
            Some(transaction),
        )
    };
    by(OTHER, 2).ended(2, Ended::Aborted).passes();
    by(OTHER, 2).ended(2, Ended::Committed).has(Checker::K9, "consumed-twice");
    let half = two_written().polled_in(READER, &[(0, 10)], Some(1)).ended(1, Ended::Committed);
    half.polled_in(OTHER, &[(1, 11)], Some(2))
        .ended(2, Ended::Aborted)
        .log(&[(0, 10), (1, 11)])
        .read_whole()
        .has(Checker::K9, "not-consumed");
}

fn produce(at: u64, sequence: i32, text: &str) -> Frame {
    let mut builder = BatchBuilder::new();
    builder.append(Timestamp::from_millis(1), None, Some(text.as_bytes()), &Headers::new()).expect("it is small");
    let mut compressor = Compressor::new(Compression::None, None).expect("no codec is asked for");
    let sealed = builder.seal(&mut compressor).expect("it is small");
    let bytes = sealed.into_bytes(&Stamp::idempotent(ProducerId::new(5), ProducerEpoch::new(0), sequence));
    let partition = PartitionProduceData { index: 0, records: RecordData::from(vec![bytes]), ..Default::default() };
    let topic = TopicProduceData { name: "t".into(), partition_data: vec![partition], ..TopicProduceData::default() };
    let request = ProduceRequest { acks: -1, topic_data: vec![topic], ..ProduceRequest::default() };
    sent(at, 9, &request)
}
pub(crate) fn sent<R: Request>(at: u64, version: i16, request: &R) -> Frame {
    let payload = frame::encode_request(version, 1, Some("me"), request).expect("it can be written").payload();
    told(at, FrameKind::Sent, R::KEY, version, payload)
}
pub(crate) fn told(at: u64, kind: FrameKind, api: ApiKey, version: i16, payload: Bytes) -> Frame {
    Frame::new((Duration::from_secs(at), kind), (WRITER.into(), 1, NodeId::new(1)), (api, version), payload)
}

#[test]
fn k10_sequences_have_no_gap_and_one_meaning() {
    let frames = |frames: Vec<Frame>| Told::default().frames(frames);
    frames(vec![produce(1, 0, "a"), produce(2, 1, "b"), produce(3, 0, "a")]).passes();
    frames(vec![produce(1, 0, "a"), produce(2, 2, "b")]).has(Checker::K10, "sequence");
    frames(vec![produce(1, 0, "a"), produce(2, 0, "b")]).has(Checker::K10, "sequence");
}

#[test]
fn k11_commits_go_forward_up_to_what_was_read_and_are_the_owner_s() {
    let read = || two_written().assigned(READER, 1).polled(&[(0, 10), (1, 11)]);
    read().committed(READER, 1).committed(READER, 2).passes();
    read().committed(READER, 2).committed(READER, 1).has(Checker::K11, "commit");
    read().committed(READER, 3).has(Checker::K11, "commit");
    let lost = read().then(READER, Event::Lost { partitions: vec![place()] });
    lost.committed(READER, 2).has(Checker::K11, "commit");
}

/// One member is let into two generations, and then a commit of this one is answered so.
fn commit_of(generation: i32, code: ErrorCode) -> Told {
    let joined = |at, generation_id| {
        let mut request = JoinGroupRequest::default();
        request.group_id = StrBytes::from_static_str("g").into();
        let mut response = JoinGroupResponse::default();
        response.generation_id = generation_id;
        asked_and_answered::<JoinGroupRequest>(at, 5, &request, &response)
    };
    let mut request = OffsetCommitRequest::default();
    request.group_id = StrBytes::from_static_str("g").into();
    request.generation_id_or_member_epoch = generation;
    let mut partition = OffsetCommitResponsePartition::default();
    partition.error_code = code.get();
    let mut topic = OffsetCommitResponseTopic::default();
    topic.partitions = vec![partition];
    let mut response = OffsetCommitResponse::default();
    response.topics = vec![topic];
    let commit = asked_and_answered::<OffsetCommitRequest>(3, 7, &request, &response);
    Told::default().frames([joined(1, 1), joined(2, 2), commit].concat())
}
fn asked_and_answered<R: Request>(at: u64, version: i16, request: &R, response: &R::Response) -> [Frame; 2] {
    let mut request = sent(at, version, request);
    request.kind = FrameKind::Request;
    let answer = frame::encode_response::<R>(version, 1, response).expect("it can be written").payload();
    [request, told(at, FrameKind::Response, R::KEY, version, answer)]
}

#[test]
fn k11_a_commit_is_of_the_generation_that_is() {
    commit_of(2, ErrorCode::NONE).passes();
    commit_of(1, ErrorCode::ILLEGAL_GENERATION).passes();
    commit_of(1, ErrorCode::NONE).has(Checker::K11, "commit");
    commit_of(-1, ErrorCode::NONE).passes();
}

#[test]
fn k12_a_partition_has_one_owner() {
    let revoked = |told: Told| told.then(READER, Event::Revoked { partitions: vec![place()] });
    revoked(Told::default().assigned(READER, 1)).assigned(OTHER, 2).passes();
    revoked(Told::default().assigned(READER, 1).assigned(OTHER, 2)).has(Checker::K12, "ownership");
    Told::default().assigned(READER, 1).assigned(OTHER, 1).has(Checker::K12, "ownership");
    let stranger = two_written().assigned(READER, 1).then(READER, Event::Lost { partitions: vec![place()] });
    stranger.polled(&[(0, 10), (1, 11)]).has(Checker::K12, "ownership");
}

// A member that was asked for its partitions committed before it gave them up. The commit was taken; its answer came when the group had waited long
// enough, and had given the partitions to another.
#[test]
fn k12_who_reads_no_more_is_not_in_the_way_of_the_next_owner() {
    let revoking = |told: Told| told.then(READER, Event::Revoking { partitions: vec![place()] });
    let revoked = |told: Told| told.then(READER, Event::Revoked { partitions: vec![place()] });
    revoked(revoking(Told::default().assigned(READER, 1)).assigned(OTHER, 2)).passes();
    revoked(revoking(Told::default().assigned(READER, 1).assigned(OTHER, 2))).has(Checker::K12, "ownership");
    // It was asked once before, and has had it since.
    let again = revoked(revoking(Told::default().assigned(READER, 1))).assigned(READER, 2).assigned(OTHER, 3);
    revoked(again).has(Checker::K12, "ownership");
    let reads_on = revoking(two_written().assigned(READER, 1));
    reads_on.polled(&[(0, 10), (1, 11)]).has(Checker::K12, "ownership");
}

#[test]
fn k13_each_send_is_resolved_once_and_none_after_the_end() {
    two_written().then(WRITER, Event::Closed).passes();
    Told::default().sent(10).acked(10, 0).acked(10, 0).has(Checker::K13, "resolution");
    Told::default().sent(10).then(WRITER, Event::Closed).has(Checker::K13, "resolution");
    Told::default().sent(10).then(WRITER, Event::Closed).acked(10, 0).has(Checker::K13, "resolution");
}

#[test]
fn k14_positions_grow_and_committed_records_alone_are_read() {
    two_written().polled(&[(0, 10), (1, 11)]).log(&[(0, 10), (1, 11)]).passes();
    two_written().polled(&[(0, 10), (0, 10)]).has(Checker::K14, "position");
    two_written().polled(&[(0, 10), (1, 11)]).log(&[(0, 10)]).has(Checker::K14, "position");
}

#[test]
fn k15_few_requests_are_in_flight() {
    let many = |count| Told::default().frames((0..count).map(|index| produce(1, index, "x")).collect());
    many(5).passes();
    many(6).has(Checker::K15, "hygiene");
}

/// Frames of one member: of each heartbeat the connection, and the second at which it is sent and answered.
fn beats(times: &[(u64, u64)]) -> Told {
    let answer = frame::encode_response::<HeartbeatRequest>(4, 1, &HeartbeatResponse::default());
    let answer = answer.expect("it can be written").payload();
    let both = times.iter().flat_map(|(connection, at)| {
        let frames = [
            sent(*at, 4, &HeartbeatRequest::default()),
            told(*at, FrameKind::Response, ApiKey::HEARTBEAT, 4, answer.clone()),
        ];
        frames.map(|mut frame| {
            frame.connection = *connection;
            frame
        })
    });
    Told::default().frames(both.collect())
}

#[test]
fn k15_heartbeats_come_in_time_over_a_connection_that_stands() {
    beats(&[(1, 1), (1, 4)]).passes();
    beats(&[(1, 1), (1, 20)]).has(Checker::K15, "hygiene");
    beats(&[(1, 1), (2, 20)]).passes();
}

#[test]
fn k15_an_answer_counts_when_it_has_come() {
    let late = |at| {
        let mut told = beats(&[(1, 1)]);
        told.0.add_frames([
            self::told(at, FrameKind::Received, ApiKey::HEARTBEAT, 4, Bytes::new()),
            sent(20, 4, &HeartbeatRequest::default()),
        ]);
        told
    };
    late(6).passes();
    late(2).has(Checker::K15, "hygiene");
}

#[test]
fn k15_who_joins_again_or_looks_for_the_coordinator_owes_no_heartbeat() {
    let beat_after = |between: Frame| {
        let mut told = beats(&[(1, 1)]);
        told.0.add_frames([between, sent(30, 4, &HeartbeatRequest::default())]);
        told
    };
    beat_after(sent(2, 5, &JoinGroupRequest::default())).passes();
    beat_after(sent(2, 3, &FindCoordinatorRequest::default())).passes();
    beat_after(sent(2, 12, &MetadataRequest::default())).has(Checker::K15, "hygiene");
}

#[test]
fn k16_a_producer_holds_no_more_than_it_may() {
    let limited = |bytes| Told::default().then(WRITER, Event::MemoryLimit(bytes)).sent(10).sent(11);
    limited(20).passes();
    limited(19).has(Checker::K16, "memory");
}

// Memory was free again, and taken, before the task ran that wrote down what had been acknowledged.
#[test]
fn k16_what_is_resolved_at_the_moment_at_which_more_is_taken_made_room_for_it() {
    let acked_at = |at| {
        let mut told = Told::default().then(WRITER, Event::MemoryLimit(10)).sent(10);
        let send = Event::Send { value: 11, partition: place(), transaction: None, bytes: 10 };
        let acked = Event::Acked { value: 10, offset: Some(0) };
        for (at, event) in [(9, send), (9, Event::Taken { value: 11 }), (at, acked)] {
            told.0.add(Duration::from_secs(at), WRITER, event);
        }
        told
    };
    acked_at(9).passes();
    acked_at(10).has(Checker::K16, "memory");
}

/// A fetch of so many bytes, and its answer with one record of 100 bytes, which is a batch of 170.
fn fetched(at: u64, offset: i64, max_bytes: i32) -> [Frame; 2] {
    let mut builder = BatchBuilder::new();
    builder.append(Timestamp::from_millis(1), None, Some(&[0; 100]), &Headers::new()).expect("it is small");
    let sealed = builder.seal(&mut Compressor::none()).expect("it is small");
    let records = RecordData::from(vec![sealed.into_bytes(&Stamp::plain().at(offset, 0))]);
    let data = PartitionData { records, ..PartitionData::default() };
    let topic = FetchableTopicResponse { topic: "t".into(), partitions: vec![data], ..Default::default() };
    let response = FetchResponse { responses: vec![topic], ..FetchResponse::default() };
    let frame = frame::encode_response::<FetchRequest>(12, 1, &response).expect("it can be written");
    let request = FetchRequest { max_bytes, ..FetchRequest::default() };
    [sent(at, 12, &request), told(at, FrameKind::Response, ApiKey::FETCH, 12, frame.payload())]
}

/// A consumer that holds these fetches' records at once, and may hold so much.
fn holding(limit: usize, fetches: &[(u64, i64, i32)]) -> Told {
    let frames = fetches.iter().flat_map(|(at, offset, max_bytes)| fetched(*at, *offset, *max_bytes));
    let told = Told::default().then(READER, Event::FetchLimit { process: WRITER.into(), bytes: limit });
    told.frames(frames.collect())
}

#[test]
fn k16_a_consumer_holds_no_more_than_it_may() {
    let two = [(1, 0, 200), (3, 1, 200)];
    holding(340, &two).passes();
    holding(339, &two).has(Checker::K16, "memory");
    holding(339, &two).then(OTHER, Event::Gone).polled(&[(0, 10)]).passes();
    let sought = Event::Sought { partition: place() };
    holding(339, &two).then(OTHER, Event::Gone).then(READER, sought).passes();
}

#[test]
fn k16_a_first_batch_counts_as_what_was_asked_for() {
    holding(300, &[(1, 0, 169), (3, 1, 131)]).passes();
    holding(299, &[(1, 0, 169), (3, 1, 131)]).has(Checker::K16, "memory");
}

/// A consumer that seeks in second 1, gets what it may hold, and then the answer to what it asked for in this second.
fn seeking(asked_at: u64) -> Told {
    let [mut request, mut answer] = fetched(5, 0, 200);
    request.at = Duration::from_secs(asked_at);
    (request.connection, answer.connection) = (2, 2);
    let [other, other_answer] = fetched(3, 1, 200);
    let told = Told::default().then(READER, Event::FetchLimit { process: WRITER.into(), bytes: 200 });
    told.then(READER, Event::Sought { partition: place() }).frames(vec![request, other, other_answer, answer])
}

#[test]
fn k16_what_was_asked_for_before_a_seek_is_not_held() {
    seeking(0).passes();
    seeking(2).has(Checker::K16, "memory");
}

/// A reader got an answer, asked for what follows, and found in the same instant of virtual time that a batch of the answer was corrupt: the
/// partition stood elsewhere before the second answer came, which was dropped, and yet counted as held until the next seek.
#[test]
fn k16_what_was_asked_for_in_the_instant_of_a_seek_may_be_of_before_it() {
    seeking(1).passes();
}

#[test]
fn k17_all_is_read_soon_after_the_last_fault() {
    let healed = || Told::default().then(OTHER, Event::Healed);
    healed().then(OTHER, Event::CaughtUp).passes();
    healed().has(Checker::K17, "liveness");
    let late = (0..200).fold(healed(), |told, _| told.then(OTHER, Event::Gone));
    late.then(OTHER, Event::CaughtUp).has(Checker::K17, "liveness");
}

#[test]
fn k18_every_frame_is_read_and_written_again() {
    let request = frame::encode_request(4, 1, Some("me"), &HeartbeatRequest::default());
    let payload = request.expect("it can be written").payload();
    let with = |payload| Told::default().frames(vec![told(1, FrameKind::Request, ApiKey::HEARTBEAT, 4, payload)]);
    with(payload.clone()).passes();
    with(payload.slice(..payload.len() - 2)).has(Checker::K18, "codec");
    with([&payload[..], b"more"].concat().into()).has(Checker::K18, "codec");
}
