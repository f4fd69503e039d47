"""confluent-kafka (librdkafka) against a cluster: topics, records, groups, offsets, transactions. Usage: confluent.py BOOTSTRAP"""

import sys
import time

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, ElectionType, IsolationLevel, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic, OffsetSpec, ResourceType

BOOTSTRAP = sys.argv[1]
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def await_all(futures):
    return {key: future.result(timeout=180) for key, future in futures.items()}


def consume(group, topic, count, **config):
    options = {
        "bootstrap.servers": BOOTSTRAP,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": 45000,
        "heartbeat.interval.ms": 300,
    }
    options.update(config)
    consumer = Consumer(options)
    consumer.subscribe([topic])
    records = []
    deadline = time.time() + 180
    while len(records) < count and time.time() < deadline:
        record = consumer.poll(0.2)
        if record is not None:
            assert record.error() is None, record.error()
            records.append(record)
    return consumer, records


def topics(admin):
    await_all(admin.create_topics([NewTopic("confluent-txn", num_partitions=1, replication_factor=1)]))
    await_all(admin.create_topics([NewTopic("confluent", num_partitions=3, replication_factor=1, config={"retention.ms": "1000000"})]))
    metadata = admin.list_topics(timeout=180)
    assert len(metadata.topics["confluent"].partitions) == 3, metadata.topics
    described = await_all(admin.describe_topics(TopicCollection(["confluent"])))
    assert len(described["confluent"].partitions) == 3
    resource = ConfigResource(ResourceType.TOPIC, "confluent")
    configs = await_all(admin.describe_configs([resource]))[resource]
    assert configs["retention.ms"].value == "1000000", configs["retention.ms"]
    await_all(admin.create_partitions([NewPartitions("confluent", 4)]))
    # librdkafka's admin client goes by the metadata that it has.
    assert len(admin.list_topics(timeout=180).topics["confluent"].partitions) == 4
    cluster = admin.describe_cluster().result(timeout=180)
    assert len(cluster.nodes) >= 1


def option(admin, name):
    """An option's value, and whether it is the default."""
    resource = ConfigResource(ResourceType.TOPIC, "confluent")
    entry = await_all(admin.describe_configs([resource]))[resource][name]
    return entry.value, entry.is_default


def becomes(look, expected):
    """What a real cluster tells a broker in its own time is to be seen by and by."""
    deadline = time.time() + 180
    while look() != expected and time.time() < deadline:
        time.sleep(0.05)
    assert look() == expected, (look(), expected)


def configs(admin):
    """One by one, which leaves the others alone, and all at once, which does not."""
    changes = [("cleanup.policy", "compact", AlterConfigOpType.APPEND), ("max.message.bytes", "2000000", AlterConfigOpType.SET)]
    entries = [ConfigEntry(name, value, incremental_operation=operation) for name, value, operation in changes]
    await_all(admin.incremental_alter_configs([ConfigResource(ResourceType.TOPIC, "confluent", incremental_configs=entries)]))
    becomes(lambda: option(admin, "cleanup.policy"), ("delete,compact", False))
    becomes(lambda: option(admin, "max.message.bytes"), ("2000000", False))
    assert option(admin, "retention.ms") == ("1000000", False)
    await_all(admin.alter_configs([ConfigResource(ResourceType.TOPIC, "confluent", set_config={"retention.ms": "2000000"})]))
    becomes(lambda: option(admin, "retention.ms"), ("2000000", False))
    becomes(lambda: option(admin, "cleanup.policy"), ("delete", True))
    entry = ConfigEntry("retention.ms", "soon", incremental_operation=AlterConfigOpType.SET)
    [refused] = admin.incremental_alter_configs([ConfigResource(ResourceType.TOPIC, "confluent", incremental_configs=[entry])]).values()
    error = refused.exception(timeout=180)
    assert isinstance(error, KafkaException) and error.args[0].code() == KafkaError.INVALID_CONFIG, error


def elections(admin):
    """The leader is the preferred one already; a topic that is not there is told."""
    asked = [TopicPartition("confluent", 0), TopicPartition("confluent-nothing", 0)]
    found = admin.elect_leaders(ElectionType.PREFERRED, asked).result(timeout=180)
    codes = {partition.topic: error.code() for partition, error in found.items()}
    assert codes == {"confluent": KafkaError.ELECTION_NOT_NEEDED, "confluent-nothing": KafkaError.UNKNOWN_TOPIC_OR_PART}, found


def records():
    for index, codec in enumerate(CODECS):
        producer = Producer({"bootstrap.servers": BOOTSTRAP, "compression.type": codec, "enable.idempotence": index % 2 == 0, "linger.ms": 5})
        for number in range(20):
            producer.produce("confluent", key=f"{codec}-{number}", value=f"{number}" * 20, headers={"codec": codec}, partition=number % 4)
        producer.produce("confluent", key=f"{codec}-null", value=None, partition=0)
        assert producer.flush(180) == 0
    count = len(CODECS) * 21
    consumer, got = consume("confluent-group", "confluent", count)
    assert len(got) == count, len(got)
    assert {record.key().decode().split("-")[0] for record in got} == set(CODECS)
    nulls = [record for record in got if record.value() is None]
    assert len(nulls) == len(CODECS)
    assert all(record.headers()[0][0] == "codec" for record in got if record.value() is not None)
    return consumer, count


def groups(admin, consumer, count):
    consumer.commit(asynchronous=False)
    listed = admin.list_consumer_groups().result(timeout=180).valid
    assert any(group.group_id == "confluent-group" for group in listed), listed
    described = await_all(admin.describe_consumer_groups(["confluent-group"]))["confluent-group"]
    assert described.state.name == "STABLE" and len(described.members) == 1, described
    assert len(described.members[0].assignment.topic_partitions) == 4
    asked = [ConsumerGroupTopicPartitions("confluent-group")]
    offsets = await_all(admin.list_consumer_group_offsets(asked))["confluent-group"].topic_partitions
    assert sum(each.offset for each in offsets) == count, offsets
    ends = await_all(admin.list_offsets({TopicPartition("confluent", index): OffsetSpec.latest() for index in range(4)}))
    assert sum(result.offset for result in ends.values()) == count
    consumer.close()
    empty = await_all(admin.describe_consumer_groups(["confluent-group"]))["confluent-group"]
    assert empty.state.name == "EMPTY", empty.state
    wanted = [TopicPartition("confluent", index, index + 1) for index in range(4)]
    altered = await_all(admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions("confluent-group", wanted)]))["confluent-group"]
    assert all(each.error is None for each in altered.topic_partitions), altered.topic_partitions
    offsets = await_all(admin.list_consumer_group_offsets(asked))["confluent-group"].topic_partitions
    assert sorted((each.partition, each.offset) for each in offsets) == [(index, index + 1) for index in range(4)], offsets


def rebalance():
    first, _ = consume("confluent-two", "confluent", 1, **{"partition.assignment.strategy": "cooperative-sticky"})
    second, _ = consume("confluent-two", "confluent", 0, **{"partition.assignment.strategy": "cooperative-sticky"})
    deadline = time.time() + 180
    while time.time() < deadline and not (len(first.assignment()) == 2 and len(second.assignment()) == 2):
        first.poll(0.1)
        second.poll(0.1)
    assert len(first.assignment()) == 2 and len(second.assignment()) == 2, (first.assignment(), second.assignment())
    first.close()
    second.close()


def transactions():
    producer = Producer({"bootstrap.servers": BOOTSTRAP, "transactional.id": "confluent-txn"})
    producer.init_transactions(180)
    for value, end in [("kept", producer.commit_transaction), ("dropped", producer.abort_transaction), ("kept too", producer.commit_transaction)]:
        producer.begin_transaction()
        producer.produce("confluent-txn", value=value)
        producer.flush(180)
        end()
    consumer, got = consume("confluent-txn-group", "confluent-txn", 2, **{"isolation.level": "read_committed"})
    assert [record.value().decode() for record in got] == ["kept", "kept too"], got
    producer.begin_transaction()
    producer.produce("confluent-txn", value="with offsets")
    producer.send_offsets_to_transaction(consumer.position(consumer.assignment()), consumer.consumer_group_metadata())
    producer.commit_transaction()
    committed = consumer.committed(consumer.assignment(), timeout=180)
    assert committed[0].offset == consumer.position(consumer.assignment())[0].offset, committed
    consumer.close()


def deletions(admin):
    await_all(admin.delete_consumer_groups(["confluent-group"]))
    await_all(admin.delete_records([TopicPartition("confluent", 0, 5)]))
    starts = await_all(admin.list_offsets({TopicPartition("confluent", 0): OffsetSpec.earliest()}, isolation_level=IsolationLevel.READ_COMMITTED))
    assert [result.offset for result in starts.values()] == [5]
    await_all(admin.delete_topics(["confluent", "confluent-txn"]))
    assert "confluent" not in admin.list_topics(timeout=180).topics


def main():
    admin = AdminClient({"bootstrap.servers": BOOTSTRAP})
    topics(admin)
    configs(admin)
    elections(admin)
    consumer, count = records()
    groups(admin, consumer, count)
    rebalance()
    transactions()
    deletions(admin)
    print("ok")


main()
