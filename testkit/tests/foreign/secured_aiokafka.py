"""aiokafka against a secured cluster. Usage: secured_aiokafka.py JSON, with the listeners' addresses and the PEM files."""

import asyncio
import json
import sys
import time
from base64 import urlsafe_b64encode

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.abc import AbstractTokenProvider
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.client import AIOKafkaClient
from aiokafka.errors import AuthenticationFailedError, KafkaConnectionError, TopicAuthorizationFailedError
from aiokafka.helpers import create_ssl_context
from aiokafka.protocol.admin import CreateAclsRequest

CLUSTER = json.loads(sys.argv[1])


class Unsecured(AbstractTokenProvider):
    """A token without a signature, as Kafka's own login makes it."""

    async def token(self):
        part = lambda fields: urlsafe_b64encode(json.dumps(fields).encode()).rstrip(b"=").decode()
        now = int(time.time())
        return f'{part({"alg": "none"})}.{part({"sub": "alice", "iat": now, "exp": now + 3600})}.'


def options(protocol, certificate=False, **more):
    config = {"bootstrap_servers": CLUSTER[protocol], "security_protocol": protocol, **more}
    if protocol.endswith("SSL"):
        files = {"certfile": CLUSTER["certificate"], "keyfile": CLUSTER["key"]} if certificate else {}
        config["ssl_context"] = create_ssl_context(cafile=CLUSTER["ca"], **files)
    return config


def sasl(protocol, mechanism, user="alice", password="alice-secret"):
    return options(protocol, sasl_mechanism=mechanism, sasl_plain_username=user, sasl_plain_password=password)


async def round_trip(config, topic):
    async with AIOKafkaProducer(**config) as producer:
        for number in range(5):
            await producer.send_and_wait(topic, str(number).encode())
    consumer = AIOKafkaConsumer(topic, group_id=f"{topic}-group", auto_offset_reset="earliest", **config)
    async with consumer, asyncio.timeout(180):
        values = [(await consumer.getone()).value.decode() for _ in range(5)]
    assert values == [str(number) for number in range(5)], values


async def refused(config):
    producer = AIOKafkaProducer(**config)
    try:
        await producer.start()
        raise AssertionError("a wrong password was taken")
    except (AuthenticationFailedError, KafkaConnectionError):
        pass
    finally:
        await producer.stop()


async def deny(config, topic):
    """Alice may not write to it any more. The admin client has no call for rules."""
    client = AIOKafkaClient(**config)
    await client.bootstrap()
    node = client.get_random_node()
    assert await client.ready(node)
    is_topic, is_literal, to_write, is_denied = 2, 3, 4, 2
    response = await client.send(node, CreateAclsRequest(is_topic, topic, is_literal, "User:alice", "*", to_write, is_denied))
    assert [made[0] for made in response.creation_responses] == [0], response
    await client.close()


async def main():
    admin_options = sasl("SASL_SSL", "SCRAM-SHA-256", "admin", "admin-secret")
    admin = AIOKafkaAdminClient(**admin_options)
    await admin.start()
    ways = {
        "aio-plain": sasl("SASL_PLAINTEXT", "PLAIN"),
        "aio-scram-256": sasl("SASL_SSL", "SCRAM-SHA-256"),
        "aio-scram-512": sasl("SASL_SSL", "SCRAM-SHA-512"),
        "aio-token": options("SASL_SSL", sasl_mechanism="OAUTHBEARER", sasl_oauth_token_provider=Unsecured()),
        "aio-certificate": options("SSL", certificate=True),
    }
    await admin.create_topics([NewTopic(name, 1, 1) for name in ways])
    for topic, config in ways.items():
        await round_trip(config, topic)
    for mechanism in ("PLAIN", "SCRAM-SHA-256"):
        await refused(sasl("SASL_PLAINTEXT", mechanism, password="wrong"))
    await deny(admin_options, "aio-plain")
    async with AIOKafkaProducer(**ways["aio-plain"]) as producer:
        try:
            await producer.send_and_wait("aio-plain", b"x")
            raise AssertionError("alice may not write")
        except TopicAuthorizationFailedError:
            pass
    await admin.close()
    print("ok")


asyncio.run(main())
