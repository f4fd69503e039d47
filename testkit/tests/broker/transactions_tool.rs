//! Kafka's transactions tool: what it finds, and what it ends.

use crate::client::{Connection, batch, produce, produced, text};
use crate::services::real_kafka::RealKafka;
use crate::services::scripts;
use crate::transaction_log::{init, persist_until_done, prepare};
use millstream_protocol::messages::create_topics_request::CreatableTopic;
use millstream_protocol::messages::{CreateTopicsRequest, TopicName};
use millstream_protocol::record::Stamp;
use millstream_protocol::{ErrorCode, ProducerEpoch, ProducerId};
use millstream_testkit::TestCluster;
use std::path::Path;
use std::process::Command;

/// Without it a broker takes what its coordinator does not know of: that is how a transaction comes to hang.
const VERIFICATION: &str = "transaction.partition.verification.enable";

/// Opens a transaction, and has a record of its producer hang where the transaction is not.
fn hang(bootstrap: &str) {
    prepare(bootstrap);
    let mut connection = Connection::at(bootstrap);
    let topic = CreatableTopic::default().with_name(TopicName(text("u")));
    let topics = vec![topic.with_num_partitions(1).with_replication_factor(1)];
    connection.call(7, &CreateTopicsRequest::default().with_topics(topics).with_timeout_ms(10_000));
    let mut producer = init(bootstrap);
    persist_until_done("a record", || producer.write(12, "open"));
    let stamp = Stamp::transactional(ProducerId::new(producer.id), ProducerEpoch::new(0), 0);
    persist_until_done("a record that nobody asks for", || {
        let response = connection.call(11, &produce("u", 0, batch(&["hangs"], &stamp), Some("x")));
        ErrorCode::new(produced(&response).0)
    });
}
/// What the tool prints.
fn printed(bootstrap: &str, launcher: &Path) -> String {
    hang(bootstrap);
    let mut command = Command::new("sh");
    scripts::output_of(command.arg(scripts::path("transactions_tool.sh")).arg(bootstrap).arg(launcher))
}

#[test]
#[ignore = "needs java and Kafka's jars"]
fn kafkas_transactions_tool_prints_what_it_prints_on_a_real_kafka() {
    let kafka = RealKafka::up(&["--set", &format!("{VERIFICATION}=false")]);
    let real = printed(&kafka.bootstrap, &kafka.launcher);
    let builder = TestCluster::builder().config(VERIFICATION, "false").config("auto.create.topics.enable", "false");
    let cluster = builder.config("transaction.state.log.num.partitions", "4").try_start().expect("free ports");
    let ours = printed(&cluster.bootstrap_servers(), &kafka.launcher);
    assert!(real.contains("\nu 0 0 0 -1 0 1000 AGO"), "nothing hangs here:\n{real}");
    scripts::assert_same_lines(&ours, &real);
}

#[test]
fn a_partition_that_is_not_in_the_transaction_is_written_to_only_where_nobody_looks() {
    for (verifies, expected) in [("true", ErrorCode::TRANSACTION_ABORTABLE), ("false", ErrorCode::NONE)] {
        let builder = TestCluster::builder().topic("t", 1).config(VERIFICATION, verifies);
        let cluster = builder.try_start().expect("free ports");
        let mut producer = init(&cluster.bootstrap_servers());
        assert_eq!(producer.write(11, "a"), expected, "{verifies}");
    }
}
