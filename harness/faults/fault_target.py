"""The cluster as faults use it: its powers, its administration, and who leads what, over the observer's lane.

A request goes to every broker at once, since any of them may be down or cut off, and the newest answer
counts (:mod:`harness.kafka.routing`). A broker that does not answer within :data:`ANSWER_SECONDS` is passed over.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from harness.base import wait
from harness.base.clock import RunClock
from harness.base.unprepared import Unprepared
from harness.cluster.cluster import Cluster, Links
from harness.faults.frame_gate import FrameGate, GateOpener
from harness.kafka.administration import Administration
from harness.kafka.routing import RoutingTable, fully_replicated
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.records.transaction_state import TOPIC as TRANSACTION_STATE
from harness.wire.requests.cluster.metadata import Metadata, MetadataResult, PartitionMetadata
from harness.wire.topic_partitions import TopicPartition, partition_name
from harness.wire.wire_client import PendingResponse, WireClient
from harness.wire.wire_errors import WireError

ResultT = TypeVar("ResultT", bound=ApiResult)

ANSWER_SECONDS = 1.5
"""That a broker may take to answer before it counts as silent."""
CONTROLLER_SECONDS = 10.0
"""That a request to the controller may take."""
REGISTERED_SECONDS = 30.0
"""Within which a broker that was away must be registered and unfenced again."""


class Powerless(Exception):
    """The target lacks a power that a fault needs; the text names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultTarget:
    """A running cluster as faults use it.

    :param client: On the observer's lane; its exchanges are not kept. Its maker closes it.
    :param topics: The topic's real name by its name in the scenario.
    :param transactional_ids: The real transactional id by its name in the workload; one not here is real.
    :param open_gate: Starts the gate, for toxics on single requests; None where they have no place.
    """

    cluster: Cluster
    clock: RunClock
    client: WireClient
    topics: Mapping[str, str]
    transactional_ids: Mapping[str, str] = field(default_factory=dict)
    open_gate: GateOpener | None = None
    _gate: list[FrameGate] = field(default_factory=list)

    @property
    def gate(self) -> FrameGate:
        """The gate, started at first use; :raises Powerless: where there are no proxies, or no opener was given."""
        if self.open_gate is None:
            raise Powerless("there is no gate for single requests here")
        if not self._gate:
            self._gate.append(self.open_gate(self.links))
        return self._gate[0]

    def gate_errors(self) -> tuple[str, ...]:
        """What went wrong in the gate itself; nothing where it was never started."""
        return tuple(error for gate in self._gate for error in gate.errors())

    def gate_notes(self) -> tuple[str, ...]:
        """What the gate noted that is no error."""
        return tuple(note for gate in self._gate for note in gate.notes())

    def close(self) -> None:
        """End the gate; proxies forward to the brokers again. May be called twice."""
        while self._gate:
            self._gate.pop().close()

    @property
    def admin(self) -> Administration:
        """Kafka's own administration."""
        return Administration(self.client, self.brokers)

    @property
    def brokers(self) -> tuple[int, ...]:
        """Node ids of the brokers."""
        return self.cluster.topology.brokers

    @property
    def links(self) -> Links:
        """The proxies; :raises Powerless: where there are none."""
        if self.cluster.links is None:
            raise Powerless("this backend has no proxies")
        return self.cluster.links

    def partition(self, topic: str, partition: int) -> PartitionMetadata:
        """Leader (-1: none), leader epoch, replicas and in-sync replicas of a partition, by its topic's real name.

        :raises Unprepared: When no broker that answers knows the partition.
        """
        known = self._routing(topic).partitions(topic).get(partition)
        if known is None:
            raise Unprepared(f"no broker that answers knows {partition_name(topic, partition)}")
        return known

    def leader(self, topic: str, partition: int) -> int | None:
        """The partition's leader, or None while it has none; raises as :meth:`partition` does."""
        leader = self.partition(topic, partition)["leader"]
        return leader if leader >= 0 else None

    def in_sync(self, topic: str, partition: int) -> tuple[int, ...]:
        """The partition's in-sync replicas; raises as :meth:`partition` does."""
        return tuple(self.partition(topic, partition)["isr"])

    def state_partition(self, transactional_id: str) -> TopicPartition:
        """The partition of ``__transaction_state`` that keeps an id, which is given by its name in the workload.

        :raises Unprepared: When no broker that answers knows the topic.
        """
        real = self.transactional_ids.get(transactional_id, transactional_id)
        found = self._routing(TRANSACTION_STATE).key_partition(TRANSACTION_STATE, real)
        if found is None:
            raise Unprepared(f"no broker that answers knows {TRANSACTION_STATE}")
        return found

    def coordinator(self, transactional_id: str) -> int | None:
        """The broker that coordinates an id (given by its name in the workload), or None while there is none."""
        return self.leader(*self.state_partition(transactional_id))

    def registered(self, node: int) -> bool:
        """Whether this broker answers, and every one that answers lists it: unfenced (KIP-631, «Broker Fencing»)."""
        answers = self._metadata(())
        return node in answers and all(node in answer.brokers for answer in answers.values())

    def dropped(self, node: int) -> bool:
        """Whether another broker no longer lists this one: the controller fenced it."""
        others = tuple(other for other in self.brokers if other != node)
        return any(node not in answer.brokers for answer in self._metadata((), only=others).values())

    def answers(self, node: int) -> bool:
        """Whether the broker answers on the observer's lane within :data:`ANSWER_SECONDS`."""
        return node in self._metadata((), only=(node,))

    def replicated(self) -> bool:
        """Whether every broker is registered, and every partition led, by all its replicas in sync."""
        answers = self._metadata(None)
        listed = {node for answer in answers.values() for node in answer.brokers}
        return len(answers) == len(self.brokers) <= len(listed) and all(map(_all_in_sync, answers.values()))

    def await_registered(self, node: int, *, timeout_seconds: float = REGISTERED_SECONDS) -> None:
        """Wait until a broker that was away is registered and unfenced.

        :raises TimedOut: When it is not within ``timeout_seconds`` seconds.
        """
        wait.until(
            lambda: self.registered(node),
            what=f"the return of broker {node}",
            timeout_seconds=timeout_seconds,
            interval_seconds=0.02,
        )

    def to_controller(self, request: ApiRequest[ResultT]) -> ResultT:
        """An administrator's request, by the first broker that hands it to the controller.

        :raises Unprepared: When none does.
        """
        reasons: list[str] = []
        for node in self.brokers:
            try:
                version = self.client.highest(node, request.api)
                return self.client.call(node, request, version, timeout_seconds=CONTROLLER_SECONDS).result
            except WireError as error:
                reasons.append(str(error))
        raise Unprepared(f"{request.api} was not taken: {'; '.join(reasons) or 'no broker'}")

    def _routing(self, topic: str) -> RoutingTable:
        """What all brokers that answer know of a topic; the newest counts."""
        table = RoutingTable()
        for answer in self._metadata((topic,)).values():
            table.learn(answer)
        return table

    def _metadata(
        self, topics: tuple[str, ...] | None, *, only: tuple[int, ...] | None = None
    ) -> Mapping[int, MetadataResult]:
        """The answer of each broker that gives one, all asked at once."""
        pending = dict(self._send(Metadata(topics=topics), only or self.brokers))
        return {node: answer for node, each in pending.items() if (answer := _answer(each)) is not None}

    def _send(
        self, request: ApiRequest[ResultT], nodes: tuple[int, ...]
    ) -> Iterator[tuple[int, PendingResponse[ResultT]]]:
        for node in nodes:
            try:
                yield node, self.client.send(node, request, self.client.highest(node, request.api))
            except WireError:
                continue


def _answer(pending: PendingResponse[ResultT]) -> ResultT | None:
    try:
        return pending.wait(ANSWER_SECONDS).result
    except WireError:
        return None


def _all_in_sync(answer: MetadataResult) -> bool:
    return all(fully_replicated(each) for topic in answer.topics.values() for each in topic["partitions"].values())
