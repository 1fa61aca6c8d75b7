"""After heal: wait until the cluster has come to rest, bounded, and say how long each part of it took.

At rest means that every replica is in sync, that every partition's last stable offset is its high watermark, and that
no coordinator has a transaction open. A part that does not come about is evidence, never an error: it is for the judge.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.base import wait
from harness.base.json_value import Json
from harness.faults.fault_target import FaultTarget
from harness.kafka.leader_client import LeaderClient, TopicPartition, Unreachable
from harness.wire.requests.log.fetch_watermarks import BY_NAME, FetchWatermarks
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions
from harness.wire.topic_partitions import partition_name

INTERNAL = ("__transaction_state", "__consumer_offsets")
OPEN = frozenset({"Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"})
"""States of a transaction that has not ended (Kafka's ``TransactionState``)."""
EVERY = 0.1


@dataclass(slots=True, kw_only=True)
class Rest:
    """What keeps the cluster from being at rest, part by part, as of the last look, and when each part first held."""

    leader_client: LeaderClient
    places: Sequence[TopicPartition]
    transactional_ids: Sequence[str]
    started: float = field(default_factory=time.monotonic)
    unrest: dict[str, list[Json]] = field(default_factory=dict)
    since: dict[str, float] = field(default_factory=dict)

    def look(self) -> bool:
        """Whether every part holds now."""
        parts: dict[str, Callable[[], list[Json]]] = {
            "in_sync": self._out_of_sync,
            "stable": self._unstable,
            "no_open_transaction": self._open,
        }
        for name, unrest in parts.items():
            self.unrest[name] = unrest()
            if self.unrest[name]:
                self.since.pop(name, None)
            else:
                self.since.setdefault(name, round((time.monotonic() - self.started) * 1000, 3))
        return self.since.keys() == parts.keys()

    def _out_of_sync(self) -> list[Json]:
        """What any broker knows to be out of sync: one that was away learns last that all is well."""
        return [amiss for broker in self.leader_client.brokers for amiss in self._known_by(broker)]

    def _known_by(self, broker: int) -> list[str]:
        topics = sorted({topic for topic, _ in self.places})
        known = self.leader_client.metadata_of(broker, (*topics, *INTERNAL))
        if known is None:
            return [f"broker {broker} does not answer"]
        told = {(t, index): at for t, found in known.topics.items() for index, at in found["partitions"].items()}
        fit = {place for place, at in told.items() if at["leader"] >= 0 and set(at["isr"]) == set(at["replicas"])}
        return [f"{partition_name(*place)} by broker {broker}" for place in sorted({*told, *self.places} - fit)]

    def _unstable(self) -> list[Json]:
        self.leader_client.forget(self.places)
        return [partition_name(*place) for place in self.places if not self._stable(place)]

    def _stable(self, place: TopicPartition) -> bool:
        try:
            result = self.leader_client.at_leader(place, FetchWatermarks(partitions=(place,)), cap=BY_NAME, within=0)
        except Unreachable:
            return False
        high_watermark, last_stable_offset = result.levels.get(place, (-1, -2))
        return high_watermark == last_stable_offset

    def _open(self) -> list[Json]:
        states = ((one, self._state(one)) for one in self.transactional_ids)
        return [f"{one} {state}" for one, state in states if state in OPEN or state is None]

    def _state(self, transactional_id: str) -> str | None:
        """In Kafka's words, empty for an id that the coordinator does not know; None when it does not say."""
        asked = DescribeTransactions(transactional_id=transactional_id)
        try:
            return self.leader_client.at_coordinator(transactional_id, asked, within=0).state
        except Unreachable:
            return None


def settle(
    fault_target: FaultTarget, places: Sequence[TopicPartition], transactional_ids: Sequence[str], within: float
) -> dict[str, Json]:
    """Wait at most ``within`` seconds for rest.

    :return: ``settled_ms`` (None when it did not come about); by part (``in_sync``, ``stable``,
        ``no_open_transaction``) the milliseconds since when it held for good, and what of it was still amiss.
    """
    leader_client = LeaderClient.over(fault_target.cluster.topology.lanes["observer"], fault_target.clock)
    rest = Rest(leader_client=leader_client, places=places, transactional_ids=transactional_ids)
    try:
        settled = wait.holds_after(rest.look, within=within, every=EVERY)
    finally:
        leader_client.close()
    return {
        "settled_ms": None if settled is None else round(settled, 3),
        "within_ms": within * 1000,
        **{part: {"ms": rest.since.get(part), "amiss": amiss} for part, amiss in rest.unrest.items()},
    }
