"""Rules that break the authorizer: what users are allowed to do.

Names of classes and arguments are those of Kafka 4.3.1 (``org.apache.kafka.metadata.authorizer``).
"""

from harness.contract.byteman.rule_text import rule

EVERYTHING_ALLOWED = rule(
    "the authorizer allows everything",
    "org.apache.kafka.metadata.authorizer.StandardAuthorizerData#authorize",
    "return org.apache.kafka.server.authorizer.AuthorizationResult.ALLOWED",
)
NO_CLUSTER_ACTION = rule(
    "the authorizer forbids users to act as brokers",
    "org.apache.kafka.metadata.authorizer.StandardAuthorizerData#authorize",
    "return org.apache.kafka.server.authorizer.AuthorizationResult.DENIED",
    when='!$1.principal().getName().equals("ANONYMOUS") '
    "AND $2.operation() == org.apache.kafka.common.acl.AclOperation.CLUSTER_ACTION",
)
