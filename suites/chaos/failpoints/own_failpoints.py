"""The failpoints that are tried before chaos: the contract's, and those of chaos alone.

What these break no requirement asks for, but a scenario is about it.
"""

from collections.abc import Sequence

from harness.base.paths import CONTRACT
from harness.contract.byteman.rule_text import rule
from suites.model.failpoints.known_failpoints import KnownFailpoint, known_failpoints

DELETED_PARTITION_IS_AWAITED = rule(
    "a partition that was deleted is taken for one whose leader is away",
    "org.apache.kafka.metadata.KRaftMetadataCache#getPartitionLeaderEndpoint",
    "$! = java.util.Optional.of(org.apache.kafka.common.Node.noNode())",
    when="$!.isEmpty()",
    at="EXIT",
)
"""So coordinators wait for good to mark it (``TransactionMarkerChannelManager.addTxnMarkersToBrokerQueue``)."""
OWN_FAILPOINTS = (KnownFailpoint(rules=DELETED_PARTITION_IS_AWAITED, version="4.3.1", refutes=()),)


def chaos_failpoints() -> Sequence[KnownFailpoint]:
    """All that break a broker; a tool is nothing that chaos meets."""
    return [*(each for each in known_failpoints(CONTRACT) if not each.of_a_tool), *OWN_FAILPOINTS]
