"""After heal: wait, bounded, until the cluster has settled, and measure how long each condition took.

Settled means that every replica is in sync, that every partition's last stable offset is its high watermark, and that
no coordinator has a transaction open: also none without a record, which holds no last stable offset back, and whose
markers would come while the logs are read. A condition that is not met is evidence for the judge, never an error.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.base import wait
from harness.base.json_value import Json
from harness.base.kafka_error import KafkaError
from harness.evidence.transaction_states import GOING_ON
from harness.faults.fault_target import FaultTarget
from harness.faults.observer.observer_lane import on_observer_lane
from harness.kafka.any_broker import AnyBroker
from harness.kafka.leader_client import LeaderClient, Unreachable
from harness.kafka.raw_log import log_start
from harness.kafka.routing import fully_replicated
from harness.wire.requests.log.fetch_watermarks import FetchWatermarks
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions
from harness.wire.requests.transactions.list_transactions import ListTransactions
from harness.wire.topic_partitions import TopicPartition, partition_name

INTERNAL = ("__transaction_state", "__consumer_offsets")
CHECK_SECONDS = 0.1
"""Between two checks of all conditions."""


@dataclass(slots=True, kw_only=True)
class SettleConditions:
    """The conditions, what did not meet each at the last check, and since when each is met.

    :param transactional_ids: Whose coordinators must answer and have nothing open.
    :param id_prefix: What all ids of the round begin with; none of them may be listed as open. None: nobody is asked.
    :param unmet: What does not meet a condition, by condition; empty lists where it is met.
    :param log_starts: Where a log begins of which records were deleted.
    :param met_after_ms: Milliseconds from the start until a condition was met to the end, by condition.
    """

    leader_client: LeaderClient
    partitions: Sequence[TopicPartition]
    transactional_ids: Sequence[str]
    id_prefix: str | None = None
    started: float = field(default_factory=time.monotonic)
    unmet: dict[str, list[Json]] = field(default_factory=dict)
    met_after_ms: dict[str, float] = field(default_factory=dict)
    log_starts: dict[TopicPartition, int] = field(default_factory=dict)

    def check(self) -> bool:
        """Whether every condition is met now."""
        conditions: dict[str, Callable[[], list[Json]]] = {
            "in_sync": self._out_of_sync,
            "stable": self._unstable,
            "no_open_transaction": self._open,
        }
        for name, unmet in conditions.items():
            self.unmet[name] = unmet()
            if self.unmet[name]:
                self.met_after_ms.pop(name, None)
            else:
                self.met_after_ms.setdefault(name, round((time.monotonic() - self.started) * 1000, 3))
        return self.met_after_ms.keys() == conditions.keys()

    def _out_of_sync(self) -> list[Json]:
        """What any broker knows to be out of sync: one that was away is the last to learn that replicas caught up."""
        return [found for broker in self.leader_client.brokers for found in self._out_of_sync_at(broker)]

    def _out_of_sync_at(self, broker: int) -> list[str]:
        topics = sorted({topic for topic, _ in self.partitions})
        answer = self.leader_client.metadata_of(broker, (*topics, *INTERNAL))
        if answer is None:
            return [f"broker {broker} does not answer"]
        known = {(t, index): at for t, found in answer.topics.items() for index, at in found["partitions"].items()}
        fit = {each for each, partition in known.items() if fully_replicated(partition)}
        return [f"{partition_name(*each)} by broker {broker}" for each in sorted({*known, *self.partitions} - fit)]

    def _unstable(self) -> list[Json]:
        self.leader_client.forget(self.partitions)
        return [partition_name(*each) for each in self.partitions if not self._stable(each)]

    def _stable(self, partition: TopicPartition) -> bool:
        request = FetchWatermarks(partitions=(partition,), log_starts=dict(self.log_starts))
        try:
            result = self.leader_client.at_leader(partition, request, timeout_seconds=0)
            if result.error == KafkaError.OFFSET_OUT_OF_RANGE:
                self.log_starts[partition] = log_start(self.leader_client, partition)
        except Unreachable:
            return False
        high_watermark, last_stable_offset = result.watermarks.get(partition, (-1, -2))
        return high_watermark == last_stable_offset

    def _open(self) -> list[Json]:
        states = ((one, self._state(one)) for one in self.transactional_ids)
        described = (f"{one} {state}" for one, state in states if state in GOING_ON or state is None)
        return list(dict.fromkeys([*described, *self._listed()]))

    def _listed(self) -> Iterator[str]:
        """The round's own ids, whoever used them, that a broker lists as open."""
        if self.id_prefix is None:
            return
        for broker in self.leader_client.brokers:
            answer = self.leader_client.transactions_of(broker, sorted(GOING_ON))
            if answer is None or answer.error:
                yield f"broker {broker} lists no transactions"
                continue
            for each in answer.transactions:
                if each["transactional_id"].startswith(self.id_prefix):
                    yield f"{each['transactional_id']} {each['state']}"

    def _state(self, transactional_id: str) -> str | None:
        """In Kafka's words, empty for an id that the coordinator does not know; None when it does not answer."""
        request = DescribeTransactions(transactional_id=transactional_id)
        try:
            return self.leader_client.at_coordinator(transactional_id, request, timeout_seconds=0).state
        except Unreachable:
            return None


def settle(
    fault_target: FaultTarget,
    partitions: Sequence[TopicPartition],
    transactional_ids: Sequence[str],
    id_prefix: str,
    timeout_seconds: float,
) -> dict[str, Json]:
    """Wait at most ``timeout_seconds`` seconds until the cluster has settled.

    Where DescribeTransactions and ListTransactions are not offered the last stable offsets alone show that nothing is
    open.

    :return: ``settled_ms`` (None when it did not settle); by condition (``in_sync``, ``stable``,
        ``no_open_transaction``) ``ms``, after which it was met to the end, and ``not_yet``, what did not meet it.
    """
    cluster = AnyBroker(fault_target.client, fault_target.brokers)
    ids = transactional_ids if cluster.offers(DescribeTransactions.api) else ()
    prefix = id_prefix if cluster.offers(ListTransactions.api) else None
    with on_observer_lane(fault_target) as leader_client:
        conditions = SettleConditions(
            leader_client=leader_client, partitions=partitions, transactional_ids=ids, id_prefix=prefix
        )
        settled = wait.elapsed_ms_until(
            conditions.check, timeout_seconds=timeout_seconds, interval_seconds=CHECK_SECONDS
        )
    return {
        "settled_ms": None if settled is None else round(settled, 3),
        "within_ms": timeout_seconds * 1000,
        **{
            name: {"ms": conditions.met_after_ms.get(name), "not_yet": not_yet}
            for name, not_yet in conditions.unmet.items()
        },
    }
