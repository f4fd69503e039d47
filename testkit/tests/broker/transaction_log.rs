//! What the transaction coordinator writes to `__transaction_state`, and what it forgets.

use crate::client::{Connection, PATIENCE, batch, fetch, produce, text};
use crate::services::real_kafka::RealKafka;
use crate::transactions::{Producer, TV1, TV2};
use bytes::Bytes;
use millstream_protocol::embedded::{TransactionKey, TransactionValue};
use millstream_protocol::messages::create_topics_request::CreatableTopic;
use millstream_protocol::messages::describe_producers_request::TopicRequest;
use millstream_protocol::messages::metadata_request::MetadataRequestTopic;
use millstream_protocol::messages::{
    CreateTopicsRequest, DescribeProducersRequest, DescribeTransactionsRequest, FindCoordinatorRequest,
    InitProducerIdRequest, MetadataRequest, TopicName, TransactionalId,
};
use millstream_protocol::record::{CrcCheck, Stamp, batches};
use millstream_protocol::{Decompressor, ErrorCode, ProducerEpoch, ProducerId};
use millstream_testkit::TestCluster;
use std::time::{Duration, Instant};

const TOPIC: &str = "__transaction_state";
/// The hash of the transactional id `x`.
const HASH: usize = 120;
const TIMEOUT_MS: i32 = 60_000;

/// Asks until it works: a coordinator may be on its way, or writing markers.
pub(crate) fn persist<T>(what: &str, mut ask: impl FnMut() -> Result<T, ErrorCode>) -> T {
    let begun = Instant::now();
    loop {
        match ask() {
            Ok(done) => return done,
            Err(code) => assert!(begun.elapsed() < PATIENCE, "{what}: {code} all the time"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
pub(crate) fn persist_until_done(what: &str, mut ask: impl FnMut() -> ErrorCode) {
    persist(what, || ask().ok().map(|_| ()));
}
/// Finds the coordinators, which makes the internal topics, and makes the topic `t`.
pub(crate) fn prepare(bootstrap: &str) {
    let mut connection = Connection::at(bootstrap);
    let topic =
        CreatableTopic::default().with_name(TopicName(text("t"))).with_num_partitions(1).with_replication_factor(1);
    connection.call(7, &CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(10_000));
    for (kind, key) in [(0, "g"), (1, "x")] {
        let request = FindCoordinatorRequest::default().with_key_type(kind).with_coordinator_keys(vec![text(key)]);
        persist("a coordinator", || {
            ErrorCode::new(connection.call(4, &request).coordinators[0].error_code).ok().map(|_| ())
        });
    }
}
pub(crate) fn init(bootstrap: &str) -> Producer {
    persist("an id", || Producer::try_init_at(bootstrap, TIMEOUT_MS))
}
/// The records of the id `x`: its state, its producer id since the first one and epoch, what else is told, and the partitions.
fn told(bootstrap: &str) -> Vec<String> {
    let mut connection = Connection::at(bootstrap);
    let topic = MetadataRequestTopic::default().with_name(Some(TopicName(text(TOPIC))));
    let topics = connection.call(12, &MetadataRequest::default().with_topics(Some(vec![topic]))).topics;
    let partition = i32::try_from(HASH % topics[0].partitions.len()).expect("a small number");
    let mut first_id = None;
    let mut told = Vec::new();
    loop {
        // As long as nothing is compacted, an offset is a record.
        let from = i64::try_from(told.len()).expect("a few records");
        let response = connection.call(12, &fetch(TOPIC, partition, from, 0));
        let bytes = response.responses[0].partitions[0].records.clone().into_bytes().unwrap_or_default();
        if bytes.is_empty() {
            return told;
        }
        tell(bytes, &mut first_id, &mut told);
    }
}
fn tell(records: Bytes, first_id: &mut Option<i64>, told: &mut Vec<String>) {
    for batch in batches(records) {
        let decoded = batch.expect("whole batches").decode(&mut Decompressor::new(), CrcCheck::Check);
        for record in decoded.expect("a valid batch").iter() {
            let key =
                TransactionKey::decode(&Bytes::copy_from_slice(record.key.expect("a key"))).expect("a key of an id");
            let value = record.value.map(|value| key.decode_value(&Bytes::copy_from_slice(value)).expect("a value"));
            let TransactionKey::TransactionLog(key) = &key else { panic!("{key:?} is of no id") };
            assert_eq!(key.transactional_id.as_str(), "x");
            let text = value.map(|(version, value)| format!("v{version} {}", line(&value, first_id)));
            told.push(text.unwrap_or_else(|| "gone".to_owned()));
        }
    }
}
fn line(value: &TransactionValue, first_id: &mut Option<i64>) -> String {
    let TransactionValue::TransactionLog(value) = value else { panic!("{value:?} is of no id") };
    let first_id = *first_id.get_or_insert(value.producer_id);
    let state = ["Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort"]
        [usize::try_from(value.transaction_status).expect("a state")];
    let started = if value.transaction_start_timestamp_ms < 0 { "not started" } else { "started" };
    let mut partitions: Vec<String> = Vec::new();
    for topic in value.transaction_partitions.iter().flatten() {
        partitions.extend(topic.partition_ids.iter().map(|partition| format!("{}-{partition}", topic.topic)));
    }
    partitions.sort();
    let partitions = value.transaction_partitions.as_ref().map_or("null".to_owned(), |_| partitions.join(","));
    assert_eq!(value.transaction_timeout_ms, TIMEOUT_MS);
    format!(
        "{state} {}@{} before {} next {} client {} {started} [{partitions}]",
        value.producer_id - first_id,
        value.producer_epoch,
        value.previous_producer_id - first_id,
        if value.next_producer_id < 0 { -1 } else { value.next_producer_id - first_id },
        value.client_transaction_version,
    )
}

/// One transaction by the protocol's first edition, two by its second, and one that is open when the id is taken over.
fn live(bootstrap: &str) -> Vec<String> {
    prepare(bootstrap);
    let mut producer = init(bootstrap);
    persist_until_done("a partition", || producer.add_partition());
    assert_eq!(producer.write(11, "a"), ErrorCode::NONE);
    persist_until_done("a group", || producer.add_group());
    assert_eq!(producer.commit_offset(3, 1), ErrorCode::NONE);
    persist_until_done("the end", || producer.end(TV1, true));
    // Who changes the edition begins anew: a record that came before the marker would still be of the old transaction.
    let mut producer = init(bootstrap);
    for committed in [true, false] {
        persist_until_done("a record", || producer.write(12, "b"));
        assert_eq!(producer.commit_offset(5, 2), ErrorCode::NONE);
        persist_until_done("the second end", || producer.end(TV2, committed));
    }
    persist_until_done("the last record", || producer.write(12, "c"));
    init(bootstrap);
    told(bootstrap)
}
/// What Kafka 4.4 writes of it.
const WRITTEN: [&str; 18] = [
    "v1 Empty 0@0 before 0 next -1 client 0 not started [null]",
    "v1 Ongoing 0@0 before 0 next -1 client 0 started [t-0]",
    "v1 Ongoing 0@0 before 0 next -1 client 0 started [__consumer_offsets-3,t-0]",
    "v1 PrepareCommit 0@0 before 0 next -1 client 0 started [__consumer_offsets-3,t-0]",
    "v1 CompleteCommit 0@0 before 0 next -1 client 0 started []",
    "v1 Empty 0@1 before 0 next -1 client 0 not started [null]",
    "v1 Ongoing 0@1 before 0 next -1 client 2 started [t-0]",
    "v1 Ongoing 0@1 before 0 next -1 client 2 started [__consumer_offsets-3,t-0]",
    "v1 PrepareCommit 0@2 before 0 next -1 client 2 started [__consumer_offsets-3,t-0]",
    "v1 CompleteCommit 0@2 before 0 next -1 client 2 started []",
    "v1 Ongoing 0@2 before 0 next -1 client 2 started [t-0]",
    "v1 Ongoing 0@2 before 0 next -1 client 2 started [__consumer_offsets-3,t-0]",
    "v1 PrepareAbort 0@3 before 0 next -1 client 2 started [__consumer_offsets-3,t-0]",
    "v1 CompleteAbort 0@3 before 0 next -1 client 2 started []",
    "v1 Ongoing 0@3 before 0 next -1 client 2 started [t-0]",
    "v1 PrepareAbort 0@4 before 0 next -1 client 2 started [t-0]",
    "v1 CompleteAbort 0@4 before 0 next -1 client 2 started []",
    "v1 Empty 0@5 before 0 next -1 client 2 not started [null]",
];

#[tokio::test]
async fn every_step_of_a_transactional_id_is_a_record() {
    let cluster = TestCluster::builder().config("offsets.topic.num.partitions", "10").start().await;
    assert_eq!(live(&cluster.bootstrap_servers()), WRITTEN);
}

#[test]
#[ignore = "needs java and Kafka's jars"]
fn kafkas_coordinator_writes_the_same_records() {
    let kafka = RealKafka::up(&["--set", "offsets.topic.num.partitions=10"]);
    assert_eq!(live(&kafka.bootstrap), WRITTEN);
}

/// What the coordinator does by itself it does in the edition of the cluster, whatever the client speaks.
#[tokio::test]
async fn a_transaction_that_runs_out_of_time_ends_in_the_clusters_edition() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut producer = init(&cluster.bootstrap_servers());
    assert_eq!((producer.add_partition(), producer.write(11, "a")), (ErrorCode::NONE, ErrorCode::NONE));
    cluster.advance_brokers(Duration::from_secs(60));
    let expected = [
        "v1 Ongoing 0@0 before 0 next -1 client 0 started [t-0]",
        "v1 PrepareAbort 0@1 before 0 next -1 client 2 started [t-0]",
        "v1 CompleteAbort 0@1 before 0 next -1 client 2 started []",
    ];
    assert_eq!(told(&cluster.bootstrap_servers())[1..], expected);
}

/// The last epoch that a client gets.
const LAST_EPOCH: i16 = 32_766;

/// Takes the id over until its epochs are used up but for one, then ends two transactions; what is written from there on.
fn use_up(bootstrap: &str) -> Vec<String> {
    prepare(bootstrap);
    let mut connection = Connection::at(bootstrap);
    let request = InitProducerIdRequest::default()
        .with_transactional_id(Some(TransactionalId(text("x"))))
        .with_transaction_timeout_ms(TIMEOUT_MS);
    let mut next_epoch = || {
        let response = connection.call(5, &request);
        ErrorCode::new(response.error_code).ok().map(|_| response.producer_epoch)
    };
    while persist("an epoch", &mut next_epoch) < LAST_EPOCH - 1 {}
    let mut producer = init(bootstrap);
    for _ in 0..2 {
        persist_until_done("a record", || producer.write(12, "a"));
        persist_until_done("the end", || producer.end(TV2, true));
    }
    let mut told = told(bootstrap);
    told.split_off(told.len() - USED_UP.len())
}
/// What Kafka 4.4 writes of it: with the last epoch the producer id is used up, too.
const USED_UP: [&str; 7] = [
    "v1 Empty 0@32766 before 0 next -1 client 0 not started [null]",
    "v1 Ongoing 0@32766 before 0 next -1 client 2 started [t-0]",
    "v1 PrepareCommit 0@32767 before 0 next 1 client 2 started [t-0]",
    "v1 CompleteCommit 1@0 before 0 next -1 client 2 started []",
    "v1 Ongoing 1@0 before 1 next -1 client 2 started [t-0]",
    "v1 PrepareCommit 1@1 before 1 next -1 client 2 started [t-0]",
    "v1 CompleteCommit 1@1 before 1 next -1 client 2 started []",
];

#[tokio::test]
async fn an_id_whose_epochs_are_used_up_gets_another_producer_id() {
    let cluster = TestCluster::builder().config("millstream.producer.epoch.start", "32765").start().await;
    assert_eq!(use_up(&cluster.bootstrap_servers()), USED_UP);
}

#[test]
#[ignore = "needs java and Kafka's jars"]
fn kafkas_coordinator_uses_up_epochs_in_the_same_way() {
    assert_eq!(use_up(&RealKafka::up(&[]).bootstrap), USED_UP);
}

#[tokio::test]
async fn an_id_that_nobody_uses_is_forgotten() {
    let cluster =
        TestCluster::builder().topic("t", 1).config("transactional.id.expiration.ms", "7200000").start().await;
    let bootstrap = cluster.bootstrap_servers();
    let mut producer = init(&bootstrap);
    let describe = || {
        let request = DescribeTransactionsRequest::default().with_transactional_ids(vec![TransactionalId(text("x"))]);
        ErrorCode::new(Connection::at(&bootstrap).call(0, &request).transaction_states[0].error_code)
    };
    cluster.advance(Duration::from_secs(7100)).await;
    assert_eq!(describe(), ErrorCode::NONE, "it is not old enough");
    cluster.advance(Duration::from_secs(3600)).await;
    assert_eq!(describe(), ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
    assert_eq!(told(&bootstrap).last().map(String::as_str), Some("gone"));
    assert_eq!(producer.end(TV2, true), ErrorCode::INVALID_PRODUCER_ID_MAPPING);
    assert_eq!(init(&bootstrap).id, producer.id + 1);
}

#[tokio::test]
async fn a_partition_forgets_a_producer_that_writes_no_more() {
    let cluster = TestCluster::builder().topic("t", 1).topic("u", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let id = connection.call(5, &InitProducerIdRequest::default().with_transactional_id(None)).producer_id.0;
    let stamp = Stamp::idempotent(ProducerId::new(id), ProducerEpoch::new(0), 0);
    // These records are of 1970: that is the time that counts.
    connection.call(9, &produce("u", 0, batch(&["a"], &stamp), None));
    // The transaction's own time is longer than what is waited for.
    let mut open = Producer::try_init_at(&cluster.bootstrap_servers(), 900_000).expect("the transactional id is free");
    assert_eq!(open.write(12, "a"), ErrorCode::NONE);
    let mut producers = |topic: &str| {
        let topic = TopicRequest::default().with_name(TopicName(text(topic))).with_partition_indexes(vec![0]);
        let response = connection.call(0, &DescribeProducersRequest::default().with_topics(vec![topic]));
        response.topics[0].partitions[0].active_producers.len()
    };
    assert_eq!((producers("t"), producers("u")), (1, 1));
    cluster.advance(Duration::from_secs(601)).await;
    assert_eq!((producers("t"), producers("u")), (1, 0), "who has a transaction open stays");
}
