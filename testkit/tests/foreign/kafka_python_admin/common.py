"""What the parts share: the topic, and ways to look."""

import time

from kafka import KafkaProducer, TopicPartition
from kafka.admin import OffsetSpec

TOPIC = "admin"
PARTITION = TopicPartition(TOPIC, 0)


def until(what, holds):
    """Waits for what a cluster does in its own time."""
    deadline = time.time() + 60
    while time.time() < deadline:
        found = holds()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"not in time: {what}")


def equal(found, expected):
    assert found == expected, f"found {found}, expected {expected}"


def soon(look, expected):
    """What a real cluster tells a broker in its own time is to be seen by and by."""
    try:
        until("", lambda: look() == expected)
    except AssertionError:
        equal(look(), expected)


def refused(error, call, *arguments, **options):
    try:
        found = call(*arguments, **options)
    except error:
        return
    raise AssertionError(f"{call.__name__} is to fail with {error.__name__}, but gives {found}")


def produce(bootstrap, count):
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    for number in range(count):
        producer.send(TOPIC, value=str(number).encode(), partition=0)
    producer.flush(timeout=30)
    producer.close()


def offset(admin, spec=OffsetSpec.LATEST, **options):
    listed = admin.list_partition_offsets({PARTITION: spec}, **options)
    equal(set(listed), {PARTITION})
    return listed[PARTITION].offset


def broker_ids(admin):
    return sorted(broker["broker_id"] for broker in admin.describe_cluster()["brokers"])


def described(admin, topic=TOPIC):
    """The topic's partitions, in order."""
    [found] = admin.describe_topics([topic])
    equal((found["error_code"], found["name"]), (0, topic))
    return sorted(found["partitions"], key=lambda partition: partition["partition_index"])
