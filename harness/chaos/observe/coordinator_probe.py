"""Probes: after heal, one transaction through each broker as coordinator, with one record to every partition.

They show whether the cluster serves again. A probe that fails is tried again under a new name within the bound; every
try is recorded with its own outcome, and the judge counts the tries of one probe together (``PROBE`` in
:mod:`harness.evidence.history.anomalies`). Probe before settling, so that the probes' own markers are written before
    the drain.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import count

from harness.base import wait
from harness.base.json_value import Json
from harness.base.unprepared import Unprepared
from harness.clients.recording_client import RecordingClient
from harness.evidence.history.anomalies import PROBE
from harness.faults.fault_target import FaultTarget
from harness.faults.observer.observer_lane import on_observer_lane
from harness.kafka.any_broker import AnyBroker
from harness.kafka.coordinators import transactional_id_for
from harness.kafka.leader_client import RETRY_SECONDS
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_errors import WireError

TXNS_PER_PROBE = 1_000
"""Probes' transaction numbers are below those of any role, which begin at ten million."""
RETRY_PROBE_SECONDS = 0.2
"""Between two tries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One probe: its broker, and what its clients are opened with."""

    number: int
    broker: int
    transactional_id: str
    partitions: Sequence[TopicPartition]
    open_client: Callable[[str, str], RecordingClient]

    def run(self, timeout_seconds: float) -> dict[str, Json]:
        """Tries until one is committed, or ``timeout_seconds`` seconds are over; at least one."""
        started, tries = time.monotonic(), 0
        while True:
            tries += 1
            committed = self._try(tries)
            if committed or time.monotonic() - started >= timeout_seconds:
                break
            wait.pause(RETRY_PROBE_SECONDS)
        return {
            "broker": self.broker,
            "transactional_id": self.transactional_id,
            "tries": tries,
            "committed": committed,
            "ms": round((time.monotonic() - started) * 1000, 3),
        }

    def _try(self, nth: int) -> bool:
        name = f"{PROBE}{self.broker}" if nth == 1 else f"{PROBE}{self.broker}.{nth}"
        client = self.open_client(name, self.transactional_id)
        try:
            txn = self.number * TXNS_PER_PROBE + nth
            if not client.init().done or not client.begin(txn, len(self.partitions)).done:
                return False
            if all(client.produce(topic, index, "probe").done for topic, index in self.partitions):
                return client.commit().done
            client.abort()
            return False
        finally:
            client.close()


def probe(
    fault_target: FaultTarget,
    partitions: Sequence[TopicPartition],
    open_client: Callable[[str, str], RecordingClient],
    *,
    prefix: str,
    timeout_seconds: float = 20.0,
) -> list[Json]:
    """Run one probe a broker, all at once.

    :param open_client: A recording client for an actor's name and a transactional id as the cluster knows it.
    :param prefix: The beginning of the probes' transactional ids.
    :param timeout_seconds: Seconds after which no further try begins.
    :return: What became of each, for the run's facts: ``broker``, ``transactional_id``, ``tries``, ``committed`` and
        how many ``ms`` it took.
    """
    ids = coordinated(fault_target, prefix, timeout_seconds)
    probes = [
        Probe(number=number, broker=broker, transactional_id=one, partitions=partitions, open_client=open_client)
        for number, (broker, one) in enumerate(ids.items(), start=1)
    ]
    with ThreadPoolExecutor(len(probes)) as threads:
        return list(threads.map(lambda each: each.run(timeout_seconds), probes))


def coordinated(fault_target: FaultTarget, prefix: str, timeout_seconds: float) -> dict[int, str]:
    """A transactional id for each broker that coordinates it now.

    A broker for which none is found gets one all the same: a probe that is never tried shows nothing.
    """
    brokers = fault_target.brokers
    found: dict[int, str] = {}
    with on_observer_lane(fault_target) as leader_client, suppress(Unprepared, WireError, wait.TimedOut):
        # What fails here the probes themselves will show.
        first = f"{prefix}-0"
        wait.elapsed_ms_until(
            lambda: leader_client.coordinator(first) is not None,
            timeout_seconds=timeout_seconds,
            interval_seconds=RETRY_SECONDS,
        )
        numbers = count()
        cluster = AnyBroker(leader_client.client, brokers)
        for broker in brokers:
            one = transactional_id_for((broker,), lambda: f"{prefix}-{next(numbers)}", cluster)
            if one is not None:
                found[broker] = one[0]
    return {broker: found.get(broker, f"{prefix}-of-{broker}") for broker in brokers}
