"""Transactions: one that hangs is found, and ended by hand."""

import time

from kafka import KafkaProducer
from kafka.admin import AbortTransactionSpec, TransactionListing, TransactionState
from kafka.errors import TransactionalIdNotFoundError

from common import PARTITION, TOPIC, broker_ids, equal, offset, refused, soon

ID = "admin-transaction"
COMMITTED = {"isolation_level": "read_committed"}
# Of what has been going on for 5 min less than this, nothing hangs: so everything does.
ANY_AGE = -5 * 60 * 1000


def check(admin, bootstrap):
    before = int(time.time() * 1000)
    producer = KafkaProducer(bootstrap_servers=bootstrap, transactional_id=ID, transaction_timeout_ms=50000)
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(TOPIC, value=b"hangs", partition=0).get(timeout=30)
    transaction = described(admin, before)
    listed(admin, transaction.producer_id)
    hanging(admin, transaction)
    aborted(admin, transaction)
    producer.abort_transaction()
    producer.close()
    soon(lambda: admin.describe_transactions([ID])[ID].state, TransactionState.COMPLETE_ABORT)
    equal(admin.describe_transactions([ID])[ID].topic_partitions, set())


def described(admin, before):
    found = admin.describe_transactions([ID])
    equal(set(found), {ID})
    transaction = found[ID]
    equal((transaction.state, transaction.transaction_timeout_ms, transaction.topic_partitions), (TransactionState.ONGOING, 50000, {PARTITION}))
    assert before <= transaction.transaction_start_time_ms <= time.time() * 1000, transaction
    assert transaction.coordinator_id in broker_ids(admin), transaction
    refused(TransactionalIdNotFoundError, admin.describe_transactions, ["admin-nothing"])
    return transaction


def listed(admin, producer_id):
    """It is listed by its coordinator, if the filters let it."""
    it = [TransactionListing(ID, producer_id, TransactionState.ONGOING)]
    same = [{"state_filters": ["Ongoing"]}, {"producer_id_filters": [producer_id]}, {"duration_filter_ms": 0}, {"transactional_id_pattern": "x|admin-[s-u].*"}]
    other = [{"state_filters": ["Empty"]}, {"producer_id_filters": [producer_id + 1000]}, {"duration_filter_ms": 10**9}, {"transactional_id_pattern": "admin"}]
    for filters, expected in [({}, it), *[(filters, it) for filters in same], *[(filters, []) for filters in other]]:
        found = admin.list_transactions(**filters)
        equal(sorted(found), broker_ids(admin))
        equal([each for listing in found.values() for each in listing if each.transactional_id == ID], expected)


def hanging(admin, transaction):
    equal(admin.find_hanging_transactions(), [])
    [found] = admin.find_hanging_transactions(max_transaction_timeout_ms=ANY_AGE)
    assert found.pop("age_ms") >= 0, found
    of = {"transactional_id": ID, "producer_id": transaction.producer_id, "producer_epoch": transaction.producer_epoch, "state": "Ongoing"}
    equal(found, {**of, "coordinator_id": transaction.coordinator_id, "topic_partitions": [PARTITION]})


def writer(admin, transaction):
    """What the partition's leader knows of the producer."""
    found = admin.describe_producers([PARTITION])
    equal(set(found), {PARTITION})
    [one] = [producer for producer in found[PARTITION].active_producers if producer.producer_id == transaction.producer_id]
    return one


def aborted(admin, transaction):
    """The record holds up those who read what is committed, until the marker is behind it."""
    one = writer(admin, transaction)
    equal((one.producer_epoch, one.last_sequence, one.current_transaction_start_offset), (transaction.producer_epoch, 0, 10))
    equal((offset(admin), offset(admin, **COMMITTED)), (11, 10))
    equal(admin.abort_transaction(AbortTransactionSpec(PARTITION, transaction.producer_id, transaction.producer_epoch)), None)
    equal(writer(admin, transaction).current_transaction_start_offset, -1)
    soon(lambda: (offset(admin), offset(admin, **COMMITTED)), (12, 12))
