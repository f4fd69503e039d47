"""Rules (ACLs): made, found, and taken away. What they forbid is in secured_kafka_python.py."""

from kafka.admin import ACL, ACLFilter, ACLOperation, ACLPermissionType, ACLResourcePatternType, ResourcePattern, ResourcePatternFilter, ResourceType
from kafka.errors import NoError

from common import equal, soon

RULE = ACL("User:admin-reader", "*", ACLOperation.READ, ACLPermissionType.ALLOW, ResourcePattern(ResourceType.TOPIC, "admin-rule"))


def matching(principal):
    any_thing = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
    return ACLFilter(principal, None, ACLOperation.ANY, ACLPermissionType.ANY, any_thing)


def check(admin, _bootstrap):
    made = admin.create_acls([RULE])
    equal((made["succeeded"], made["failed"]), ([RULE], []))
    soon(lambda: admin.describe_acls(matching(RULE.principal)), ([RULE], NoError))
    equal(admin.describe_acls(matching("User:nobody")), ([], NoError))
    equal(admin.delete_acls([matching(RULE.principal)]), [(matching(RULE.principal), [RULE], NoError)])
    soon(lambda: admin.describe_acls(matching(RULE.principal)), ([], NoError))
