"""Groups, their members and their offsets."""

import time

from kafka import KafkaConsumer
from kafka.admin import MemberToRemove, OffsetSpec, OffsetTimestamp
from kafka.errors import NoError, UnknownMemberIdError
from kafka.structs import OffsetAndMetadata

from common import PARTITION, TOPIC, equal

GROUP = "admin-group"


def check(admin, bootstrap):
    consumer = member(bootstrap)
    members(admin, consumer)
    consumer.close()
    offsets(admin)
    equal(admin.delete_groups([GROUP]), {GROUP: "OK"})
    equal(admin.delete_groups([GROUP]), {GROUP: "GroupIdNotFoundError"})
    assert GROUP not in [group["group_id"] for group in admin.list_groups()]


def member(bootstrap):
    """A consumer that has read the six records that are left, and says so. Now and then kafka-python's never asks to join (on a real Kafka, too):
    then another one does."""
    options = {"session_timeout_ms": 6000, "auto_offset_reset": "earliest", "enable_auto_commit": False, "client_id": "admin-member"}
    for _ in range(5):
        consumer = KafkaConsumer(TOPIC, bootstrap_servers=bootstrap, group_id=GROUP, **options)
        if reads(consumer, 6):
            consumer.commit()
            return consumer
        consumer.close()
    raise AssertionError("the records are not read")


def reads(consumer, count):
    """Whether it reads so many records before it is given up: late only where it has got partitions."""
    got, begun = 0, time.time()
    while got < count and time.time() < begun + (60 if consumer.assignment() else 10):
        got += sum(map(len, consumer.poll(timeout_ms=200).values()))
    return got == count


def group(admin):
    found = admin.describe_groups([GROUP])
    equal(set(found), {GROUP})
    equal(found[GROUP]["error"], None)
    return found[GROUP]


def members(admin, consumer):
    listed = [(each["group_id"], each["protocol_type"]) for each in admin.list_groups(states_filter=["Stable"])]
    assert (GROUP, "consumer") in listed, listed
    assert GROUP not in [each["group_id"] for each in admin.list_groups(states_filter=["Empty"])]
    found = group(admin)
    equal((found["group_state"], found["protocol_type"], found["protocol_data"]), ("Stable", "consumer", "range"))
    [one] = found["members"]
    equal(one["client_id"], "admin-member")
    equal(committed(admin)[PARTITION].offset, consumer.position(PARTITION))
    member_id = one["member_id"]
    equal(admin.remove_group_members(GROUP, [MemberToRemove(member_id=member_id, reason="by hand")]), {member_id: NoError})
    found = group(admin)
    equal((found["group_state"], found["members"]), ("Empty", []))
    equal(admin.remove_group_members(GROUP, [MemberToRemove(member_id=member_id)]), {member_id: UnknownMemberIdError})


def committed(admin):
    return admin.list_group_offsets(GROUP)[GROUP]


def offsets(admin):
    by_hand = OffsetAndMetadata(7, "by hand", -1)
    equal(admin.alter_group_offsets(GROUP, {PARTITION: by_hand}), {PARTITION: NoError})
    equal(committed(admin)[PARTITION], by_hand)
    # The first record that is left, the end, a number, one that is beyond the end, a time before all, and one after all.
    wanted = [(OffsetSpec.EARLIEST, 4), (OffsetSpec.LATEST, 10), (5, 5), (99, 10), (OffsetTimestamp(0), 4), (OffsetTimestamp(2**42), 10)]
    for spec, offset in wanted:
        equal(admin.reset_group_offsets(GROUP, {PARTITION: spec}), {PARTITION: {"error": NoError, "offset": offset}})
        equal(committed(admin)[PARTITION], by_hand._replace(offset=offset))
    equal(admin.delete_group_offsets(GROUP, [PARTITION]), {PARTITION: NoError})
    assert PARTITION not in committed(admin), committed(admin)
