"""Failpoints of chaos alone: what they break no requirement asks for, but a scenario is about it."""

from harness.contract.byteman.rule_text import rule
from suites.model.failpoints.known_failpoints import KnownFailpoint

DELETED_PARTITION_IS_AWAITED = rule(
    "a partition that was deleted is taken for one whose leader is away",
    "org.apache.kafka.metadata.KRaftMetadataCache#getPartitionLeaderEndpoint",
    "$! = java.util.Optional.of(org.apache.kafka.common.Node.noNode())",
    when="$!.isEmpty()",
    at="EXIT",
)
"""So coordinators wait for good to mark it (``TransactionMarkerChannelManager.addTxnMarkersToBrokerQueue``)."""
OWN_FAILPOINTS = (KnownFailpoint(rules=DELETED_PARTITION_IS_AWAITED, version="4.3.1", refutes=()),)
