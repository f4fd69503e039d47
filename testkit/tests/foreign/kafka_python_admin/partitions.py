"""Where replicas are and who leads them."""

from kafka.admin import NewTopic
from kafka.errors import ElectionNotNeededError, InvalidReplicationAssignmentError, LogDirNotFoundError, NoError, NoReassignmentInProgressError
from kafka.errors import UnknownTopicOrPartitionError
from kafka.structs import TopicPartition, TopicPartitionReplica

from common import PARTITION, TOPIC, broker_ids, described, equal, refused, soon

PREFERRED = 0
PAIR = "admin-pair"


def check(admin, _bootstrap):
    moves(admin)
    elections(admin)
    directories(admin)


def moves(admin):
    """A partition goes to another broker, and back is refused when nothing moves any more."""
    [partition] = described(admin)[:1]
    other = next(broker for broker in broker_ids(admin) if broker != partition["leader_id"])
    equal(admin.alter_partition_reassignments({PARTITION: [other]}), {PARTITION: None})
    for moving in admin.list_partition_reassignments().values():
        equal((moving["adding_replicas"], moving["removing_replicas"]), ([other], [partition["leader_id"]]))
    soon(lambda: admin.list_partition_reassignments([PARTITION]), {})
    soon(lambda: described(admin)[0]["leader_id"], other)
    equal(described(admin)[0]["replica_nodes"], [other])
    equal(admin.alter_partition_reassignments({PARTITION: None}), {PARTITION: NoReassignmentInProgressError})
    equal(admin.alter_partition_reassignments({PARTITION: [99]}), {PARTITION: InvalidReplicationAssignmentError})
    nothing = TopicPartition("admin-nothing", 0)
    equal(admin.alter_partition_reassignments({nothing: [other]}), {nothing: UnknownTopicOrPartitionError})


def elections(admin):
    """With its replicas in another order, a partition keeps its leader until there is an election."""
    first, second = broker_ids(admin)[:2]
    admin.create_topics([NewTopic(PAIR, replica_assignments={0: [first, second]})])
    admin.wait_for_topics([PAIR])
    partition = TopicPartition(PAIR, 0)
    soon(lambda: sorted(described(admin, PAIR)[0]["isr_nodes"]), [first, second])
    equal(results(admin.elect_leaders(PREFERRED, {PAIR: [0]})), {partition: ElectionNotNeededError.errno})
    equal(admin.alter_partition_reassignments({partition: [second, first]}), {partition: None})
    soon(lambda: described(admin, PAIR)[0]["replica_nodes"], [second, first])
    equal(described(admin, PAIR)[0]["leader_id"], first)
    equal(results(admin.elect_leaders(PREFERRED, {PAIR: [0]})), {partition: 0})
    soon(lambda: described(admin, PAIR)[0]["leader_id"], second)
    refused(UnknownTopicOrPartitionError, admin.elect_leaders, PREFERRED, {"admin-nothing": [0]})
    admin.delete_topics([PAIR])


def results(answer):
    found = answer.replica_election_results
    return {TopicPartition(topic.topic, partition.partition_id): partition.error_code for topic in found for partition in topic.partition_result}


def directories(admin):
    """A replica is moved to the directory in which it is, and not to one that is not there."""
    leader = described(admin)[0]["leader_id"]
    [holder] = [broker for broker in admin.describe_log_dirs({TOPIC: [0]}) if broker["broker"] == leader]
    [directory] = holder["log_dirs"]
    equal(directory["error_code"], 0)
    [topic] = directory["topics"]
    equal((topic["name"], [partition["partition_index"] for partition in topic["partitions"]]), (TOPIC, [0]))
    assert topic["partitions"][0]["partition_size"] > 0, topic
    replica = TopicPartitionReplica(TOPIC, 0, leader)
    equal(admin.alter_replica_log_dirs({replica: directory["log_dir"]}), {replica: NoError})
    equal(admin.alter_replica_log_dirs({replica: "/nowhere"}), {replica: LogDirNotFoundError})
