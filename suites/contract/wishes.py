"""Clusters that several requirements ask for: each constant is one cluster, shared by all that name it."""

from harness.contract import OwnCluster

USERS = OwnCluster(users=("alice",))
"""With an authorizer and one user, who may do nothing unless a requirement grants it."""
ALICE = USERS.users[0]
UPGRADED_FROM_39 = OwnCluster(releases=dict.fromkeys((1, 2, 3, 4), "3.9.2"))
"""Data of 3.9, which its requirements take over with the target's release, node by node."""
FORMATTED_AT_1 = OwnCluster(features={"transaction.version": 1})
"""Formatted at level 1 of transaction.version."""
LEVEL_0_AT_39 = OwnCluster(metadata="3.9")
"""Formatted as a cluster that came from 3.9: transaction.version is not finalized, and brokers of 3.9 may join."""
WITHOUT_VERIFICATION, WITHOUT_ABORTABLE, JUDGED = 1, 2, 3
"""Nodes of :data:`OLDER_BROKERS`: a release without verification, one that does not know error 120, and the target."""
OLDER_BROKERS = OwnCluster(metadata="3.5", releases={WITHOUT_VERIFICATION: "3.5.2", WITHOUT_ABORTABLE: "3.7.2"})
"""One broker of the target among two that are older."""
MARKED_BY_41 = OwnCluster(metadata="4.1", releases={1: "4.1.2"})
"""One broker that does not know WriteTxnMarkers v2."""
SOLE_COORDINATORS = OwnCluster(
    properties={"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1"}
)
"""With one copy of what coordinators keep: while a broker is away, nobody coordinates its transactional ids."""
LONG_STATE_LOG = OwnCluster(fresh="a long transaction log")
"""Where a requirement may fill the coordinators' log, which takes longer to load from then on."""
SOON_EXPIRED = OwnCluster(
    properties={
        "transactional.id.expiration.ms": "1500",
        "transaction.remove.expired.transaction.cleanup.interval.ms": "200",
    }
)
"""Whose coordinators forget an id that is not used for a second and a half (Kafka: seven days, looked for hourly)."""
CHECKED_OFTEN = OwnCluster(
    properties={
        "producer.id.expiration.check.interval.ms": "200",
        "log.retention.check.interval.ms": "200",
        "log.initial.task.delay.ms": "200",
    }
)
"""Where old records and producers that are idle for too long go soon; for how long is as by default."""
