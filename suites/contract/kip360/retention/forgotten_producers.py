"""How a requirement sees that leaders have looked for producers to forget: one that is 8 days idle is gone.

Idle time counts from a record's timestamp, which the client gives. The KIP's bound is 7 days, Kafka's one (KIP-854).
"""

from harness.contract import Evidence, NotSeen
from harness.lab import Lab, Partition, Unprepared

WEEK_AND_A_DAY = 8 * 24 * 60.0
"""In minutes."""
BOUND_SECONDS = 45.0
"""Before 3.8 (KAFKA-16552) a broker begins to look for what is too old half a minute after its start."""
EXPIRATION = "producer.id.expiration.ms"


def await_a_check(lab: Lab, partition: Partition, name: str = "idle gone") -> None:
    """Another producer writes a record of 8 days ago; wait, bounded, until the leader has forgotten it.

    :raises Unprepared: Before KIP-854 (3.5) leaders look every ten minutes, whatever their settings are.
    """
    if lab.admin.config(partition.leader, EXPIRATION) is None:
        raise Unprepared("this release looks for idle producers every ten minutes, and no setting changes that")
    idle = lab.idempotent("rival")
    idle.produce(partition, timestamp_ms=lab.minutes_ago(WEEK_AND_A_DAY))

    def gone() -> bool:
        known = lab.observer.producers(partition).fields.get("producers")
        rows = known if isinstance(known, list) else []
        return all(isinstance(row, dict) and row.get("producer_id") != idle.producer_id for row in rows)

    lab.note(name, lab.patience.until(gone, kinds=("expiry",), timeout_seconds=BOUND_SECONDS, interval_seconds=0.05))


def checked(seen: Evidence, name: str = "idle gone") -> None:
    """:raises NotSeen: When no leader looked for producers to forget."""
    if seen.fact(name) is not True:
        raise NotSeen("a producer that was idle for 8 days is still known")
