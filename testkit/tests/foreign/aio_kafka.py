"""aiokafka against a cluster: records, groups that rebalance, seeks, transactions, topics. Usage: aio_kafka.py BOOTSTRAP"""

import asyncio
import sys

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

BOOTSTRAP = sys.argv[1]
PARTITIONS = [TopicPartition("aio", index) for index in range(3)]


async def produce():
    """Idempotent, batched and compressed: every record has an offset of its own, by partition."""
    async with AIOKafkaProducer(bootstrap_servers=BOOTSTRAP, enable_idempotence=True, compression_type="gzip") as producer:
        sent = [
            await producer.send("aio", f"value {number}".encode(), key=str(number).encode(), partition=number % 3, headers=[("n", str(number).encode())])
            for number in range(90)
        ]
        written = await asyncio.gather(*sent)
    for partition in range(3):
        assert [record.offset for record in written if record.partition == partition] == list(range(30))


def consumer(group, **options):
    return AIOKafkaConsumer(
        "aio", bootstrap_servers=BOOTSTRAP, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False, session_timeout_ms=45000,
        heartbeat_interval_ms=500, **options
    )


async def read(members, count):
    """What the members of a group get, until there are so many records."""
    got = []
    async with asyncio.timeout(180):
        while len(got) < count:
            for member in members:
                batches = await member.getmany(timeout_ms=100)
                got.extend(record for batch in batches.values() for record in batch)
    assert len(got) == count, f"{len(got)} records, not {count}"
    return got


async def groups():
    async with consumer("aio-group") as first:
        got = await read([first], 90)
        assert sorted(int(record.key) for record in got) == list(range(90))
        assert all(dict(record.headers)["n"] == record.key and record.value == b"value " + record.key for record in got)
        await first.commit()
        assert [await first.committed(partition) for partition in PARTITIONS] == [30, 30, 30]
        # A second member takes some of the partitions, and all come back when it leaves.
        async with consumer("aio-group") as second:
            async with asyncio.timeout(180):
                while not (second.assignment() and first.assignment() and not first.assignment() & second.assignment()):
                    await read([first, second], 0)
                    await asyncio.sleep(0.1)
            assert first.assignment() | second.assignment() == set(PARTITIONS)
        async with asyncio.timeout(180):
            while first.assignment() != set(PARTITIONS):
                await asyncio.sleep(0.1)


async def offsets():
    async with AIOKafkaConsumer(bootstrap_servers=BOOTSTRAP) as reader:
        reader.assign(PARTITIONS)
        assert set((await reader.beginning_offsets(PARTITIONS)).values()) == {0}
        assert set((await reader.end_offsets(PARTITIONS)).values()) == {30}
        found = await reader.offsets_for_times({partition: 0 for partition in PARTITIONS})
        assert [found[partition].offset for partition in PARTITIONS] == [0, 0, 0]
        for partition in PARTITIONS:
            reader.seek(partition, 25)
        got = await read([reader], 15)
        assert {record.offset for record in got} == set(range(25, 30))


async def transactions():
    """One is committed, with the group's offsets, and one aborted: who reads only what is committed sees the first."""
    async with AIOKafkaProducer(bootstrap_servers=BOOTSTRAP, transactional_id="aio-transactions") as producer:
        async with producer.transaction():
            await producer.send_and_wait("aio-committed", b"kept")
            await producer.send_offsets_to_transaction({PARTITIONS[0]: 17}, "aio-group")
        try:
            async with producer.transaction():
                await producer.send_and_wait("aio-committed", b"dropped")
                raise ValueError("changed its mind")
        except ValueError:
            pass
        async with producer.transaction():
            await producer.send_and_wait("aio-committed", b"kept too")
    options = {"bootstrap_servers": BOOTSTRAP, "auto_offset_reset": "earliest"}
    async with AIOKafkaConsumer("aio-committed", isolation_level="read_committed", **options) as reader:
        assert [record.value for record in await read([reader], 2)] == [b"kept", b"kept too"]
    async with AIOKafkaConsumer("aio-committed", isolation_level="read_uncommitted", **options) as reader:
        assert [record.value for record in await read([reader], 3)] == [b"kept", b"dropped", b"kept too"]
    async with consumer("aio-group") as member:
        async with asyncio.timeout(180):
            while not member.assignment():
                await asyncio.sleep(0.1)
        assert await member.committed(PARTITIONS[0]) == 17


async def main():
    admin = AIOKafkaAdminClient(bootstrap_servers=BOOTSTRAP)
    await admin.start()
    await admin.create_topics([NewTopic("aio", 3, 1), NewTopic("aio-committed", 1, 1)])
    assert {"aio", "aio-committed"} <= set(await admin.list_topics())
    described = await admin.describe_topics(["aio"])
    assert [len(topic["partitions"]) for topic in described] == [3], described
    await produce()
    await groups()
    await offsets()
    await transactions()
    groups_listed = [group[0] for group in await admin.list_consumer_groups()]
    assert "aio-group" in groups_listed, groups_listed
    committed = await admin.list_consumer_group_offsets("aio-group")
    assert committed[PARTITIONS[0]].offset == 17, committed
    await admin.delete_topics(["aio", "aio-committed"])
    assert not {"aio", "aio-committed"} & set(await admin.list_topics())
    await admin.close()
    print("ok")


asyncio.run(main())
