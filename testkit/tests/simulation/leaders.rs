//! K-15 on who does not lead: what a node has refused is not sent to it, or asked of it, again before its client has news of leaders.

use crate::checkers::{Told, sent, told};
use millstream_protocol::messages::fetch_request::{FetchPartition, FetchTopic, ForgottenTopic};
use millstream_protocol::messages::fetch_response::{FetchableTopicResponse, PartitionData};
use millstream_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use millstream_protocol::messages::produce_response::{PartitionProduceResponse, TopicProduceResponse};
use millstream_protocol::messages::{
    FetchRequest, FetchResponse, MetadataRequest, MetadataResponse, ProduceRequest, ProduceResponse, RecordData,
    Request,
};
use millstream_protocol::record::{BatchBuilder, Stamp};
use millstream_protocol::{Compressor, ErrorCode, Headers, Timestamp, frame};
use millstream_testkit::checkers::{Checker, Frame, FrameKind};

/// In these versions an answer may name who leads, and topics go by their names.
const PRODUCE: i16 = 10;
const FETCH: i16 = 12;
/// The session that a node gives.
const SESSION: i32 = 5;

fn produce(at: u64) -> Frame {
    let mut builder = BatchBuilder::new();
    builder.append(Timestamp::from_millis(1), None, Some(b"v"), &Headers::new()).expect("it is small");
    let bytes = builder.seal(&mut Compressor::none()).expect("it is small").into_bytes(&Stamp::plain());
    let partition = PartitionProduceData { records: RecordData::from(vec![bytes]), ..Default::default() };
    let topic = TopicProduceData { name: "t".into(), partition_data: vec![partition], ..Default::default() };
    sent(at, PRODUCE, &ProduceRequest { acks: -1, topic_data: vec![topic], ..ProduceRequest::default() })
}
fn produced(at: u64, code: ErrorCode, leader: i32) -> Frame {
    let mut partition = PartitionProduceResponse { error_code: code.get(), ..Default::default() };
    partition.current_leader.leader_id = leader;
    let topic = TopicProduceResponse { name: "t".into(), partition_responses: vec![partition], ..Default::default() };
    answer::<ProduceRequest>(at, PRODUCE, &ProduceResponse { responses: vec![topic], ..ProduceResponse::default() })
}
fn fetch(at: u64) -> Frame {
    let topic = FetchTopic { topic: "t".into(), partitions: vec![FetchPartition::default()], ..FetchTopic::default() };
    sent(at, FETCH, &FetchRequest { session_epoch: 0, topics: vec![topic], ..FetchRequest::default() })
}
fn fetched(at: u64, code: ErrorCode, leader: i32) -> Frame {
    let mut data = PartitionData { error_code: code.get(), ..PartitionData::default() };
    data.current_leader.leader_id = leader;
    let topic = FetchableTopicResponse { topic: "t".into(), partitions: vec![data], ..Default::default() };
    let response = FetchResponse { session_id: SESSION, responses: vec![topic], ..FetchResponse::default() };
    answer::<FetchRequest>(at, FETCH, &response)
}
/// A fetch that says only what has changed.
fn fetch_on(at: u64, forgotten: Vec<ForgottenTopic>) -> Frame {
    let (session_id, session_epoch) = (SESSION, 1);
    let request =
        FetchRequest { session_id, session_epoch, forgotten_topics_data: forgotten, ..FetchRequest::default() };
    sent(at, FETCH, &request)
}
fn metadata(at: u64) -> Frame {
    answer::<MetadataRequest>(at, 12, &MetadataResponse::default())
}
fn answer<R: Request>(at: u64, version: i16, response: &R::Response) -> Frame {
    let payload = frame::encode_response::<R>(version, 1, response).expect("it can be written").payload();
    told(at, FrameKind::Response, R::KEY, version, payload)
}

#[track_caller]
fn passes(frames: Vec<Frame>) {
    Told::default().frames(frames).passes();
}
#[track_caller]
fn is_found(frames: Vec<Frame>) {
    Told::default().frames(frames).has(Checker::K15, "hygiene");
}

/// A request, and an answer to it.
type Exchange = (fn(u64) -> Frame, fn(u64, ErrorCode, i32) -> Frame);
const BOTH: [Exchange; 2] = [(produce, produced), (fetch, fetched)];
const REFUSED: ErrorCode = ErrorCode::NOT_LEADER_OR_FOLLOWER;

#[test]
fn what_a_node_does_not_lead_goes_there_once_more_at_most() {
    for (ask, answer) in BOTH {
        let answered = |code| vec![ask(1), answer(2, code, -1), ask(3), answer(4, code, -1)];
        passes(answered(REFUSED));
        is_found([answered(REFUSED), vec![ask(5)]].concat());
        passes([answered(ErrorCode::NONE), vec![ask(5)]].concat());
        passes([answered(ErrorCode::KAFKA_STORAGE_ERROR), vec![ask(5)]].concat());
    }
}

#[test]
fn news_of_leaders_let_it_go_there_again() {
    for (ask, answer) in BOTH {
        let told = |news: Frame| vec![ask(1), answer(2, REFUSED, -1), ask(3), news, ask(5), answer(6, REFUSED, -1)];
        passes(told(metadata(4)));
        passes(told(answer(4, REFUSED, 1)));
        is_found(told(answer(4, REFUSED, -1)));
    }
}

#[test]
fn what_was_on_its_way_may_come() {
    for (ask, answer) in BOTH {
        passes(vec![ask(1), ask(1), answer(2, REFUSED, -1), answer(2, REFUSED, -1)]);
        passes(vec![ask(1), answer(2, REFUSED, -1), ask(2), ask(3)]);
        passes(vec![ask(1), answer(2, REFUSED, -1), ask(3), ask(3)]);
    }
}

#[test]
fn another_client_knows_nothing_of_a_refusal() {
    for (ask, answer) in BOTH {
        let mut others = vec![ask(3), ask(4)];
        others.iter_mut().for_each(|frame| frame.connection = 2);
        passes([vec![ask(1), answer(2, REFUSED, -1)], others].concat());
    }
}

#[test]
fn a_session_asks_for_what_its_requests_do_not_name() {
    let refused = || vec![fetch(1), fetched(2, REFUSED, -1), fetch(3), fetched(4, REFUSED, -1)];
    is_found([refused(), vec![fetch_on(5, Vec::new())]].concat());
    let forgotten = ForgottenTopic { topic: "t".into(), partitions: vec![0], ..ForgottenTopic::default() };
    passes([refused(), vec![fetch_on(5, vec![forgotten])]].concat());
}
