"""Every call of kafka-python's admin client, each with a look at what came of it. Usage: kafka_python_admin BOOTSTRAP

Needs a cluster of at least two brokers with rules (ACLs) whose unnamed user may do everything. A call of the client that nothing here makes is a failure: with a
newer client, too.
"""

import sys

sys.dont_write_bytecode = True

from kafka.admin import KafkaAdminClient

import brokers
import groups
import partitions
import rules
import topics
import transactions


class Counting:
    """An admin client that remembers which of its calls were made from here, and not by the client itself."""

    def __init__(self, admin):
        self._admin = admin
        self.made = set()

    def __getattr__(self, name):
        self.made.add(name)
        return getattr(self._admin, name)


def calls():
    return {name for name in dir(KafkaAdminClient) if not name.startswith("_") and callable(getattr(KafkaAdminClient, name))}


def main():
    bootstrap = sys.argv[1].split(",")
    admin = Counting(KafkaAdminClient(bootstrap_servers=bootstrap))
    topics.make(admin)
    for part in [topics, partitions, groups, transactions, brokers, rules]:
        part.check(admin, bootstrap)
    topics.remove(admin)
    admin.close()
    assert calls() == admin.made, f"never called: {calls() - admin.made}; unknown: {admin.made - calls()}"
    print("ok")


main()
