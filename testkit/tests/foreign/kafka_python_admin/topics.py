"""Topics, their records and their options."""

from kafka.admin import AlterConfigOp, ConfigResource, ConfigResourceType, NewPartitions, NewTopic, OffsetSpec
from kafka.errors import OffsetOutOfRangeError, TopicAlreadyExistsError, UnknownTopicOrPartitionError

from common import PARTITION, TOPIC, described, equal, offset, produce, refused, soon, until


def make(admin):
    wanted = NewTopic(TOPIC, num_partitions=2, replication_factor=1)
    tried = admin.create_topics([wanted], validate_only=True)
    equal([(topic["name"], topic["error_code"]) for topic in tried["topics"]], [(TOPIC, 0)])
    assert TOPIC not in admin.list_topics()
    [made] = admin.create_topics([wanted])["topics"]
    equal((made["name"], made["error_code"], made["num_partitions"], made["replication_factor"]), (TOPIC, 0, 2, 1))
    admin.wait_for_topics([TOPIC])
    assert TOPIC in admin.list_topics()
    refused(TopicAlreadyExistsError, admin.create_topics, [wanted])


def check(admin, bootstrap):
    grow(admin)
    records(admin, bootstrap)
    configs(admin)


def remove(admin):
    deleted = admin.delete_topics([TOPIC])
    equal([(topic["name"], topic["error_code"]) for topic in deleted["topics"]], [(TOPIC, 0)])
    until("the topic is gone", lambda: TOPIC not in admin.list_topics())
    refused(UnknownTopicOrPartitionError, admin.delete_topics, [TOPIC])


def grow(admin):
    grown = admin.create_partitions({TOPIC: NewPartitions(3)})
    equal([(result.name, result.error_code) for result in grown.results], [(TOPIC, 0)])
    found = until("the third partition is known", lambda: described(admin)[2:] and described(admin))
    equal([partition["partition_index"] for partition in found], [0, 1, 2])
    for partition in found:
        equal(partition["replica_nodes"], [partition["leader_id"]])
        equal(partition["isr_nodes"], [partition["leader_id"]])
    pages(admin)


def pages(admin):
    """Two partitions on the first page, one on the second."""
    first = admin.describe_topic_partitions([TOPIC], response_partition_limit=2)
    equal(first["next_cursor"], {"topic_name": TOPIC, "partition_index": 2})
    second = admin.describe_topic_partitions([TOPIC], cursor=first["next_cursor"])
    equal(second["next_cursor"], None)
    indexes = [[partition["partition_index"] for topic in page["topics"] for partition in topic["partitions"]] for page in [first, second]]
    equal(indexes, [[0, 1], [2]])


def records(admin, bootstrap):
    produce(bootstrap, 10)
    equal(offset(admin), 10)
    equal(admin.delete_records({PARTITION: 4})[PARTITION]["low_watermark"], 4)
    equal(offset(admin, OffsetSpec.EARLIEST), 4)
    refused(OffsetOutOfRangeError, admin.delete_records, {PARTITION: 11})


def value(admin, key):
    """An option's value, and where it comes from."""
    all_of_it = admin.describe_configs(options(None), config_filter="all")
    option = all_of_it["topic"][TOPIC][key]
    return option["value"], option["config_source"]


def options(values):
    return [ConfigResource(ConfigResourceType.TOPIC, TOPIC, values)]


def configs(admin):
    done = {"topic": {TOPIC: "OK"}}
    equal(admin.alter_configs(options({"retention.ms": "1"}), validate_only=True), done)
    soon(lambda: value(admin, "retention.ms"), ("604800000", "DEFAULT_CONFIG"))
    equal(admin.alter_configs(options({"retention.ms": "12345", "cleanup.policy": (AlterConfigOp.APPEND, "compact")})), done)
    soon(lambda: value(admin, "retention.ms"), ("12345", "DYNAMIC_TOPIC_CONFIG"))
    soon(lambda: value(admin, "cleanup.policy"), ("delete,compact", "DYNAMIC_TOPIC_CONFIG"))
    equal(admin.reset_configs(options({"cleanup.policy": None})), done)
    soon(lambda: value(admin, "cleanup.policy"), ("delete", "DEFAULT_CONFIG"))
    # The older request says all that is to be.
    equal(admin.alter_configs(options({"segment.bytes": "2000000"}), incremental=False), done)
    soon(lambda: value(admin, "segment.bytes"), ("2000000", "DYNAMIC_TOPIC_CONFIG"))
    equal(admin.reset_configs(options({})), done)
    soon(lambda: admin.describe_configs(options(None)), {"topic": {TOPIC: {}}})
    wrong = admin.alter_configs(options({"retention.ms": "soon"}))["topic"][TOPIC]
    assert "soon" in wrong and "retention.ms" in wrong, wrong
    assert TOPIC in admin.list_config_resources(["TOPIC"])["topic"]
