"""The cluster as a whole: brokers, versions, features, users."""

from kafka.admin import ScramMechanism, UpdateFeatureType, UserScramCredentialDeletion, UserScramCredentialUpsertion
from kafka.errors import InvalidUpdateVersionError
from kafka.protocol.api_key import ApiKey

from common import broker_ids, equal, refused, soon

FEATURE = "transaction.version"
USER = "admin-user"


def check(admin, bootstrap):
    cluster(admin, bootstrap)
    versions(admin)
    features(admin)
    users(admin)


def cluster(admin, bootstrap):
    found = admin.describe_cluster()
    equal({f"{broker['host']}:{broker['port']}" for broker in found["brokers"]}, set(bootstrap))
    assert found["controller_id"] in broker_ids(admin) and found["cluster_id"], found
    quorum = admin.describe_metadata_quorum()
    [topic] = quorum["topics"]
    equal(topic["topic_name"], "__cluster_metadata")
    [partition] = topic["partitions"]
    equal((partition["partition_index"], partition["error"]), (0, None))
    assert partition["leader_id"] in [voter["replica_id"] for voter in partition["current_voters"]], partition


def versions(admin):
    """Every broker serves the same. (On a broker with an API that kafka-python does not know yet, as Kafka 4.4 is one, its `api_versions` fails.)"""
    found = admin.api_versions()
    equal(found[ApiKey.DescribeTransactions], (0, 0))
    for broker in broker_ids(admin):
        equal({ApiKey(key): range_of for key, range_of in admin.get_broker_version_data(broker).api_versions.items()}, found)


def level(admin):
    found = admin.describe_features()[FEATURE]
    equal(found["supported"], (0, 2))
    return found["finalized"]


def features(admin):
    assert {"group.version", "metadata.version", FEATURE} <= set(admin.describe_features())
    equal(level(admin), (2, 2))
    lower = {FEATURE: (UpdateFeatureType.SAFE_DOWNGRADE, 1)}
    equal(admin.update_features(lower, validate_only=True), {FEATURE: "OK"})
    equal(level(admin), (2, 2))
    equal(admin.update_features(lower), {FEATURE: "OK"})
    soon(lambda: level(admin), (1, 1))
    equal(admin.update_features({FEATURE: 2}), {FEATURE: "OK"})
    soon(lambda: level(admin), (2, 2))
    refused(InvalidUpdateVersionError, admin.update_features, {FEATURE: 99})


def users(admin):
    strong = UserScramCredentialUpsertion(USER, ScramMechanism.SCRAM_SHA_256, "secret", iterations=8192)
    equal(admin.alter_user_scram_credentials([strong]), {USER: None})
    known = {"error": None, "credential_infos": [{"mechanism": ScramMechanism.SCRAM_SHA_256, "iterations": 8192}]}
    soon(lambda: admin.describe_user_scram_credentials([USER]), {USER: known})
    equal(admin.describe_user_scram_credentials()[USER], known)
    weak = UserScramCredentialUpsertion(USER, ScramMechanism.SCRAM_SHA_512, "secret", iterations=1)
    equal(admin.alter_user_scram_credentials([weak]), {USER: "Too few iterations"})
    gone = UserScramCredentialDeletion(USER, ScramMechanism.SCRAM_SHA_256)
    equal(admin.alter_user_scram_credentials([gone]), {USER: None})
    unknown = {"error": f"Attempt to describe a user credential that does not exist: {USER}", "credential_infos": []}
    soon(lambda: admin.describe_user_scram_credentials([USER]), {USER: unknown})
    equal(admin.alter_user_scram_credentials([gone]), {USER: "Attempt to delete a user credential that does not exist"})
