"""confluent-kafka (librdkafka) against a secured cluster. Usage: secured_confluent.py JSON, with the listeners' addresses and the PEM files.

admin is a super user; others may do what no rule denies them."""

import json
import sys
import time

from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

CLUSTER = json.loads(sys.argv[1])
TRUST = {"ssl.ca.location": CLUSTER["ca"]}
CERTIFICATE = {**TRUST, "ssl.certificate.location": CLUSTER["certificate"], "ssl.key.location": CLUSTER["key"]}


def options(protocol, **more):
    trust = TRUST if protocol.endswith("SSL") else {}
    return {"bootstrap.servers": CLUSTER[protocol], "security.protocol": protocol, **trust, **more}


def sasl(protocol, mechanism, user, password):
    return options(protocol, **{"sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": password})


def await_all(futures):
    return {key: future.result(timeout=180) for key, future in futures.items()}


def send(config, topic, count):
    """How each record ended."""
    ends = []
    producer = Producer({**config, "message.timeout.ms": 180000})
    for number in range(count):
        producer.produce(topic, str(number), on_delivery=lambda error, _: ends.append(error and error.code()))
    assert producer.flush(180) == 0
    return ends


def receive(config, group, topic, count):
    """Values, or the code of the first error."""
    consumer = Consumer({**config, "group.id": group, "auto.offset.reset": "earliest", "session.timeout.ms": 45000})
    consumer.subscribe([topic])
    values = []
    deadline = time.time() + 180
    while len(values) < count and time.time() < deadline:
        record = consumer.poll(0.2)
        if record is not None:
            if record.error() is not None:
                consumer.close()
                return record.error().code()
            values.append(record.value().decode())
    consumer.close()
    return values


def round_trip(config, topic):
    assert send(config, topic, 10) == [None] * 10
    values = receive(config, f"{topic}-group", topic, 10)
    assert values == [str(number) for number in range(10)], values


def refused(config, expected):
    """What a client is told that cannot prove who it is."""
    errors = []
    producer = Producer({**config, "error_cb": errors.append})
    deadline = time.time() + 180
    while time.time() < deadline and not any(error.code() == KafkaError._AUTHENTICATION for error in errors):
        producer.poll(0.1)
    assert any(expected in error.str() for error in errors), errors


admin_config = sasl("SASL_SSL", "SCRAM-SHA-512", "admin", "admin-secret")
admin = AdminClient(admin_config)
ways = [
    sasl(protocol, mechanism, "alice", "alice-secret")
    for protocol in ("SASL_PLAINTEXT", "SASL_SSL")
    for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
]
ways.append(
    options(
        "SASL_PLAINTEXT",
        **{
            "sasl.mechanism": "OAUTHBEARER",
            "enable.sasl.oauthbearer.unsecure.jwt": True,
            "sasl.oauthbearer.config": "principal=carol scope=kafka",
        },
    )
)
ways.append({**options("SSL"), **CERTIFICATE})
await_all(admin.create_topics([NewTopic(f"way-{index}", num_partitions=1) for index in range(len(ways))]))
for index, config in enumerate(ways):
    round_trip(config, f"way-{index}")

refused(sasl("SASL_PLAINTEXT", "PLAIN", "alice", "wrong"), "Invalid username or password")
refused(sasl("SASL_SSL", "SCRAM-SHA-256", "alice", "wrong"), "invalid credentials with SASL mechanism SCRAM-SHA-256")

described = await_all(admin.describe_user_scram_credentials(["alice"]))["alice"]
assert sorted(info.mechanism.name for info in described.scram_credential_infos) == ["SCRAM_SHA_256", "SCRAM_SHA_512"]
info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 8192)
await_all(admin.alter_user_scram_credentials([UserScramCredentialUpsertion("bob", info, b"bob-secret")]))
await_all(admin.create_topics([NewTopic("bobs", num_partitions=1)]))
round_trip(sasl("SASL_SSL", "SCRAM-SHA-256", "bob", "bob-secret"), "bobs")

await_all(admin.create_topics([NewTopic("ruled", num_partitions=1)]))
rules = [
    AclBinding(ResourceType.TOPIC, "rul", ResourcePatternType.PREFIXED, "User:alice", "*", AclOperation.WRITE, AclPermissionType.DENY),
    AclBinding(ResourceType.TOPIC, "ruled", ResourcePatternType.LITERAL, "User:CN=client", "*", AclOperation.READ, AclPermissionType.DENY),
    AclBinding(ResourceType.TOPIC, "ruled", ResourcePatternType.LITERAL, "User:*", "*", AclOperation.ALL, AclPermissionType.ALLOW),
]
await_all(admin.create_acls(rules))
everything = AclBindingFilter(
    ResourceType.ANY, None, ResourcePatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY
)
assert sorted(admin.describe_acls(everything).result(timeout=180)) == sorted(rules)
alice = sasl("SASL_PLAINTEXT", "PLAIN", "alice", "alice-secret")
assert send(alice, "ruled", 1) == [KafkaError.TOPIC_AUTHORIZATION_FAILED]
assert send(ways[-1], "ruled", 1) == [None]
assert receive(ways[-1], "ruled-group", "ruled", 1) == KafkaError.TOPIC_AUTHORIZATION_FAILED
assert receive(alice, "ruled-group-2", "ruled", 1) == ["0"]
deleted = await_all(admin.delete_acls([everything]))[everything]
assert sorted(deleted) == sorted(rules)
assert send(alice, "ruled", 1) == [None]
print("ok")
