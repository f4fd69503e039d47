"""confluent-kafka (librdkafka) against a cluster: topics, records, groups, offsets, transactions. Usage: confluent.py BOOTSTRAP"""

import sys
import time

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, IsolationLevel, Producer, TopicPartition, TopicCollection
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic, OffsetSpec, ResourceType

BOOTSTRAP = sys.argv[1]
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def await_all(futures):
    return {key: future.result(timeout=30) for key, future in futures.items()}


def consume(group, topic, count, **config):
    options = {
        "bootstrap.servers": BOOTSTRAP,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 300,
    }
    options.update(config)
    consumer = Consumer(options)
    consumer.subscribe([topic])
    records = []
    deadline = time.time() + 30
    while len(records) < count and time.time() < deadline:
        record = consumer.poll(0.2)
        if record is not None:
            assert record.error() is None, record.error()
            records.append(record)
    return consumer, records


def topics(admin):
    await_all(admin.create_topics([NewTopic("confluent-txn", num_partitions=1, replication_factor=1)]))
    await_all(admin.create_topics([NewTopic("confluent", num_partitions=3, replication_factor=1, config={"retention.ms": "1000000"})]))
    metadata = admin.list_topics(timeout=30)
    assert len(metadata.topics["confluent"].partitions) == 3, metadata.topics
    described = await_all(admin.describe_topics(TopicCollection(["confluent"])))
    assert len(described["confluent"].partitions) == 3
    resource = ConfigResource(ResourceType.TOPIC, "confluent")
    configs = await_all(admin.describe_configs([resource]))[resource]
    assert configs["retention.ms"].value == "1000000", configs["retention.ms"]
    await_all(admin.create_partitions([NewPartitions("confluent", 4)]))
    # librdkafka's admin client goes by the metadata that it has.
    assert len(admin.list_topics(timeout=30).topics["confluent"].partitions) == 4
    cluster = admin.describe_cluster().result(timeout=30)
    assert len(cluster.nodes) >= 1


def records():
    for index, codec in enumerate(CODECS):
        producer = Producer({"bootstrap.servers": BOOTSTRAP, "compression.type": codec, "enable.idempotence": index % 2 == 0, "linger.ms": 5})
        for number in range(20):
            producer.produce("confluent", key=f"{codec}-{number}", value=f"{number}" * 20, headers={"codec": codec}, partition=number % 4)
        producer.produce("confluent", key=f"{codec}-null", value=None, partition=0)
        assert producer.flush(30) == 0
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
    listed = admin.list_consumer_groups().result(timeout=30).valid
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


def rebalance():
    first, _ = consume("confluent-two", "confluent", 1, **{"partition.assignment.strategy": "cooperative-sticky"})
    second, _ = consume("confluent-two", "confluent", 0, **{"partition.assignment.strategy": "cooperative-sticky"})
    deadline = time.time() + 30
    while time.time() < deadline and not (len(first.assignment()) == 2 and len(second.assignment()) == 2):
        first.poll(0.1)
        second.poll(0.1)
    assert len(first.assignment()) == 2 and len(second.assignment()) == 2, (first.assignment(), second.assignment())
    first.close()
    second.close()


def transactions():
    producer = Producer({"bootstrap.servers": BOOTSTRAP, "transactional.id": "confluent-txn"})
    producer.init_transactions(30)
    for value, end in [("kept", producer.commit_transaction), ("dropped", producer.abort_transaction), ("kept too", producer.commit_transaction)]:
        producer.begin_transaction()
        producer.produce("confluent-txn", value=value)
        producer.flush(30)
        end()
    consumer, got = consume("confluent-txn-group", "confluent-txn", 2, **{"isolation.level": "read_committed"})
    assert [record.value().decode() for record in got] == ["kept", "kept too"], got
    producer.begin_transaction()
    producer.produce("confluent-txn", value="with offsets")
    producer.send_offsets_to_transaction(consumer.position(consumer.assignment()), consumer.consumer_group_metadata())
    producer.commit_transaction()
    committed = consumer.committed(consumer.assignment(), timeout=30)
    assert committed[0].offset == consumer.position(consumer.assignment())[0].offset, committed
    consumer.close()


def deletions(admin):
    await_all(admin.delete_consumer_groups(["confluent-group"]))
    await_all(admin.delete_records([TopicPartition("confluent", 0, 5)]))
    starts = await_all(admin.list_offsets({TopicPartition("confluent", 0): OffsetSpec.earliest()}, isolation_level=IsolationLevel.READ_COMMITTED))
    assert [result.offset for result in starts.values()] == [5]
    await_all(admin.delete_topics(["confluent", "confluent-txn"]))
    assert "confluent" not in admin.list_topics(timeout=30).topics


def main():
    admin = AdminClient({"bootstrap.servers": BOOTSTRAP})
    topics(admin)
    consumer, count = records()
    groups(admin, consumer, count)
    rebalance()
    transactions()
    deletions(admin)
    print("ok")


main()
