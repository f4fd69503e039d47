"""confluent-kafka (librdkafka) in groups of the consumer protocol (KIP-848), and beside members of the classic one. Usage: confluent_groups.py BOOTSTRAP"""

import sys
import time

from confluent_kafka import Consumer, ConsumerGroupState, ConsumerGroupType, Producer
from confluent_kafka.admin import AdminClient, NewTopic

BOOTSTRAP = sys.argv[1]
TOPIC = "groups"


def member(group, protocol="consumer", topics=(TOPIC,), **config):
    options = {"bootstrap.servers": BOOTSTRAP, "group.id": group, "group.protocol": protocol, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    options.update(config)
    consumer = Consumer(options)
    consumer.subscribe(list(topics))
    return consumer


def poll_until(members, is_done, what):
    """Polls all members until something holds."""
    deadline = time.time() + 180
    while not is_done() and time.time() < deadline:
        for consumer in members:
            record = consumer.poll(0.1)
            if record is not None:
                assert record.error() is None, record.error()
    assert is_done(), (what, [consumer.assignment() for consumer in members])


def owned(members):
    return sorted(partition.partition for consumer in members for partition in consumer.assignment())


def shares(members, *sizes):
    return lambda: sorted(len(consumer.assignment()) for consumer in members) == sorted(sizes) and owned(members) == list(range(sum(sizes)))


def describe(admin, group):
    return list(admin.describe_consumer_groups([group]).values())[0].result(timeout=180)


def produce():
    producer = Producer({"bootstrap.servers": BOOTSTRAP})
    for number in range(20):
        producer.produce(TOPIC, value=str(number), partition=number % 4)
    assert producer.flush(180) == 0


def sharing(admin):
    first = member("new")
    poll_until([first], shares([first], 4), "one has all")
    second = member("new")
    poll_until([first, second], shares([first, second], 2, 2), "two share")
    described = describe(admin, "new")
    assert described.type == ConsumerGroupType.CONSUMER and described.state == ConsumerGroupState.STABLE, (described.type, described.state)
    assert len(described.members) == 2, described.members
    # Only now, so that none is read twice.
    produce()
    values = []
    deadline = time.time() + 180
    while len(values) < 20 and time.time() < deadline:
        for consumer in [first, second]:
            record = consumer.poll(0.1)
            if record is not None:
                assert record.error() is None, record.error()
                values.append(record.value().decode())
    assert sorted(values, key=int) == [str(number) for number in range(20)], values
    first.commit(asynchronous=False)
    second.commit(asynchronous=False)
    second.close()
    poll_until([first], shares([first], 4), "the other has gone")
    first.close()
    assert describe(admin, "new").state == ConsumerGroupState.EMPTY


def static_member():
    first = member("static", **{"group.instance.id": "i"})
    poll_until([first], shares([first], 4), "a static member has all")
    first.close()
    again = member("static", **{"group.instance.id": "i"})
    poll_until([again], shares([again], 4), "it is back")
    again.close()


def expression(admin):
    consumer = member("expression", topics=["^group.*"])
    poll_until([consumer], shares([consumer], 4), "an expression matches the topic")
    consumer.close()


def assignor():
    pair = [member("range", **{"group.remote.assignor": "range"}) for _ in range(2)]
    poll_until(pair, shares(pair, 2, 2), "ranges")
    ranges = sorted(sorted(partition.partition for partition in consumer.assignment()) for consumer in pair)
    assert ranges == [[0, 1], [2, 3]], ranges
    for consumer in pair:
        consumer.close()


def migration(admin):
    old = member("moving", "classic", **{"session.timeout.ms": 45000})
    poll_until([old], shares([old], 4), "the old protocol")
    assert describe(admin, "moving").type == ConsumerGroupType.CLASSIC
    new = member("moving")
    poll_until([old, new], shares([old, new], 2, 2), "both protocols")
    assert describe(admin, "moving").type == ConsumerGroupType.CONSUMER
    new.close()
    poll_until([old], shares([old], 4), "the old protocol again")
    assert describe(admin, "moving").type == ConsumerGroupType.CLASSIC
    old.close()


def main():
    admin = AdminClient({"bootstrap.servers": BOOTSTRAP})
    for future in admin.create_topics([NewTopic(TOPIC, num_partitions=4, replication_factor=1)]).values():
        future.result(timeout=180)
    sharing(admin)
    static_member()
    expression(admin)
    assignor()
    migration(admin)
    print("ok")


main()
