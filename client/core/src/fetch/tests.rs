//! Conversations with brokers, by direct calls and a clock that jumps.

use super::*;
use crate::cluster::Image;
use bytes::Bytes;
use millstream_protocol::messages::fetch_response::{
    AbortedTransaction, EpochEndOffset, FetchableTopicResponse, PartitionData,
};
use millstream_protocol::messages::list_offsets_response::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
use millstream_protocol::messages::metadata_response::{
    MetadataResponse, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use millstream_protocol::messages::{BrokerId, FetchRequest, FetchResponse, ListOffsetsResponse, StrBytes, Uuid};
use millstream_protocol::record::{BatchBuilder, ControlKind, Stamp, end_transaction_marker};
use millstream_protocol::{
    Compressor, ErrorCode, Headers, LeaderEpoch, NodeId, Offset, ProducerEpoch, ProducerId, Timestamp,
};
use std::time::Duration;

const NODE: NodeId = NodeId::new(1);
const STREAM: Stream = Stream::of_session(NODE);
const VERSION: i16 = 16;

#[expect(clippy::disallowed_methods, reason = "an Instant can be had from nowhere else; tests only add to it")]
fn start() -> Instant {
    Instant::now()
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn place(partition: i32) -> TopicPartition {
    ("t", partition).into()
}

/// Two brokers; topic `t` of three partitions, all led by `leader` in this term.
fn image(leader: i32, epoch: i32) -> Image {
    image_of(leader, epoch, Uuid::from_u128(7))
}

fn image_of(leader: i32, epoch: i32, topic_id: Uuid) -> Image {
    let mut answer = MetadataResponse::default();
    for id in [1, 2] {
        let mut broker = MetadataResponseBroker::default();
        (broker.node_id, broker.host, broker.port) = (BrokerId(id), text("b"), 9092);
        answer.brokers.push(broker);
    }
    let mut topic = MetadataResponseTopic::default();
    topic.name = Some(text("t").into());
    topic.topic_id = topic_id;
    for index in 0..3 {
        let mut partition = MetadataResponsePartition::default();
        partition.partition_index = index;
        (partition.leader_id, partition.leader_epoch) = (BrokerId(leader), epoch);
        topic.partitions.push(partition);
    }
    answer.topics.push(topic);
    Image::default().merged(&answer)
}

struct Bench {
    fetcher: Fetcher,
    image: Image,
    now: Instant,
}

impl Bench {
    fn new(change: impl FnOnce(&mut FetchConfig)) -> Self {
        let mut config = FetchConfig::default();
        change(&mut config);
        Self { fetcher: Fetcher::new(config), image: image(1, 5), now: start() }
    }
    /// Reads partition 0 from this offset.
    fn at(offset: i64) -> Self {
        let mut bench = Self::new(|_| {});
        bench.fetcher.add_at(place(0), Position::at(Offset::new(offset)));
        bench
    }
    fn fetch(&mut self) -> FetchRequest {
        self.try_fetch().expect("something to fetch")
    }
    fn try_fetch(&mut self) -> Option<FetchRequest> {
        Some(self.fetcher.poll_fetch(self.now, STREAM, &self.image)?.request(VERSION))
    }
    fn fetch_in(&mut self, stream: Stream) -> FetchRequest {
        self.fetcher.poll_fetch(self.now, stream, &self.image).expect("something to fetch").request(VERSION)
    }
    fn streams(&mut self) -> Vec<Stream> {
        self.fetcher.streams_to_fetch(self.now, &self.image).into_iter().collect()
    }
    fn answer(&mut self, session_id: i32, partitions: Vec<PartitionData>) -> FetchFollowUp {
        self.answer_in(STREAM, session_id, partitions)
    }
    fn answer_in(&mut self, stream: Stream, session_id: i32, partitions: Vec<PartitionData>) -> FetchFollowUp {
        let topic = FetchableTopicResponse { topic_id: Uuid::from_u128(7), partitions, ..Default::default() };
        let answer = FetchResponse { session_id, responses: vec![topic], ..Default::default() };
        self.fetcher.handle_fetch(self.now, stream, Outcome::Answered(VERSION, Box::new(answer)))
    }
    /// Takes everything; per take the offsets of the batches, and where the application stands after.
    fn take(&mut self) -> Vec<(Vec<i64>, i64)> {
        let mut all = Vec::new();
        while let Some(taken) = self.fetcher.take(self.now, |_| true) {
            let Taken::Fetched(fetched) = taken else { panic!("{taken:?}") };
            let offsets = fetched.batches.iter().map(|batch| batch.header().base_offset).collect();
            assert!(self.fetcher.advance(&fetched.partition, fetched.generation, fetched.next));
            all.push((offsets, fetched.next.offset));
        }
        all
    }
    fn problem(&mut self) -> FetchFailure {
        match self.fetcher.take(self.now, |_| true) {
            Some(Taken::Failed(failure)) => failure,
            other => panic!("{other:?}"),
        }
    }
}

fn data(partition: i32, records: Vec<Bytes>) -> PartitionData {
    PartitionData {
        partition_index: partition,
        high_watermark: 100,
        last_stable_offset: 90,
        records: Bytes::from(records.concat()).into(),
        ..Default::default()
    }
}

/// The partitions that a request names.
fn asked(request: &FetchRequest) -> Vec<i32> {
    request.topics.iter().flat_map(|topic| &topic.partitions).map(|partition| partition.partition).collect()
}

fn refused(partition: i32, code: ErrorCode) -> PartitionData {
    PartitionData { partition_index: partition, error_code: code.get(), ..Default::default() }
}

fn batch(base: i64, count: usize, stamp: &Stamp) -> Bytes {
    let mut builder = BatchBuilder::new();
    for _ in 0..count {
        builder.append(Timestamp::from_millis(0), None, Some(b"v"), &Headers::new()).expect("a record");
    }
    builder.seal(&mut Compressor::none()).expect("a batch").to_bytes(&stamp.at(base, 5))
}

fn plain(base: i64, count: usize) -> Bytes {
    batch(base, count, &Stamp::plain())
}

fn in_transaction(base: i64, count: usize, producer: i64) -> Bytes {
    batch(base, count, &Stamp::transactional(ProducerId::new(producer), ProducerEpoch::new(0), 0))
}

fn marker(base: i64, producer: i64, kind: ControlKind) -> Bytes {
    let stamp = Stamp::transactional(ProducerId::new(producer), ProducerEpoch::new(0), -1).at(base, 5);
    end_transaction_marker(kind, 0, Timestamp::from_millis(0), &stamp).expect("a marker")
}

// C-1
#[test]
fn a_batch_that_ends_before_the_position_is_skipped() {
    let mut bench = Bench::at(3);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(0, 2), plain(2, 3)])]);
    assert_eq!(bench.take(), [(vec![2], 5)]);
}

// C-2: compaction leaves the last offset of a batch without its record.
#[test]
fn the_next_offset_is_after_the_batch_and_not_after_its_last_record() {
    let mut bench = Bench::at(0);
    let mut compacted = plain(0, 1).to_vec();
    compacted[23..27].copy_from_slice(&9_i32.to_be_bytes());
    bench.fetch();
    bench.answer(0, vec![data(0, vec![compacted.into()])]);
    assert_eq!(bench.take(), [(vec![0], 10)]);
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 10);
}

// C-3
#[test]
fn a_batch_cut_short_is_left_out_and_one_alone_is_told_of() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(0, 2), plain(2, 2).slice(..20)])]);
    assert_eq!(bench.take(), [(vec![0], 2)]);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(2, 2).slice(..40)])]);
    let failure = bench.problem();
    assert_eq!((failure.offset, failure.problem), (Some(Offset::new(2)), FetchProblem::Incomplete { bytes: 40 }));
}

// C-4, C-5: the list comes unsorted; 8 aborts twice, and what it wrote in between was committed.
#[test]
fn aborted_records_and_markers_are_passed_over() {
    let mut bench = Bench::at(0);
    bench.fetch();
    let records = vec![
        in_transaction(0, 2, 7),
        in_transaction(2, 1, 8),
        plain(3, 1),
        marker(4, 8, ControlKind::Abort),
        in_transaction(5, 1, 8),
        marker(6, 8, ControlKind::Commit),
        marker(7, 7, ControlKind::Commit),
        in_transaction(8, 1, 8),
        marker(9, 8, ControlKind::Abort),
        marker(10, 99, ControlKind::Abort),
    ];
    let mut data = data(0, records);
    let aborted = |producer_id, first_offset| AbortedTransaction { producer_id, first_offset, ..Default::default() };
    data.aborted_transactions = Some(vec![aborted(8, 8), aborted(8, 2)]);
    bench.answer(0, vec![data]);
    assert_eq!(bench.take(), [(vec![0, 3, 5], 11)]);
}

#[test]
fn read_uncommitted_sees_aborted_records_but_no_markers() {
    let mut bench = Bench::new(|config| config.isolation = IsolationLevel::ReadUncommitted);
    bench.fetcher.add_at(place(0), Position::at(Offset::new(0)));
    bench.fetch();
    let mut data = data(0, vec![in_transaction(0, 1, 7), marker(1, 7, ControlKind::Abort)]);
    data.aborted_transactions =
        Some(vec![AbortedTransaction { producer_id: 7, first_offset: 0, ..Default::default() }]);
    bench.answer(0, vec![data]);
    assert_eq!(bench.take(), [(vec![0], 2)]);
    assert_eq!(bench.fetcher.lag(&place(0)), Some(98));
}

// C-17: markers at the log's end move the place to be committed.
#[test]
fn markers_alone_move_the_application_s_place() {
    let mut bench = Bench::at(4);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![marker(4, 7, ControlKind::Commit)])]);
    assert_eq!(bench.take(), [(vec![], 5)]);
    assert_eq!(bench.fetcher.consumed(&place(0)).map(|place| place.offset), Some(5));
}

// C-16
#[test]
fn an_answer_from_before_a_seek_is_dropped() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.fetcher.seek(&place(0), Position::at(Offset::new(50)));
    bench.answer(0, vec![data(0, vec![plain(0, 2)])]);
    assert_eq!(bench.take(), []);
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 50);
}

// C-16: also when the seek goes to the same offset, and what was taken is no longer to be used.
#[test]
fn what_was_taken_before_a_seek_does_not_move_the_place() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(0, 2)])]);
    let Some(Taken::Fetched(fetched)) = bench.fetcher.take(bench.now, |_| true) else { panic!("nothing taken") };
    bench.fetcher.seek(&place(0), Position::at(Offset::new(0)));
    assert!(!bench.fetcher.advance(&fetched.partition, fetched.generation, fetched.next));
}

// C-12
#[test]
fn partitions_that_were_not_asked_for_or_come_twice_are_passed_over() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(0, vec![data(2, vec![plain(0, 1)]), data(0, vec![plain(0, 1)]), data(0, vec![plain(0, 1)])]);
    assert_eq!(bench.take(), [(vec![0], 1)]);
}

// C-11
#[test]
fn a_session_tells_only_what_changed_and_starts_anew_after_an_error() {
    let mut bench = Bench::at(0);
    bench.fetcher.add_at(place(1), Position::at(Offset::new(0)));
    let full = bench.fetch();
    assert_eq!((full.session_id, full.session_epoch, full.topics[0].partitions.len()), (0, 0, 2));
    bench.answer(77, vec![data(0, vec![plain(0, 1)])]);
    bench.fetcher.remove([&place(1)]);
    let next = bench.fetch();
    let asked: Vec<i32> = next.topics[0].partitions.iter().map(|partition| partition.partition).collect();
    assert_eq!((next.session_id, next.session_epoch, asked), (77, 1, vec![0]));
    assert_eq!(next.forgotten_topics_data[0].partitions, [1]);
    let answer = FetchResponse { error_code: ErrorCode::FETCH_SESSION_ID_NOT_FOUND.get(), ..Default::default() };
    bench.fetcher.handle_fetch(bench.now, STREAM, Outcome::Answered(VERSION, Box::new(answer)));
    bench.now += Duration::from_secs(1);
    let again = bench.fetch();
    assert_eq!((again.session_id, again.session_epoch, again.topics[0].partitions[0].fetch_offset), (0, 0, 1));
}

// C-8
#[test]
fn only_the_leader_s_word_resets_a_position() {
    let mut bench = Bench::at(50);
    bench.image = image(2, 5);
    bench.fetcher.partitions.get_mut(&place(0)).expect("it").prefer(bench.now, NODE);
    bench.fetch();
    bench.answer(0, vec![refused(0, ErrorCode::OFFSET_OUT_OF_RANGE)]);
    assert_eq!(bench.streams(), [Stream::of_session(NodeId::new(2))]);
    assert!(bench.fetcher.poll_lookup(bench.now, Timestamp::from_millis(0), &bench.image).is_none());
}

// C-6. Found by simulation: what lay before a batch that could not be used was of another life of its partition, once that was fetched again,
// so that nobody could go back to it: the records of a transaction that was aborted were passed over.
#[test]
fn what_was_taken_before_a_bad_batch_stays_valid_when_that_is_fetched_again() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(9, vec![data(0, vec![plain(0, 2), plain(2, 1)])]);
    let Some(Taken::Fetched(fetched)) = bench.fetcher.take(bench.now, |_| true) else { panic!("nothing to take") };
    let (id, generation) = (fetched.partition, fetched.generation);
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 3, "it reads on");
    assert!(bench.fetcher.advance(&id, generation, Position::at(Offset::new(2))));
    bench.fetcher.refetch(bench.now, &id, generation);
    assert!(bench.fetcher.is_current(&id, generation), "the application may still go back");
    bench.answer(9, vec![data(0, vec![plain(3, 1)])]);
    assert!(!bench.fetcher.has_ready(), "what was asked for before is passed over");
    assert!(bench.try_fetch().is_none(), "not at once");
    bench.now += Duration::from_secs(2);
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 2);
}

// C-14
#[test]
fn a_partition_that_becomes_readable_does_not_wait_for_a_long_poll() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.fetcher.add_at(place(1), Position::at(Offset::new(7)));
    let beside = *bench.streams().first().expect("one is free");
    assert!(beside.is_beside());
    let request = bench.fetch_in(beside);
    assert_eq!((request.session_id, request.session_epoch, asked(&request)), (0, -1, vec![1]));
    assert_eq!(bench.streams(), [], "both are asked for");
    bench.answer(9, vec![data(0, vec![])]);
    let request = bench.fetch();
    assert_eq!(
        (request.session_id, request.session_epoch, asked(&request)),
        (9, 1, vec![]),
        "partition 1 is under way"
    );
    bench.answer_in(beside, 0, vec![data(1, vec![plain(7, 2)])]);
    assert_eq!(bench.take(), [(vec![7], 9)]);
    let request = bench.fetch_in(beside);
    assert_eq!(asked(&request), [1], "there may be more");
    assert_eq!(request.max_wait_ms, 50, "a tenth of what a session waits");
}

// C-14. Beside a long poll that had just begun, a partition was asked for once; when that brought nothing, what was written to it a moment
// later came only after the long poll, and after the next one, if the fetch beside the first was on its way when that ended.
#[test]
fn a_quiet_partition_is_asked_for_beside_a_long_poll_until_the_session_takes_it_back() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.fetcher.add_at(place(1), Position::at(Offset::new(7)));
    let beside = *bench.streams().first().expect("one is free");
    bench.fetch_in(beside);
    bench.answer_in(beside, 0, vec![data(1, vec![])]);
    assert_eq!(bench.streams(), [beside], "partition 0 is still waited for");
    assert_eq!(asked(&bench.fetch_in(beside)), [1], "and 1 again beside it");
    bench.answer(9, vec![]);
    assert_eq!(asked(&bench.fetch()), [1], "0 is there already");
    assert_eq!(bench.streams(), [], "so that the one beside it is the last");
    bench.answer_in(beside, 0, vec![data(1, vec![])]);
    assert_eq!(bench.streams(), []);
    bench.answer(9, vec![data(1, vec![plain(7, 2)])]);
    assert_eq!(bench.take(), [(vec![7], 9)]);
    assert_eq!(asked(&bench.fetch()), [1], "from its new place");
}

// C-14, C-16
#[test]
fn what_the_session_took_back_is_filed_once_though_both_bring_it() {
    for session_first in [false, true] {
        let mut bench = Bench::at(0);
        bench.fetch();
        bench.fetcher.add_at(place(1), Position::at(Offset::new(7)));
        let beside = *bench.streams().first().expect("one is free");
        bench.fetch_in(beside);
        bench.answer_in(beside, 0, vec![data(1, vec![])]);
        bench.fetch_in(beside);
        bench.answer(9, vec![]);
        bench.fetch();
        let mut streams = [beside, STREAM];
        if session_first {
            streams.reverse();
        }
        for stream in streams {
            bench.answer_in(stream, 9, vec![data(1, vec![plain(7, 2)])]);
        }
        assert_eq!(bench.take(), [(vec![7], 9)]);
        assert_eq!(bench.fetcher.buffered_bytes(), 0);
        assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 9);
    }
}

// K-15, as producers do
#[test]
fn a_node_that_does_not_lead_is_not_asked_again_before_there_is_news() {
    let mut bench = Bench::at(0);
    bench.fetch();
    let follow_up = bench.answer(0, vec![refused(0, ErrorCode::NOT_LEADER_OR_FOLLOWER)]);
    assert!(follow_up.refresh_metadata);
    bench.now += Duration::from_secs(30);
    assert!(bench.try_fetch().is_none(), "it has said so");
    bench.image.generation += 1;
    assert!(bench.try_fetch().is_some(), "the cluster says that it leads all the same");
}

// C-8, C-20
#[test]
fn an_offset_out_of_range_is_looked_up_by_policy_and_an_error_decides_nothing() {
    let mut bench = Bench::at(500);
    bench.fetch();
    bench.answer(0, vec![refused(0, ErrorCode::OFFSET_OUT_OF_RANGE)]);
    for (code, offset, next) in [(ErrorCode::NOT_LEADER_OR_FOLLOWER, -1, None), (ErrorCode::NONE, 100, Some(100))] {
        bench.now += Duration::from_secs(2);
        let lookup = bench.fetcher.poll_lookup(bench.now, Timestamp::from_millis(0), &bench.image).expect("a lookup");
        assert_eq!(lookup.request().topics[0].partitions[0].timestamp, -1);
        let mut answer = ListOffsetsPartitionResponse::default();
        (answer.error_code, answer.offset) = (code.get(), offset);
        let mut topic = ListOffsetsTopicResponse::default();
        (topic.name, topic.partitions) = (text("t").into(), vec![answer]);
        let mut response = ListOffsetsResponse::default();
        response.topics = vec![topic];
        bench.fetcher.handle_lookup(bench.now, &lookup, Some(&response));
        assert_eq!(bench.try_fetch().map(|request| request.topics[0].partitions[0].fetch_offset), next);
    }
}

// C-9: a replica that was down when the cluster was looked at last is named by the leader as soon as it is up. The leader was asked again and again
// for minutes, hundreds of times a second, until something else renewed the picture.
#[test]
fn a_replica_that_the_picture_lacks_renews_it() {
    let mut bench = Bench::at(0);
    let mut prefer = || {
        assert_eq!(bench.fetcher.streams_to_fetch(bench.now, &bench.image).len(), 1);
        bench.fetch();
        let told = PartitionData { preferred_read_replica: 9, ..data(0, Vec::new()) };
        bench.answer(0, vec![told]).refresh_metadata
    };
    assert_eq!([prefer(), prefer()], [false, true]);
}

// C-9
#[test]
fn a_replica_that_is_silent_or_unknown_gives_way_to_the_leader() {
    let mut bench = Bench::at(0);
    let prefer = |bench: &mut Bench, node| {
        bench.fetch();
        bench.answer(0, vec![PartitionData { preferred_read_replica: node, ..data(0, Vec::new()) }]);
    };
    let replica = NodeId::new(2);
    prefer(&mut bench, replica.get());
    assert!(bench.try_fetch().is_none(), "the leader is not asked");
    assert!(bench.fetcher.poll_fetch(bench.now, Stream::of_session(replica), &bench.image).is_some());
    bench.fetcher.handle_fetch(bench.now, Stream::of_session(replica), Outcome::Failed);
    prefer(&mut bench, 9);
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 0, "nobody knows node 9");
}

// C-10: what waited in the buffer was handed out after the position had gone back, and the application's place went on behind it: what lies at
// these offsets now was then taken for read.
#[test]
fn what_waits_of_a_log_that_is_lost_is_not_handed_out() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(0, 2), plain(2, 2)])]);
    bench.fetch();
    let mut parted = data(0, Vec::new());
    parted.diverging_epoch = EpochEndOffset { epoch: 5, end_offset: 2, ..Default::default() };
    bench.answer(0, vec![parted]);
    assert!(bench.take().is_empty());
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 0, "the application has nothing yet");
    bench.answer(0, vec![data(0, vec![plain(0, 2), plain(2, 1)])]);
    assert_eq!(bench.take(), [(vec![0, 2], 3)]);
}

// C-10: the same of what was taken already and is not yet with the application.
#[test]
fn what_was_taken_of_a_log_that_is_lost_does_not_count() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(0, 4)])]);
    let Some(Taken::Fetched(taken)) = bench.fetcher.take(bench.now, |_| true) else { panic!("nothing is taken") };
    bench.fetch();
    let mut parted = data(0, Vec::new());
    parted.diverging_epoch = EpochEndOffset { epoch: 5, end_offset: 2, ..Default::default() };
    bench.answer(0, vec![parted]);
    assert!(!bench.fetcher.advance(&taken.partition, taken.generation, taken.next));
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 0);
}

// C-10
#[test]
fn a_log_that_parts_from_what_was_read_moves_the_position_back() {
    for (reset, told) in [(OffsetReset::Latest, false), (OffsetReset::None, true)] {
        let mut bench = Bench::new(|config| config.reset = reset);
        bench.fetcher.add_at(place(0), Position::after(Offset::new(50), Some(LeaderEpoch::new(4))));
        bench.fetcher.streams.entry(STREAM).or_default().version = Some(VERSION);
        assert_eq!(bench.fetch().topics[0].partitions[0].last_fetched_epoch, 4);
        let mut data = data(0, Vec::new());
        data.diverging_epoch = EpochEndOffset { epoch: 3, end_offset: 40, ..Default::default() };
        bench.answer(0, vec![data]);
        if told {
            assert_eq!(bench.problem().problem, FetchProblem::Truncated { end: 40 });
        } else {
            assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 40);
        }
    }
}

// C-10: an older term that ends behind the position still parts from what was read; nothing unread may be passed over.
#[test]
fn a_log_that_parts_behind_the_position_passes_over_nothing() {
    let mut bench = Bench::new(|config| config.reset = OffsetReset::Latest);
    bench.fetcher.add_at(place(0), Position::after(Offset::new(50), Some(LeaderEpoch::new(4))));
    bench.fetcher.streams.entry(STREAM).or_default().version = Some(VERSION);
    bench.fetch();
    let mut data = data(0, Vec::new());
    data.diverging_epoch = EpochEndOffset { epoch: 3, end_offset: 70, ..Default::default() };
    bench.answer(0, vec![data]);
    let asked = bench.fetch().topics[0].partitions[0].clone();
    assert_eq!((asked.fetch_offset, asked.last_fetched_epoch), (50, 3));
}

// C-10: a position whose term is known is checked before a broker that may not look by itself is asked.
#[test]
fn a_position_is_checked_first_where_the_broker_may_not_look_by_itself() {
    let mut bench = Bench::new(|_| {});
    bench.fetcher.add_at(place(0), Position::after(Offset::new(50), Some(LeaderEpoch::new(4))));
    assert!(bench.try_fetch().is_none());
    let validation = bench.fetcher.poll_validation(bench.now, &bench.image).expect("a question");
    assert_eq!(validation.request().topics[0].partitions[0].leader_epoch, 4);
    bench.fetcher.handle_validation(bench.now, &validation, None);
    assert!(bench.try_fetch().is_none(), "silence proves nothing");
    bench.now += Duration::from_secs(1);
    let validation = bench.fetcher.poll_validation(bench.now, &bench.image).expect("the question again");
    bench.fetcher.handle_validation_unsupported(&validation);
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 50);
}

// C-13
#[test]
fn a_topic_without_an_id_is_named_and_the_session_starts_anew() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(77, Vec::new());
    bench.image = image_of(1, 5, Uuid::nil());
    let plan = bench.fetcher.poll_fetch(bench.now, STREAM, &bench.image).expect("a plan");
    assert_eq!(plan.max_version(), Some(12));
    let request = plan.request(12);
    assert_eq!((request.session_id, request.topics[0].topic.as_str()), (0, "t"));
}

#[test]
fn a_partition_without_a_leader_needs_another_picture_of_the_cluster() {
    let mut bench = Bench::at(0);
    assert!(!bench.fetcher.needs_metadata(&bench.image));
    bench.fetcher.add_at(("other", 0).into(), Position::at(Offset::new(0)));
    assert!(bench.fetcher.needs_metadata(&bench.image));
}

// C-15
#[test]
fn what_is_buffered_and_asked_for_never_passes_the_budget_but_for_one_batch() {
    let mut bench = Bench::new(|config| {
        config.max_bytes = 300;
        config.max_partition_bytes = 300;
    });
    bench.fetcher.add_at(place(0), Position::at(Offset::new(0)));
    assert_eq!(bench.fetch().max_bytes, 300);
    assert!(bench.try_fetch().is_none(), "one request at a time");
    let records = plain(0, 20);
    let size = records.len();
    bench.answer(1, vec![data(0, vec![records])]);
    assert_eq!(bench.fetcher.buffered_bytes(), size);
    let left = 300_usize.saturating_sub(size);
    let next = bench.try_fetch().map_or(0, |request| usize::try_from(request.max_bytes).expect("a size"));
    assert_eq!(next, left);
}

// C-15: partition 0 was first and has the whole answer; the next request starts with another.
#[test]
fn the_order_of_partitions_rotates() {
    let mut bench = Bench::new(|_| {});
    (0..3).for_each(|partition| bench.fetcher.add_at(place(partition), Position::at(Offset::new(0))));
    let first = |request: &FetchRequest| request.topics[0].partitions[0].partition;
    assert_eq!(first(&bench.fetch()), 0);
    bench.answer(0, Vec::new());
    assert_eq!(first(&bench.fetch()), 1);
}

#[test]
fn a_mostly_dead_response_is_copied_out_so_that_it_can_go() {
    let mut bench = Bench::at(0);
    bench.fetcher.add_at(place(1), Position::at(Offset::new(0)));
    bench.fetch();
    let (large, small) = (plain(0, 20_000), plain(0, 1));
    let (whole, rest) = (large.len() + small.len(), small.len());
    bench.answer(0, vec![data(0, vec![large]), data(1, vec![small])]);
    assert_eq!(bench.fetcher.buffered_bytes(), whole);
    assert!(bench.fetcher.take(bench.now, |id| *id == place(0)).is_some());
    assert_eq!(bench.fetcher.buffered_bytes(), rest);
    assert_eq!(bench.take(), [(vec![0], 1)]);
    assert_eq!(bench.fetcher.buffered_bytes(), 0);
}

// C-6
#[test]
fn a_refusal_is_told_of_once_and_tried_again_only_after_a_while() {
    let mut bench = Bench::at(3);
    bench.fetch();
    bench.answer(0, vec![refused(0, ErrorCode::TOPIC_AUTHORIZATION_FAILED)]);
    assert!(bench.try_fetch().is_none());
    let failure = bench.problem();
    assert_eq!(failure.problem, FetchProblem::Refused(ErrorCode::TOPIC_AUTHORIZATION_FAILED));
    assert!(bench.try_fetch().is_none(), "no spin");
    bench.now += Duration::from_secs(1);
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 3);
}

#[test]
fn a_paused_partition_is_not_fetched_and_keeps_what_it_has() {
    let mut bench = Bench::at(0);
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(0, 2)])]);
    bench.fetcher.pause(&place(0));
    assert!(bench.try_fetch().is_none());
    assert_eq!(bench.take(), []);
    bench.fetcher.resume(&place(0));
    assert_eq!(bench.take(), [(vec![0], 2)]);
}

// Found by simulation: a member was thrown out and got its partition again while its application was busy. The application then took up the
// revocation from before, and what was its own again was read by nobody.
#[test]
fn a_revocation_from_before_takes_nothing_that_was_added_since() {
    let mut bench = Bench::new(|_| {});
    bench.fetcher.add([place(0), place(1)]);
    let told = bench.fetcher.last_generation();
    bench.fetcher.remove(&[place(0)]);
    bench.fetcher.add([place(0)]);
    bench.fetcher.remove_as_of(&[place(0), place(1)], told);
    assert!(bench.fetcher.contains(&place(0)) && !bench.fetcher.contains(&place(1)));
}

// Found by simulation: the membership was lost by the application's own commit, before the driver knew. What was buffered of the partitions
// that the application then gave up came out as if they had still been its own.
#[test]
fn what_is_revoked_and_not_added_since_is_gone_though_it_was_moved() {
    let mut bench = Bench::at(0);
    let told = bench.fetcher.last_generation();
    bench.fetcher.seek(&place(0), Position::at(Offset::new(5)));
    bench.fetch();
    bench.answer(0, vec![data(0, vec![plain(5, 2)])]);
    assert!(bench.fetcher.has_ready());
    bench.fetcher.remove_as_of(&[place(0)], told);
    assert_eq!(bench.take(), []);
    assert!(!bench.fetcher.contains(&place(0)) && bench.try_fetch().is_none());
}
