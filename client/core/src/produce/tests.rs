//! A producer by direct calls: facts in, requests out, and a clock that jumps.

use super::*;
use crate::backoff::Random;
use crate::cluster::Image;
use millstream_protocol::compression::{Compression, Decompressor};
use millstream_protocol::messages::StrBytes;
use millstream_protocol::messages::metadata_response::{
    MetadataResponse, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use millstream_protocol::messages::produce_response::{
    PartitionProduceResponse, ProduceResponse, TopicProduceResponse,
};
use millstream_protocol::record::{CrcCheck, batches};
use millstream_protocol::{ErrorCode, Headers, Offset, ProducerEpoch, ProducerId, Timestamp, TopicName};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A producer, its clock, and what the brokers look like.
struct World {
    now: Instant,
    accumulator: Arc<Accumulator>,
    sender: Sender,
    image: Image,
}

/// A batch in a request: whose it is, its number, its values.
#[derive(Debug, PartialEq, Eq)]
struct Sent {
    epoch: i16,
    sequence: i32,
    values: Vec<String>,
}

impl World {
    fn new(change: impl FnOnce(&mut SenderOptions, &mut AccumulatorOptions)) -> Self {
        let (mut options, mut sizes) = (SenderOptions::default(), AccumulatorOptions::default());
        options.linger = Duration::ZERO;
        change(&mut options, &mut sizes);
        sizes.transactional = options.transactional_id.is_some();
        let numbered = options.idempotent;
        let accumulator = Arc::new(Accumulator::new(sizes, || ()).unwrap());
        let mut sender = Sender::new(options, Arc::clone(&accumulator), Random::new(1));
        if numbered {
            sender.handle_identity(Some(identity(7, 0)));
        }
        accumulator.set_topic(&TopicName::from("t"), 2, |_| true, 1);
        Self { now: Instant::now_for_tests(), accumulator, sender, image: image(1) }
    }
    fn append(&self, value: &str) -> Result<Appended, AppendError> {
        self.append_to(0, value, 0)
    }
    fn append_to(&self, partition: i32, value: &str, transaction: TransactionNumber) -> Result<Appended, AppendError> {
        let topic = self.accumulator.topic("t").unwrap();
        let headers = Headers::new();
        let fields =
            RecordFields { key: None, value: Some(value.as_bytes()), headers: &headers, timestamp: Timestamp::EPOCH };
        self.accumulator.append(topic.shard(partition.into()).unwrap(), &fields, transaction, || self.now)
    }
    /// Sends what can go; each batch of partition 0.
    fn poll(&mut self) -> Vec<(u64, Sent)> {
        let calls = self.sender.poll_calls(self.now, &self.image);
        calls.into_iter().map(|call| (call.id, sent(call))).collect()
    }
    /// One record, one batch, one request.
    fn send(&mut self, value: &str) -> (Appended, u64, Sent) {
        let appended = self.append(value).unwrap();
        let mut calls = self.poll();
        assert_eq!(calls.len(), 1, "one request for `{value}`");
        let (id, sent) = calls.remove(0);
        (appended, id, sent)
    }
    fn answer(&mut self, id: u64, code: ErrorCode, base_offset: i64) {
        self.sender.handle_response(self.now, id, &response(code, base_offset));
    }
    /// The cluster says who leads.
    fn hear(&mut self, leader: i32) {
        self.image = self.image.merged(&metadata(leader));
    }
    /// A record that is acknowledged, so that the broker knows the producer.
    fn warm_up(&mut self) {
        let (_, id, _) = self.send("first");
        self.answer(id, ErrorCode::NONE, 0);
    }
    fn after(&mut self, time: Duration) {
        self.now += time;
    }
}

/// The clock starts where it likes; only differences matter.
trait Start {
    fn now_for_tests() -> Self;
}
impl Start for Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "there is no other way to make a first instant; the tests move it by hand"
    )]
    fn now_for_tests() -> Self {
        Self::now()
    }
}

fn identity(id: i64, epoch: i16) -> Identity {
    Identity::new(ProducerId::new(id), ProducerEpoch::new(epoch))
}

fn image(leader: i32) -> Image {
    Image::default().merged(&metadata(leader))
}
fn metadata(leader: i32) -> MetadataResponse {
    let mut answer = MetadataResponse::default();
    for id in [1, 2] {
        let mut broker = MetadataResponseBroker::default();
        broker.node_id = id.into();
        broker.host = StrBytes::from_static_str("broker");
        broker.port = 9092;
        answer.brokers.push(broker);
    }
    let mut topic = MetadataResponseTopic::default();
    topic.name = Some(StrBytes::from_static_str("t").into());
    for index in 0..2 {
        let mut partition = MetadataResponsePartition::default();
        partition.partition_index = index;
        partition.leader_id = leader.into();
        partition.leader_epoch = leader;
        topic.partitions.push(partition);
    }
    answer.topics.push(topic);
    answer
}

fn sent(call: ProduceCall) -> Sent {
    let request = call.into_request(9);
    let partition = &request.topic_data[0].partition_data[0];
    let bytes = partition.records.clone().into_bytes().unwrap();
    let batch = batches(bytes).next().unwrap().unwrap();
    let decoded = batch.decode(&mut Decompressor::new(), CrcCheck::Check).unwrap();
    let text = |value: Option<&[u8]>| String::from_utf8(value.unwrap().to_vec()).unwrap();
    let values = decoded.iter().map(|record| text(record.value)).collect();
    Sent { epoch: batch.header().producer_epoch, sequence: batch.header().base_sequence, values }
}

fn response(code: ErrorCode, base_offset: i64) -> ProduceResponse {
    let partition =
        PartitionProduceResponse { error_code: code.get(), base_offset, ..PartitionProduceResponse::default() };
    let topic = TopicProduceResponse {
        name: TopicName::from("t"),
        partition_responses: vec![partition],
        ..TopicProduceResponse::default()
    };
    ProduceResponse { responses: vec![topic], ..ProduceResponse::default() }
}

fn of(appended: &Appended) -> Outcome {
    appended.handle.record(appended.index).expect("resolved")
}
fn is_open(appended: &Appended) -> bool {
    appended.handle.record(appended.index).is_none()
}

#[test]
fn batches_are_numbered_by_records_when_they_are_drained() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    for value in ["a", "b", "c"] {
        world.append(value).unwrap();
    }
    let (_, first) = world.poll().remove(0);
    assert_eq!(first, Sent { epoch: 0, sequence: 1, values: vec!["a".into(), "b".into(), "c".into()] });
    let (_, _, second) = world.send("d");
    assert_eq!((second.sequence, second.values.len()), (4, 1));
}

#[test]
fn retried_batch_keeps_its_sequence() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let (record, id, first) = world.send("a");
    world.answer(id, ErrorCode::NOT_LEADER_OR_FOLLOWER, -1);
    assert!(world.sender.take_wants_metadata(), "the leader may have moved (M-1)");
    world.hear(1);
    assert_eq!(world.poll(), [], "it waits a little");
    world.append("b").unwrap();
    world.after(Duration::from_millis(150));
    let (id, again) = world.poll().remove(0);
    assert_eq!(again, first, "the same records under the same number");
    world.answer(id, ErrorCode::NONE, 5);
    assert_eq!(of(&record), Ok(Written::at(Some(Offset::new(5)))));
}

// K-15. Found by simulation: while nobody answered for the cluster's picture, the old leader was asked again and again.
#[test]
fn a_node_that_does_not_lead_gets_nothing_again_before_there_is_news() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let flights = [world.send("a"), world.send("b")];
    for (_, id, _) in &flights {
        world.answer(*id, ErrorCode::NOT_LEADER_OR_FOLLOWER, -1);
    }
    assert!(world.sender.take_wants_metadata());
    world.after(Duration::from_secs(30));
    assert_eq!(world.poll(), [], "it has said so");
    world.hear(1);
    let (id, again) = world.poll().remove(0);
    assert_eq!(again, flights[0].2, "it is the leader all the same, as the cluster says");
    world.answer(id, ErrorCode::NOT_LEADER_OR_FOLLOWER, -1);
    world.after(Duration::from_secs(30));
    assert_eq!(world.poll(), []);
    world.hear(2);
    assert_eq!(world.poll().remove(0).1, again, "another one leads");
}

// P-2: batches behind one that failed come back out of order. They must go again in order, one by one, before new records.
#[test]
fn what_follows_a_failed_batch_goes_again_in_order_before_anything_new() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let flights: Vec<_> = ["a", "b", "c"].into_iter().map(|value| world.send(value)).collect();
    world.answer(flights[0].1, ErrorCode::NOT_ENOUGH_REPLICAS, -1);
    world.answer(flights[1].1, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
    world.answer(flights[2].1, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
    let new = world.append("new").unwrap();
    world.after(Duration::from_millis(150));
    for (offset, flight) in (1..).zip(&flights) {
        let mut calls = world.poll();
        assert_eq!(calls.len(), 1, "one at a time");
        let (id, again) = calls.remove(0);
        assert_eq!(again, flight.2);
        world.answer(id, ErrorCode::NONE, offset);
        assert!(of(&flight.0).is_ok());
    }
    assert!(is_open(&new));
    assert_eq!(world.poll().remove(0).1.sequence, 4);
}

// P-2. Found by simulation: a batch had overtaken the one before it. Each time one of those behind them came back out of order, the place it
// left in flight was given to a new batch, which came back out of order in its turn: without an end, while there was something new.
#[test]
fn nothing_new_follows_what_will_come_back_out_of_order() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let flights: Vec<_> = ["a", "b", "c"].into_iter().map(|value| world.send(value)).collect();
    world.answer(flights[1].1, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
    world.answer(flights[0].1, ErrorCode::NONE, 1);
    let (id, again) = world.poll().remove(0);
    assert_eq!(again, flights[1].2);
    world.append("new").unwrap();
    assert_eq!(world.poll(), [], "`c` was sent behind the `b` that was refused");
    world.answer(flights[2].1, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
    world.answer(id, ErrorCode::NONE, 2);
    assert_eq!(world.poll().remove(0).1, flights[2].2);
    assert_eq!(world.poll().remove(0).1.values, ["new"], "behind the last of them");
}

#[test]
fn until_the_broker_knows_the_producer_nothing_overtakes_its_first_batch() {
    let mut world = World::new(|_, _| ());
    let (_, id, _) = world.send("a");
    world.append("b").unwrap();
    assert_eq!(world.poll(), [], "a broker without state would take `b` for the first");
    world.answer(id, ErrorCode::NONE, 0);
    assert_eq!(world.poll().remove(0).1.sequence, 1);
}

#[test]
fn five_requests_are_under_way_and_not_more() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let flights: Vec<_> = ["1", "2", "3", "4", "5"].into_iter().map(|value| world.send(value)).collect();
    world.append("6").unwrap();
    world.append("7").unwrap();
    assert_eq!(world.poll(), []);
    world.answer(flights[0].1, ErrorCode::NONE, 1);
    let (_, next) = world.poll().remove(0);
    assert_eq!(next.values, ["6", "7"], "what waited became one batch");
}

#[test]
fn a_duplicate_is_a_success_even_without_an_offset() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let (record, id, _) = world.send("a");
    world.answer(id, ErrorCode::DUPLICATE_SEQUENCE_NUMBER, -1);
    assert_eq!(of(&record), Ok(Written::at(None)));
}

// P-3: nothing is before the batch, and still it is out of order: the broker lost what it knew.
#[test]
fn true_loss_starts_a_new_epoch_and_fails_nothing_that_was_refused() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let (first, id, _) = world.send("a");
    let (second, next, _) = world.send("b");
    world.answer(id, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
    assert_eq!(world.poll(), [], "what is under way comes back first");
    world.answer(next, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
    let (id, again) = world.poll().remove(0);
    assert_eq!(again, Sent { epoch: 1, sequence: 0, values: vec!["a".into()] });
    world.answer(id, ErrorCode::NONE, 1);
    let (id, again) = world.poll().remove(0);
    assert_eq!(again, Sent { epoch: 1, sequence: 1, values: vec!["b".into()] });
    world.answer(id, ErrorCode::NONE, 2);
    assert!(of(&first).is_ok() && of(&second).is_ok());
}

// P-5: after a lost answer the batch may be in the log. Under another number it could be there twice.
#[test]
fn what_may_be_written_is_never_numbered_anew() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let (record, id, _) = world.send("a");
    world.sender.handle_failure(world.now, id, true, "the line broke");
    world.after(Duration::from_secs(1));
    let (id, _) = world.poll().remove(0);
    world.answer(id, ErrorCode::UNKNOWN_PRODUCER_ID, -1);
    world.poll();
    let failure = of(&record).unwrap_err();
    assert!(failure.is_in_doubt(), "{failure}");
    let (_, _, next) = world.send("b");
    assert_eq!((next.epoch, next.sequence), (1, 0));
}

#[test]
fn used_up_epochs_want_another_id() {
    let mut world = World::new(|_, _| ());
    world.sender.handle_identity(Some(identity(7, i16::MAX - 1)));
    world.warm_up();
    let (_, id, _) = world.send("a");
    world.answer(id, ErrorCode::UNKNOWN_PRODUCER_ID, -1);
    assert_eq!(world.poll(), []);
    assert!(world.sender.poll_identity(), "asked for once");
    assert!(!world.sender.poll_identity());
    world.sender.handle_identity(Some(identity(8, 0)));
    assert_eq!(world.poll().remove(0).1, Sent { epoch: 0, sequence: 0, values: vec!["a".into()] });
}

// P-6
#[test]
fn a_batch_that_is_too_large_is_split_under_the_same_numbers() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let records: Vec<_> = ["a", "b", "c", "d"].into_iter().map(|value| world.append(value).unwrap()).collect();
    let (id, _) = world.poll().remove(0);
    world.answer(id, ErrorCode::MESSAGE_TOO_LARGE, -1);
    for (sequence, offset, values) in [(1, 10, ["a", "b"]), (3, 12, ["c", "d"])] {
        let (id, half) = world.poll().remove(0);
        assert_eq!((half.sequence, half.values), (sequence, values.map(str::to_owned).to_vec()));
        world.answer(id, ErrorCode::NONE, offset);
    }
    let offsets: Vec<_> = records.iter().map(|record| of(record).unwrap().base_offset.unwrap().get()).collect();
    assert_eq!(offsets, [10, 11, 12, 13]);
}

#[test]
fn a_single_record_that_is_too_large_fails() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let (record, id, _) = world.send("a");
    world.answer(id, ErrorCode::MESSAGE_TOO_LARGE, -1);
    let failure = of(&record).unwrap_err();
    assert!(
        matches!(&*failure, Failure::Refused { code: ErrorCode::MESSAGE_TOO_LARGE, in_doubt: false, .. }),
        "{failure}"
    );
}

// P-7
#[test]
fn a_new_leader_gets_nothing_before_the_old_one_has_answered() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let (_, id, _) = world.send("a");
    world.image = image(2);
    world.append("b").unwrap();
    assert_eq!(world.poll(), []);
    world.answer(id, ErrorCode::NONE, 1);
    let calls = world.sender.poll_calls(world.now, &world.image);
    assert_eq!(calls.iter().map(|call| call.node.get()).collect::<Vec<_>>(), [2]);
}

// P-8
#[test]
fn what_was_never_sent_expires_without_a_doubt_and_leaves_no_gap() {
    let mut world = World::new(|options, _| options.delivery_timeout = Duration::from_secs(10));
    world.warm_up();
    world.image = Image::default();
    let record = world.append("a").unwrap();
    assert_eq!(world.poll(), [], "no leader");
    assert!(world.sender.take_wants_metadata());
    let deadline = world.sender.poll_deadline().expect("it expires");
    assert_eq!(deadline, world.now + Duration::from_secs(10));
    world.now = deadline;
    world.poll();
    assert_eq!(of(&record), Err(Arc::new(Failure::Expired { in_doubt: false, last: None })));
    world.image = image(1);
    let (_, _, next) = world.send("b");
    assert_eq!((next.epoch, next.sequence), (0, 1));
}

#[test]
fn what_was_sent_expires_in_doubt_and_the_next_epoch_begins() {
    let mut world = World::new(|options, _| options.delivery_timeout = Duration::from_secs(10));
    world.warm_up();
    let (record, id, _) = world.send("a");
    world.after(Duration::from_secs(11));
    world.sender.handle_failure(world.now, id, true, "the line broke");
    world.poll();
    let failure = of(&record).unwrap_err();
    assert!(matches!(&*failure, Failure::Expired { in_doubt: true, last: Some(_) }), "{failure}");
    world.after(Duration::from_millis(150));
    let (_, _, next) = world.send("b");
    assert_eq!((next.epoch, next.sequence), (1, 0));
}

// P-11
#[test]
fn a_batch_lingers_its_full_time_and_a_full_one_does_not() {
    let mut world = World::new(|options, sizes| {
        options.linger = Duration::from_millis(5);
        sizes.batch_size = 200;
    });
    world.append("a").unwrap();
    assert_eq!(world.poll(), []);
    assert_eq!(world.sender.poll_deadline(), Some(world.now + Duration::from_millis(5)));
    world.after(Duration::from_millis(5));
    let (id, _) = world.poll().remove(0);
    world.answer(id, ErrorCode::NONE, 0);
    world.append(&"x".repeat(90)).unwrap();
    world.append(&"y".repeat(90)).unwrap();
    let (_, full) = world.poll().remove(0);
    assert_eq!(full.values, ["x".repeat(90)], "the second opened a batch of its own, which lingers");
}

#[test]
fn a_flush_waits_for_what_was_before_it_and_ends_the_linger() {
    let mut world = World::new(|options, _| options.linger = Duration::from_secs(60));
    world.append("a").unwrap();
    assert_eq!(world.poll(), []);
    let before = world.accumulator.flush();
    let (id, _) = world.poll().remove(0);
    world.append("after").unwrap();
    assert!(!before.iter().any(|batch| batch.is_done()));
    world.answer(id, ErrorCode::NONE, 0);
    assert!(before.iter().all(|batch| batch.is_done()));
}

#[test]
fn memory_is_refused_when_it_is_used_up_and_given_back_by_batch() {
    let mut world = World::new(|options, sizes| {
        options.linger = Duration::from_secs(60);
        sizes.buffer_memory = 1_000;
        sizes.batch_size = 500;
    });
    let value = "x".repeat(100);
    let taken = std::iter::from_fn(|| world.append(&value).ok()).take(50).count();
    assert!((4..20).contains(&taken), "{taken} records of 100 bytes in 1,000");
    assert!(matches!(world.append(&value), Err(AppendError::Full)));
    world.accumulator.begin_starving();
    let (id, _) = world.poll().remove(0);
    world.answer(id, ErrorCode::NONE, 0);
    assert!(world.sender.take_freed());
    assert!(world.append(&value).is_ok());
}

#[test]
fn every_record_is_resolved_once_when_the_producer_ends() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let (flying, id, _) = world.send("a");
    let waiting = world.append("b").unwrap();
    world.sender.fail_all(&Arc::new(Failure::Closed));
    assert_eq!((of(&flying), of(&waiting)), (Err(Arc::new(Failure::Closed)), Err(Arc::new(Failure::Closed))));
    world.answer(id, ErrorCode::NONE, 1);
    assert_eq!(of(&flying), Err(Arc::new(Failure::Closed)), "a late answer changes nothing");
    assert!(matches!(world.append("c"), Err(AppendError::Closed(_))));
    assert_eq!(world.accumulator.bytes_used(), 0);
}

#[test]
fn one_request_carries_all_partitions_of_a_broker() {
    let mut world = World::new(|_, _| ());
    world.append_to(0, "a", 0).unwrap();
    world.append_to(1, "b", 0).unwrap();
    let calls = world.sender.poll_calls(world.now, &world.image);
    assert_eq!(calls.iter().map(ProduceCall::len).collect::<Vec<_>>(), [2]);
}

fn transactional(implicit: bool) -> World {
    let mut world = World::new(|options, _| options.transactional_id = Some("tx".to_owned()));
    world.sender.begin_transaction(1, implicit);
    world
}

// T-1
#[test]
fn in_the_first_edition_a_partition_is_added_before_its_first_batch() {
    let mut world = transactional(false);
    world.append_to(0, "a", 1).unwrap();
    assert_eq!(world.poll(), []);
    assert_eq!(world.sender.poll_partitions_to_add(), [("t", 0).into()]);
    assert_eq!(world.sender.poll_partitions_to_add(), [], "asked for once");
    world.sender.handle_partitions_added(false);
    assert_eq!(world.sender.poll_partitions_to_add(), [("t", 0).into()], "and again when that failed");
    world.sender.handle_partitions_added(true);
    let calls = world.sender.poll_calls(world.now, &world.image);
    assert_eq!(calls[0].max_version, Some(11), "from Produce 12 on a batch would add its partition itself");
}

// T-2
#[test]
fn in_the_second_edition_the_batch_adds_its_partition_and_the_next_identity_starts_at_zero() {
    let mut world = transactional(true);
    world.append_to(0, "a", 1).unwrap();
    let calls = world.sender.poll_calls(world.now, &world.image);
    assert_eq!(calls[0].max_version, Some(12), "without topic ids");
    world.answer(calls[0].id, ErrorCode::NONE, 0);
    world.sender.end_transaction(Some(identity(8, 0)));
    world.sender.begin_transaction(2, true);
    world.append_to(0, "b", 2).unwrap();
    assert_eq!(world.poll().remove(0).1, Sent { epoch: 0, sequence: 0, values: vec!["b".into()] });
}

// Commit protocol, section 6: a send that races an abort must not land in the next transaction.
#[test]
fn a_record_of_an_aborted_transaction_never_joins_the_next() {
    let mut world = transactional(true);
    let before = world.append_to(0, "before", 1).unwrap();
    world.sender.abort_waiting(&Arc::new(Failure::Aborted));
    assert_eq!(of(&before), Err(Arc::new(Failure::Aborted)));
    assert!(matches!(world.append_to(0, "between", 1), Err(AppendError::Closed(_))));
    world.sender.end_transaction(Some(identity(7, 1)));
    world.sender.begin_transaction(2, true);
    assert!(matches!(world.append_to(0, "late", 1), Err(AppendError::Closed(_))));
    world.append_to(0, "next", 2).unwrap();
    assert_eq!(world.poll().remove(0).1.values, ["next"]);
}

// T-4
#[test]
fn a_failed_record_is_remembered_until_the_transaction_ends() {
    let mut world = transactional(true);
    world.append_to(0, "a", 1).unwrap();
    let (id, _) = world.poll().remove(0);
    world.answer(id, ErrorCode::INVALID_RECORD, -1);
    assert!(world.sender.transaction_failed());
    world.sender.end_transaction(Some(identity(7, 1)));
    world.sender.begin_transaction(2, true);
    assert!(!world.sender.transaction_failed());
}

// T-4. Found by simulation: the answer to AddPartitionsToTxn was none, so that the records that waited for it failed; the transaction was
// committed without them, and a task's state lost what its changelog never got.
#[test]
fn records_that_are_dropped_before_they_are_drained_fail_their_transaction() {
    let mut world = transactional(false);
    let waiting = world.append_to(0, "a", 1).unwrap();
    assert_eq!(world.poll(), [], "its partition is to be added first");
    world.sender.abort_waiting(&Arc::new(Failure::Unsendable("no answer".to_owned())));
    assert!(of(&waiting).is_err());
    assert!(world.sender.take_first_failure().is_some(), "whoever flushes is told so");
    assert!(world.sender.transaction_failed(), "it cannot be committed");
    assert!(!world.sender.transaction_has_gap(), "no number was given");
    world.sender.end_transaction(None);
    world.sender.begin_transaction(2, false);
    assert!(!world.sender.transaction_failed());
}

#[test]
fn a_large_batch_is_compressed_beside_the_driver_and_keeps_its_place() {
    for drops in [false, true] {
        let mut world = World::new(|_, sizes| sizes.compression = Compression::Lz4);
        let text = "again and again ".repeat(2000);
        world.append(&text).unwrap();
        assert!(world.poll().is_empty(), "the driver compressed it");
        let mut to_seal = world.sender.take_to_seal();
        assert_eq!(to_seal.len(), 1);
        world.append("later").unwrap();
        assert!(world.poll().is_empty(), "the later one went first");
        assert!(!world.sender.is_idle());
        let sealing = to_seal.remove(0);
        if drops {
            drop(sealing)
        } else {
            sealing.run()
        }
        let (id, sent) = world.poll().remove(0);
        assert_eq!(sent.values, [text]);
        world.answer(id, ErrorCode::NONE, 0);
        let values: Vec<_> = world.poll().into_iter().flat_map(|(_, sent)| sent.values).collect();
        assert_eq!(values, ["later"]);
    }
}

// Found by simulation: no producer id could be had, so that all records failed; those that had not been drained were not told of, a flush
// succeeded, and a commit lane committed input whose outputs were never written.
#[test]
fn what_fails_before_it_is_drained_is_a_flush_s_failure_too() {
    let mut world = World::new(|options, _| options.linger = Duration::from_secs(60));
    let appended = world.append("a").unwrap();
    world.sender.fail_all(&Arc::new(Failure::Unsendable("no id".to_owned())));
    assert!(of(&appended).is_err(), "it has failed");
    let failure = world.sender.take_first_failure();
    assert!(failure.is_some(), "and whoever flushes is told so");
}
