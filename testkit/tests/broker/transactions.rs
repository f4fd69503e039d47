//! Transactions, in both versions of the protocol.

use crate::client::{Connection, batch, fetch, produce, produced, text, values};
use millstream_protocol::messages::add_partitions_to_txn_request::{
    AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
};
use millstream_protocol::messages::describe_producers_request::TopicRequest;
use millstream_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use millstream_protocol::messages::offset_fetch_request::OffsetFetchRequestTopic;
use millstream_protocol::messages::txn_offset_commit_request::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use millstream_protocol::messages::write_txn_markers_request::{WritableTxnMarker, WritableTxnMarkerTopic};
use millstream_protocol::messages::{
    AddOffsetsToTxnRequest, AddPartitionsToTxnRequest, DeleteGroupsRequest, DescribeProducersRequest,
    DescribeTransactionsRequest, EndTxnRequest, GroupId, InitProducerIdRequest, ListTransactionsRequest,
    OffsetCommitRequest, OffsetFetchRequest, ProducerId as WireId, TopicName, TransactionalId, TxnOffsetCommitRequest,
    WriteTxnMarkersRequest,
};
use millstream_protocol::record::Stamp;
use millstream_protocol::{ErrorCode, ProducerEpoch, ProducerId};
use millstream_testkit::TestCluster;
use std::time::Duration;

/// Version 1 of the protocol's EndTxn, and version 2's.
pub(crate) const TV1: i16 = 4;
pub(crate) const TV2: i16 = 5;

/// A transactional producer.
pub(crate) struct Producer {
    connection: Connection,
    name: &'static str,
    pub(crate) id: i64,
    epoch: i16,
    sequence: i32,
}
impl Producer {
    pub(crate) fn init(cluster: &TestCluster) -> Self {
        Self::try_init(cluster, 60_000).expect("the transactional id is free")
    }
    fn try_init(cluster: &TestCluster, timeout_ms: i32) -> Result<Self, ErrorCode> {
        Self::try_init_at(&cluster.bootstrap_servers(), timeout_ms)
    }
    pub(crate) fn try_init_at(bootstrap: &str, timeout_ms: i32) -> Result<Self, ErrorCode> {
        Self::try_init_as("x", bootstrap, timeout_ms)
    }
    fn try_init_as(name: &'static str, bootstrap: &str, timeout_ms: i32) -> Result<Self, ErrorCode> {
        let mut connection = Connection::at(bootstrap);
        let request = InitProducerIdRequest::default()
            .with_transactional_id(Some(TransactionalId(text(name))))
            .with_transaction_timeout_ms(timeout_ms);
        let response = connection.call(5, &request);
        ErrorCode::new(response.error_code).ok()?;
        Ok(Self { connection, name, id: response.producer_id.0, epoch: response.producer_epoch, sequence: 0 })
    }
    pub(crate) fn add_partition(&mut self) -> ErrorCode {
        let topic = AddPartitionsToTxnTopic::default().with_name(TopicName(text("t"))).with_partitions(vec![0]);
        let request = AddPartitionsToTxnRequest::default()
            .with_v3_and_below_transactional_id(TransactionalId(text(self.name)))
            .with_v3_and_below_producer_id(WireId(self.id))
            .with_v3_and_below_producer_epoch(self.epoch)
            .with_v3_and_below_topics(vec![topic]);
        let response = self.connection.call(3, &request);
        ErrorCode::new(response.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code)
    }
    pub(crate) fn write(&mut self, version: i16, value: &str) -> ErrorCode {
        let stamp = Stamp::transactional(ProducerId::new(self.id), ProducerEpoch::new(self.epoch), self.sequence);
        let response = self.connection.call(version, &produce("t", 0, batch(&[value], &stamp), Some(self.name)));
        let code = ErrorCode::new(produced(&response).0);
        self.sequence += i32::from(!code.is_error());
        code
    }
    pub(crate) fn end(&mut self, version: i16, committed: bool) -> ErrorCode {
        let request = EndTxnRequest::default()
            .with_transactional_id(TransactionalId(text(self.name)))
            .with_producer_id(WireId(self.id))
            .with_producer_epoch(self.epoch)
            .with_committed(committed);
        let response = self.connection.call(version, &request);
        if response.error_code == 0 && version >= TV2 {
            (self.id, self.epoch, self.sequence) = (response.producer_id.0, response.producer_epoch, 0);
        }
        ErrorCode::new(response.error_code)
    }
    pub(crate) fn commit_offset(&mut self, version: i16, offset: i64) -> ErrorCode {
        let partition =
            TxnOffsetCommitRequestPartition::default().with_committed_offset(offset).with_committed_metadata(None);
        let topic =
            TxnOffsetCommitRequestTopic::default().with_name(TopicName(text("t"))).with_partitions(vec![partition]);
        let request = TxnOffsetCommitRequest::default()
            .with_transactional_id(TransactionalId(text(self.name)))
            .with_group_id(GroupId(text("g")))
            .with_producer_id(WireId(self.id))
            .with_producer_epoch(self.epoch)
            .with_topics(vec![topic]);
        ErrorCode::new(self.connection.call(version, &request).topics[0].partitions[0].error_code)
    }
    pub(crate) fn add_group(&mut self) -> ErrorCode {
        let request = AddOffsetsToTxnRequest::default()
            .with_transactional_id(TransactionalId(text(self.name)))
            .with_producer_id(WireId(self.id))
            .with_producer_epoch(self.epoch)
            .with_group_id(GroupId(text("g")));
        ErrorCode::new(self.connection.call(3, &request).error_code)
    }
}

fn committed_offset(cluster: &TestCluster) -> (i64, ErrorCode) {
    let topic = OffsetFetchRequestTopic::default().with_name(TopicName(text("t"))).with_partition_indexes(vec![0]);
    let request = OffsetFetchRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_topics(Some(vec![topic]))
        .with_require_stable(true);
    let response = Connection::to(cluster, 0).call(7, &request);
    let partition = &response.topics[0].partitions[0];
    (partition.committed_offset, ErrorCode::new(partition.error_code))
}
fn state(cluster: &TestCluster) -> String {
    let request = DescribeTransactionsRequest::default().with_transactional_ids(vec![TransactionalId(text("x"))]);
    Connection::to(cluster, 0).call(0, &request).transaction_states[0].transaction_state.to_string()
}
async fn cluster() -> TestCluster {
    TestCluster::builder().topic("t", 1).start().await
}

#[tokio::test]
async fn readers_of_committed_see_a_transaction_when_it_has_committed() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    assert_eq!(producer.write(12, "a"), ErrorCode::NONE);
    let mut reader = Connection::to(&cluster, 0);
    let open = reader.call(12, &fetch("t", 0, 0, 1));
    assert_eq!((values(&open).len(), open.responses[0].partitions[0].last_stable_offset), (0, 0));
    assert_eq!(values(&reader.call(12, &fetch("t", 0, 0, 0))), ["a"]);
    assert_eq!(producer.end(TV2, true), ErrorCode::NONE);
    let closed = reader.call(12, &fetch("t", 0, 0, 1));
    assert_eq!((values(&closed), closed.responses[0].partitions[0].last_stable_offset), (vec!["a".to_owned()], 2));
}

#[tokio::test]
async fn aborted_transactions_are_named_to_readers_of_committed() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    producer.write(12, "dropped");
    let aborted_id = producer.id;
    assert_eq!(producer.end(TV2, false), ErrorCode::NONE);
    producer.write(12, "kept");
    producer.end(TV2, true);
    let response = Connection::to(&cluster, 0).call(12, &fetch("t", 0, 0, 1));
    let aborted = response.responses[0].partitions[0].aborted_transactions.clone().unwrap();
    assert_eq!((aborted.len(), aborted[0].producer_id, aborted[0].first_offset), (1, aborted_id, 0));
    assert_eq!(cluster.values("t"), ["kept"]);
}

/// Not in the order in which they began: Kafka has them as their markers follow one another.
#[tokio::test]
async fn aborted_transactions_are_named_in_the_order_in_which_they_ended() {
    let cluster = cluster().await;
    let mut outer = Producer::init(&cluster);
    let mut inner = Producer::try_init_as("y", &cluster.bootstrap_servers(), 60_000).expect("nobody has it");
    for producer in [&mut outer, &mut inner] {
        assert_eq!(producer.write(12, "dropped"), ErrorCode::NONE);
    }
    for producer in [&mut inner, &mut outer] {
        assert_eq!(producer.end(TV2, false), ErrorCode::NONE);
    }
    let response = Connection::to(&cluster, 0).call(12, &fetch("t", 0, 0, 1));
    let aborted = response.responses[0].partitions[0].aborted_transactions.iter().flatten();
    assert_eq!(aborted.map(|aborted| aborted.first_offset).collect::<Vec<_>>(), [1, 0]);
}

#[tokio::test]
async fn each_transaction_of_version_two_has_an_epoch_of_its_own() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    for expected in 1..4 {
        producer.write(12, "a");
        assert_eq!((producer.end(TV2, true), producer.epoch), (ErrorCode::NONE, expected));
    }
    let old = Producer { connection: Connection::to(&cluster, 0), epoch: producer.epoch - 1, ..producer };
    let mut old = Producer { id: old.id, ..old };
    assert_eq!(old.write(12, "late"), ErrorCode::INVALID_PRODUCER_EPOCH);
}

#[tokio::test]
async fn the_producer_id_changes_when_the_epochs_are_used_up() {
    let cluster = TestCluster::builder().config("millstream.producer.epoch.start", "32765").topic("t", 1).start().await;
    let mut producer = Producer::init(&cluster);
    let first = producer.id;
    let mut seen = vec![(producer.id, producer.epoch)];
    for _ in 0..3 {
        assert_eq!(producer.write(12, "a"), ErrorCode::NONE);
        assert_eq!(producer.end(TV2, true), ErrorCode::NONE);
        seen.push((producer.id, producer.epoch));
    }
    assert_eq!(seen, [(first, 32_765), (first, 32_766), (first + 1, 0), (first + 1, 1)]);
    assert_eq!(cluster.values("t").len(), 3);
}

#[tokio::test]
async fn a_repeated_end_is_answered_as_before() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    producer.write(12, "a");
    let (id, epoch) = (producer.id, producer.epoch);
    producer.end(TV2, true);
    let next = (producer.id, producer.epoch);
    (producer.id, producer.epoch) = (id, epoch);
    assert_eq!(producer.end(TV2, false), ErrorCode::INVALID_TXN_STATE);
    assert_eq!(producer.end(TV2, true), ErrorCode::NONE);
    assert_eq!((producer.id, producer.epoch), next);
    assert_eq!(
        Connection::to(&cluster, 0).call(12, &fetch("t", 0, 0, 0)).responses[0].partitions[0].high_watermark,
        2,
        "one marker"
    );
}

/// The epoch before is that of a repeated end only where the end is the last that happened: Kafka fences it where the id was taken over since, or
/// while the markers are being written, when whoever repeats an end is to ask again.
#[tokio::test]
async fn an_end_is_repeated_only_while_nothing_else_has_happened() {
    let cluster = cluster().await;
    let mut first = Producer::init(&cluster);
    Producer::init(&cluster);
    for committed in [false, true] {
        assert_eq!(first.end(TV2, committed), ErrorCode::PRODUCER_FENCED, "nobody has ended anything");
    }
    let mut holder = Producer::init(&cluster);
    cluster.hold_transaction_markers();
    holder.write(12, "a");
    let before = (holder.id, holder.epoch);
    assert_eq!(holder.end(TV2, true), ErrorCode::NONE);
    assert_eq!(holder.end(TV2, true), ErrorCode::PRODUCER_FENCED, "the next transaction is not there yet");
    (holder.id, holder.epoch) = before;
    for committed in [false, true] {
        assert_eq!(holder.end(TV2, committed), ErrorCode::CONCURRENT_TRANSACTIONS);
    }
    cluster.release_transaction_markers();
    assert_eq!(holder.end(TV2, true), ErrorCode::NONE);
}

#[tokio::test]
async fn version_one_adds_partitions_before_it_writes() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    assert_eq!(producer.write(11, "a"), ErrorCode::TRANSACTION_ABORTABLE);
    assert_eq!(producer.write(10, "a"), ErrorCode::INVALID_TXN_STATE);
    assert_eq!(producer.add_partition(), ErrorCode::NONE);
    assert_eq!(state(&cluster), "Ongoing");
    assert_eq!(producer.write(11, "a"), ErrorCode::NONE);
    let epoch = producer.epoch;
    assert_eq!((producer.end(TV1, true), producer.epoch), (ErrorCode::NONE, epoch));
    assert_eq!(state(&cluster), "CompleteCommit");
    assert_eq!(producer.end(TV1, true), ErrorCode::NONE, "asked again");
    assert_eq!(cluster.values("t"), ["a"]);
}

/// With the partitions of `__consumer_offsets` that a transaction's groups have, as administrators' tools show them.
#[tokio::test]
async fn what_a_transaction_writes_to_includes_its_groups_partitions() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    assert_eq!((producer.write(12, "a"), producer.add_group()), (ErrorCode::NONE, ErrorCode::NONE));
    producer.commit_offset(3, 1);
    let request = DescribeTransactionsRequest::default().with_transactional_ids(vec![TransactionalId(text("x"))]);
    let described = Connection::to(&cluster, 0).call(0, &request);
    let topics: Vec<&str> = described.transaction_states[0].topics.iter().map(|topic| topic.topic.0.as_str()).collect();
    assert_eq!(topics, ["__consumer_offsets", "t"]);
}

/// KIP-890: a gap before the first batch is told from a producer that the partition has forgotten, since in the second edition it cannot be one.
#[tokio::test]
async fn who_is_new_to_a_partition_begins_with_sequence_zero() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    producer.sequence = 2;
    assert_eq!(producer.write(12, "a"), ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
    producer.sequence = 0;
    assert_eq!(producer.write(12, "a"), ErrorCode::NONE);
}

/// A partition may know a producer by a newer epoch than the coordinator: a marker that an administrator wrote bore it. Kafka refuses the batch
/// before it asks the coordinator, so that nothing is added to the transaction.
#[tokio::test]
async fn a_batch_of_an_epoch_that_the_partition_is_past_adds_nothing() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    let topic = WritableTxnMarkerTopic::default().with_name(TopicName(text("t"))).with_partition_indexes(vec![0]);
    let marker = WritableTxnMarker::default()
        .with_producer_id(WireId(producer.id))
        .with_producer_epoch(producer.epoch + 5)
        .with_topics(vec![topic]);
    producer.connection.call(1, &WriteTxnMarkersRequest::default().with_markers(vec![marker]));
    assert_eq!(producer.write(12, "a"), ErrorCode::INVALID_PRODUCER_EPOCH);
    assert_eq!(state(&cluster), "Empty");
}

/// Nor does such a batch count among those that were tried and refused, which later sequences may not pass over.
#[tokio::test]
async fn a_batch_of_an_old_epoch_stops_nobody() {
    let cluster = cluster().await;
    let mut first = Producer::init(&cluster);
    let mut second = Producer::init(&cluster);
    assert_eq!(second.write(12, "a"), ErrorCode::NONE);
    assert_eq!(first.write(11, "late"), ErrorCode::INVALID_PRODUCER_EPOCH);
    assert_eq!(second.write(12, "b"), ErrorCode::NONE);
}

#[tokio::test]
async fn a_partition_that_is_only_verified_and_not_there_says_that_the_transaction_can_be_aborted() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    let transaction = AddPartitionsToTxnTransaction::default()
        .with_transactional_id(TransactionalId(text("x")))
        .with_producer_id(WireId(producer.id))
        .with_producer_epoch(producer.epoch)
        .with_verify_only(true)
        .with_topics(vec![AddPartitionsToTxnTopic::default().with_name(TopicName(text("t"))).with_partitions(vec![0])]);
    for version in [4, 5] {
        let request = AddPartitionsToTxnRequest::default().with_transactions(vec![transaction.clone()]);
        let response = producer.connection.call(version, &request);
        let code = response.results_by_transaction[0].topic_results[0].results_by_partition[0].partition_error_code;
        assert_eq!(ErrorCode::new(code), ErrorCode::TRANSACTION_ABORTABLE, "version {version}");
    }
}

#[tokio::test]
async fn a_second_producer_aborts_and_fences_the_first() {
    let cluster = cluster().await;
    let mut first = Producer::init(&cluster);
    first.write(12, "dropped");
    assert_eq!(Producer::try_init(&cluster, 60_000).err(), Some(ErrorCode::CONCURRENT_TRANSACTIONS));
    let mut second = Producer::init(&cluster);
    assert_eq!(first.write(12, "late"), ErrorCode::INVALID_PRODUCER_EPOCH);
    assert_eq!(first.end(TV2, true), ErrorCode::PRODUCER_FENCED);
    second.write(12, "kept");
    second.end(TV2, true);
    assert_eq!(cluster.values("t"), ["kept"]);
}

#[tokio::test]
async fn a_transaction_that_takes_too_long_is_aborted() {
    let cluster = cluster().await;
    let mut producer = Producer::try_init(&cluster, 30).unwrap();
    producer.write(12, "dropped");
    while state(&cluster) != "CompleteAbort" {
        tokio::task::yield_now().await;
    }
    // Kafka takes the epoch before the bump for a request sent twice, whose outcome then is another one.
    assert_eq!(producer.end(TV2, true), ErrorCode::INVALID_TXN_STATE);
    assert!(cluster.values("t").is_empty());
}

#[tokio::test]
async fn offsets_of_an_open_transaction_are_unstable() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    assert_eq!(producer.commit_offset(5, 7), ErrorCode::NONE);
    assert_eq!(committed_offset(&cluster), (-1, ErrorCode::UNSTABLE_OFFSET_COMMIT));
    producer.end(TV2, true);
    assert_eq!(committed_offset(&cluster), (7, ErrorCode::NONE));
    producer.commit_offset(5, 9);
    producer.end(TV2, false);
    assert_eq!(committed_offset(&cluster), (7, ErrorCode::NONE));
}

/// Which position holds is a matter of which was written last, as it is for whoever reads the compacted topic from its beginning.
#[tokio::test]
async fn a_position_that_was_committed_outside_of_a_transaction_meanwhile_stays() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    assert_eq!(producer.commit_offset(5, 7), ErrorCode::NONE);
    let partition = OffsetCommitRequestPartition::default().with_committed_offset(8);
    let topic = OffsetCommitRequestTopic::default().with_name(TopicName(text("t"))).with_partitions(vec![partition]);
    let request = OffsetCommitRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic]);
    assert_eq!(Connection::to(&cluster, 0).call(8, &request).topics[0].partitions[0].error_code, 0);
    producer.end(TV2, true);
    assert_eq!(committed_offset(&cluster), (8, ErrorCode::NONE));
}

#[tokio::test]
async fn a_group_with_positions_of_an_open_transaction_can_be_deleted() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    assert_eq!(producer.commit_offset(5, 7), ErrorCode::NONE);
    let mut connection = Connection::to(&cluster, 0);
    let fetched =
        connection.call(7, &OffsetFetchRequest::default().with_group_id(GroupId(text("g"))).with_topics(None));
    assert!(fetched.topics.is_empty(), "nothing is committed: {fetched:?}");
    let request = DeleteGroupsRequest::default().with_groups_names(vec![GroupId(text("g"))]);
    assert_eq!(connection.call(2, &request).results[0].error_code, 0);
    assert_eq!(producer.end(TV2, true), ErrorCode::NONE);
    assert_eq!(committed_offset(&cluster), (-1, ErrorCode::NONE));
}

/// A coordinator is asked once per transaction and partition; what was tried and refused meanwhile counts against what comes later.
#[tokio::test]
async fn a_transaction_does_not_begin_behind_a_batch_that_was_refused() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    assert_eq!(producer.write(11, "a"), ErrorCode::TRANSACTION_ABORTABLE);
    assert_eq!(producer.add_partition(), ErrorCode::NONE);
    producer.sequence = 1;
    assert_eq!(producer.write(11, "b"), ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
    producer.sequence = 0;
    assert_eq!(producer.write(11, "a"), ErrorCode::NONE);
}

#[tokio::test]
async fn version_one_adds_groups_before_it_commits_offsets() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    assert_eq!(producer.commit_offset(4, 7), ErrorCode::TRANSACTION_ABORTABLE);
    assert_eq!(producer.commit_offset(3, 7), ErrorCode::INVALID_TXN_STATE);
    assert_eq!(producer.add_group(), ErrorCode::NONE);
    assert_eq!(producer.commit_offset(4, 7), ErrorCode::NONE);
    assert_eq!(producer.end(TV1, true), ErrorCode::NONE);
    assert_eq!(committed_offset(&cluster), (7, ErrorCode::NONE));
}

#[tokio::test]
async fn while_markers_are_being_written_the_next_transaction_waits() {
    let cluster =
        TestCluster::builder().config("millstream.transaction.marker.delay.ms", "100000").topic("t", 1).start().await;
    let mut producer = Producer::init(&cluster);
    producer.write(12, "a");
    assert_eq!(producer.end(TV2, true), ErrorCode::NONE);
    assert_eq!(state(&cluster), "PrepareCommit");
    assert_eq!(producer.write(12, "b"), ErrorCode::CONCURRENT_TRANSACTIONS);
    assert!(cluster.values("t").is_empty());
    cluster.advance(Duration::from_secs(100)).await;
    assert_eq!(cluster.wait_for_records("t", 1).await.len(), 1);
    assert_eq!(producer.write(12, "b"), ErrorCode::NONE);
}

#[tokio::test]
async fn transactions_and_producers_are_described() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    producer.write(12, "a");
    let listed = Connection::to(&cluster, 0)
        .call(2, &ListTransactionsRequest::default().with_duration_filter(-1).with_transactional_id_pattern(None));
    assert_eq!(
        (listed.transaction_states.len(), listed.transaction_states[0].transaction_state.as_str()),
        (1, "Ongoing")
    );
    let request = DescribeTransactionsRequest::default()
        .with_transactional_ids(vec![TransactionalId(text("x")), TransactionalId(text("y"))]);
    let described = Connection::to(&cluster, 0).call(0, &request).transaction_states;
    assert_eq!(
        (described[0].topics[0].topic.0.as_str(), described[0].topics[0].partitions.as_slice()),
        ("t", &[0][..])
    );
    assert_eq!(ErrorCode::new(described[1].error_code), ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);

    let topic = TopicRequest::default().with_name(TopicName(text("t"))).with_partition_indexes(vec![0]);
    let producers = Connection::to(&cluster, 0).call(0, &DescribeProducersRequest::default().with_topics(vec![topic]));
    let active = &producers.topics[0].partitions[0].active_producers[0];
    assert_eq!((active.producer_id.0, active.last_sequence, active.current_txn_start_offset), (producer.id, 0, 0));
}

/// Only plain text, and such with `.*` behind, was taken; a choice of ids was refused.
#[tokio::test]
async fn transactions_are_listed_by_any_pattern_of_their_whole_id() {
    let cluster = cluster().await;
    Producer::init(&cluster);
    let mut connection = Connection::to(&cluster, 0);
    let mut listed = |pattern: &str| {
        let request = ListTransactionsRequest::default().with_duration_filter(-1);
        let response = connection.call(2, &request.with_transactional_id_pattern(Some(text(pattern))));
        (ErrorCode::new(response.error_code), response.transaction_states.len())
    };
    for (pattern, found) in [("", 1), ("x", 1), ("x|y", 1), ("[w-z]", 1), ("x.*", 1), ("x.", 0), ("y|z", 0)] {
        assert_eq!(listed(pattern), (ErrorCode::NONE, found), "{pattern}");
    }
    assert_eq!(listed("("), (ErrorCode::INVALID_REGULAR_EXPRESSION, 0));
}

#[tokio::test]
async fn markers_bear_the_epoch_of_their_coordinator() {
    let cluster = cluster().await;
    let mut producer = Producer::init(&cluster);
    producer.write(12, "a");
    // The partition, of 50, of the id `x`, whose hash is 120.
    cluster.bump_leader_epoch(("__transaction_state", 20));
    assert_eq!(producer.end(TV2, true), ErrorCode::NONE);
    let topic = TopicRequest::default().with_name(TopicName(text("t"))).with_partition_indexes(vec![0]);
    let producers = Connection::to(&cluster, 0).call(0, &DescribeProducersRequest::default().with_topics(vec![topic]));
    assert_eq!(producers.topics[0].partitions[0].active_producers[0].coordinator_epoch, 1);
}

#[tokio::test]
async fn who_takes_itself_for_a_producer_says_both_its_id_and_its_epoch() {
    let cluster = cluster().await;
    let mut connection = Connection::to(&cluster, 0);
    for (id, epoch, code) in
        [(7, -1, ErrorCode::INVALID_REQUEST), (-1, 0, ErrorCode::INVALID_REQUEST), (-1, -1, ErrorCode::NONE)]
    {
        for transactional_id in [None, Some(TransactionalId(text("x")))] {
            let request = InitProducerIdRequest::default()
                .with_transactional_id(transactional_id)
                .with_transaction_timeout_ms(60_000)
                .with_producer_id(WireId(id))
                .with_producer_epoch(epoch);
            assert_eq!(ErrorCode::new(connection.call(4, &request).error_code), code, "{id} {epoch}");
        }
    }
}
