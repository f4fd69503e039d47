"""kafka-python against a cluster: topics, records, groups, offsets. Usage: kafka_python.py BOOTSTRAP"""

import sys
import time

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic

BOOTSTRAP = sys.argv[1].split(",")


def records():
    producer = KafkaProducer(bootstrap_servers=BOOTSTRAP, compression_type="gzip", acks="all")
    sent = [producer.send("python", key=str(number).encode(), value=f"value {number}".encode(), headers=[("n", b"1")]) for number in range(60)]
    producer.flush(timeout=180)
    assert all(future.get(timeout=180).offset >= 0 for future in sent)
    producer.close()


def consume():
    consumer = KafkaConsumer(
        "python", bootstrap_servers=BOOTSTRAP, group_id="python-group", auto_offset_reset="earliest", enable_auto_commit=False, session_timeout_ms=45000
    )
    got = []
    deadline = time.time() + 180
    while len(got) < 60 and time.time() < deadline:
        for batch in consumer.poll(timeout_ms=200).values():
            got.extend(batch)
    assert sorted(int(record.key) for record in got) == list(range(60)), len(got)
    consumer.commit()
    return consumer


def groups(admin, consumer):
    listed = [group["group_id"] if isinstance(group, dict) else group[0] for group in admin.list_groups()]
    assert "python-group" in listed, listed
    described = admin.describe_groups(["python-group"])["python-group"]
    assert described["group_state"] == "Stable" and len(described["members"]) == 1, described
    committed = [consumer.committed(TopicPartition("python", index)) or 0 for index in range(2)]
    assert sum(committed) == 60, committed
    ends = consumer.end_offsets([TopicPartition("python", index) for index in range(2)])
    assert sum(ends.values()) == 60, ends
    offsets = admin.list_group_offsets("python-group")["python-group"]
    assert {partition: offset.offset for partition, offset in offsets.items() if offset.offset} == {
        TopicPartition("python", index): committed[index] for index in range(2) if committed[index]
    }, offsets
    consumer.close()


def main():
    admin = KafkaAdminClient(bootstrap_servers=BOOTSTRAP)
    admin.create_topics([NewTopic("python", num_partitions=2, replication_factor=1)])
    assert "python" in admin.list_topics()
    described = admin.describe_topics(["python"])
    assert len(described[0]["partitions"]) == 2, described
    records()
    consumer = consume()
    groups(admin, consumer)
    admin.delete_topics(["python"])
    assert "python" not in admin.list_topics()
    print("ok")


main()
