"""kafka-python against a secured cluster. Usage: secured_kafka_python.py JSON, with the listeners' addresses and the PEM files."""

import json
import sys

from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import ACL, ACLFilter, ACLOperation, ACLPermissionType, ACLResourcePatternType, KafkaAdminClient, NewTopic, ResourcePattern, ResourcePatternFilter, ResourceType
from kafka.errors import TopicAuthorizationFailedError

CLUSTER = json.loads(sys.argv[1])


def options(protocol, **more):
    config = {"bootstrap_servers": CLUSTER[protocol].split(","), "security_protocol": protocol, **more}
    if protocol.endswith("SSL"):
        config["ssl_cafile"] = CLUSTER["ca"]
    return config


def sasl(protocol, mechanism, user="alice", password="alice-secret"):
    return options(protocol, sasl_mechanism=mechanism, sasl_plain_username=user, sasl_plain_password=password)


def round_trip(config, topic):
    producer = KafkaProducer(**config)
    for number in range(5):
        producer.send(topic, str(number).encode()).get(timeout=180)
    producer.close()
    consumer = KafkaConsumer(topic, group_id=f"{topic}-group", auto_offset_reset="earliest", consumer_timeout_ms=180000, **config)
    values = [next(consumer).value.decode() for _ in range(5)]
    consumer.close()
    assert values == [str(number) for number in range(5)], values


admin = KafkaAdminClient(**sasl("SASL_SSL", "SCRAM-SHA-256", "admin", "admin-secret"))
ways = {
    "python-plain": sasl("SASL_PLAINTEXT", "PLAIN"),
    "python-scram-256": sasl("SASL_SSL", "SCRAM-SHA-256"),
    "python-scram-512": sasl("SASL_SSL", "SCRAM-SHA-512"),
    "python-certificate": options("SSL", ssl_certfile=CLUSTER["certificate"], ssl_keyfile=CLUSTER["key"]),
}
admin.create_topics([NewTopic(name, 1, 1) for name in ways])
for topic, config in ways.items():
    round_trip(config, topic)

rule = ACL("User:alice", "*", ACLOperation.WRITE, ACLPermissionType.DENY, ResourcePattern(ResourceType.TOPIC, "python-plain"))
made = admin.create_acls([rule])
assert len(made["succeeded"]) == 1, made
everything = ACLFilter(None, None, ACLOperation.ANY, ACLPermissionType.ANY, ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY))
found, _ = admin.describe_acls(everything)
assert [acl.principal for acl in found] == ["User:alice"], found
producer = KafkaProducer(**ways["python-plain"])
try:
    producer.send("python-plain", b"x").get(timeout=180)
    raise AssertionError("alice may not write")
except TopicAuthorizationFailedError:
    pass
producer.close()
admin.delete_acls([everything])
found, _ = admin.describe_acls(everything)
assert found == [], found
print("ok")
