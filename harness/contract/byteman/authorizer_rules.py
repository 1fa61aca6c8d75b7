"""Rules that break the authorizer: what users are allowed to do.

Names of classes and arguments are those of Kafka 4.3.1 (``org.apache.kafka.metadata.authorizer``).
"""

from harness.contract.byteman.rule_text import rule

_AUTHORIZE = "org.apache.kafka.metadata.authorizer.StandardAuthorizerData#authorize"
_RESULT = "org.apache.kafka.server.authorizer.AuthorizationResult"
_OPERATION = "org.apache.kafka.common.acl.AclOperation"
_RESOURCE = "org.apache.kafka.common.resource.ResourceType"


def _forbidden(name: str, operation: str, also: str = "") -> str:
    """Users may never do it; those on the lanes, who are nobody in particular, may."""
    user = '!$1.principal().getName().equals("ANONYMOUS")'
    when = f"{user} AND $2.operation() == {_OPERATION}.{operation}{also}"
    return rule(name, _AUTHORIZE, f"return {_RESULT}.DENIED", when=when)


EVERYTHING_ALLOWED = rule("the authorizer allows everything", _AUTHORIZE, f"return {_RESULT}.ALLOWED")
NO_CLUSTER_ACTION = _forbidden("the authorizer forbids users to act as brokers", "CLUSTER_ACTION")
NO_READ = _forbidden("the authorizer forbids users to read", "READ")
NO_DESCRIBE = _forbidden("the authorizer forbids users to describe", "DESCRIBE")
NO_WRITE_OF_IDS = _forbidden(
    "the authorizer forbids users to write under any transactional id",
    "WRITE",
    f" AND $2.resourcePattern().resourceType() == {_RESOURCE}.TRANSACTIONAL_ID",
)
