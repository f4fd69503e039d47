"""Every call of kafka-python's admin client that the broker serves, each with a look at what came of it. Usage: kafka_python_admin.py BOOTSTRAP"""

import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewPartitions, NewTopic, OffsetSpec
from kafka.structs import OffsetAndMetadata

BOOTSTRAP = sys.argv[1].split(",")
TOPIC = "admin"
PARTITION = TopicPartition(TOPIC, 0)


def topics(admin):
    admin.create_topics([NewTopic(TOPIC, num_partitions=2, replication_factor=1)])
    admin.wait_for_topics([TOPIC])
    assert TOPIC in admin.list_topics()
    admin.create_partitions({TOPIC: NewPartitions(3)})
    described = admin.describe_topics([TOPIC])
    assert len(described[0]["partitions"]) == 3, described
    paged = str(admin.describe_topic_partitions([TOPIC]))
    assert TOPIC in paged, paged


def records(admin):
    producer = KafkaProducer(bootstrap_servers=BOOTSTRAP)
    for number in range(10):
        producer.send(TOPIC, value=str(number).encode(), partition=0)
    producer.flush(timeout=30)
    producer.close()
    ends = admin.list_partition_offsets({PARTITION: OffsetSpec.LATEST})
    assert "10" in str(ends), ends
    admin.delete_records({PARTITION: 4})
    starts = admin.list_partition_offsets({PARTITION: OffsetSpec.EARLIEST})
    assert "4" in str(starts), starts


def configs(admin):
    resource = ConfigResource(ConfigResourceType.TOPIC, TOPIC, {"retention.ms": "12345"})
    admin.alter_configs([resource])
    described = str(admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, TOPIC)]))
    assert "12345" in described, described
    admin.reset_configs([ConfigResource(ConfigResourceType.TOPIC, TOPIC, {"retention.ms": None})])
    described = str(admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, TOPIC)]))
    assert "12345" not in described, described
    listed = str(admin.list_config_resources())
    assert TOPIC in listed, listed


def groups(admin):
    consumer = KafkaConsumer(TOPIC, bootstrap_servers=BOOTSTRAP, group_id="admin-group", session_timeout_ms=6000, auto_offset_reset="earliest")
    for _ in range(100):
        if consumer.poll(timeout_ms=200):
            break
    consumer.commit()
    listed = str(admin.list_groups(states_filter=["Stable"]))
    assert "admin-group" in listed, listed
    described = str(admin.describe_groups(["admin-group"]))
    assert "Stable" in described and "range" in described, described
    consumer.close()
    described = str(admin.describe_groups(["admin-group"]))
    assert "Empty" in described, described
    admin.alter_group_offsets("admin-group", {PARTITION: OffsetAndMetadata(7, "by hand", -1)})
    offsets = str(admin.list_group_offsets("admin-group"))
    assert "by hand" in offsets and "7" in offsets, offsets
    admin.delete_group_offsets("admin-group", [PARTITION])
    offsets = str(admin.list_group_offsets("admin-group"))
    assert "by hand" not in offsets, offsets
    admin.delete_groups(["admin-group"])
    assert "admin-group" not in str(admin.list_groups())


def cluster(admin):
    described = admin.describe_cluster()
    assert len(described["brokers"]) >= 1, described
    features = str(admin.describe_features())
    assert "transaction.version" in features and "group.version" in features, features
    directories = str(admin.describe_log_dirs())
    assert TOPIC in directories, directories
    quorum = str(admin.describe_metadata_quorum())
    assert "leader" in quorum.lower(), quorum
    assert admin.list_transactions() is not None


def main():
    admin = KafkaAdminClient(bootstrap_servers=BOOTSTRAP)
    topics(admin)
    records(admin)
    configs(admin)
    groups(admin)
    cluster(admin)
    admin.delete_topics([TOPIC])
    assert TOPIC not in admin.list_topics()
    admin.close()
    print("ok")


main()
