"""The cluster as faults use it: its powers, its administration, and who leads what, over the observer's lane."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from harness.base.clock import RunClock
from harness.cluster.cluster import Cluster, Links
from harness.faults.frame_gate import FrameGate, GateOpener
from harness.faults.running_clients import ClientProcesses
from harness.kafka.administration import Administration
from harness.kafka.leaders.brokers_view import REGISTERED_SECONDS, BrokersView
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.cluster.metadata import PartitionMetadata
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_client import WireClient

ResultT = TypeVar("ResultT", bound=ApiResult)


class Powerless(Exception):
    """The target lacks a power that a fault needs; the text names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultTarget:
    """A running cluster as faults use it.

    :param client: On the observer's lane; its exchanges are not kept. Its maker closes it.
    :param topics: The topic's real name by its name in the scenario.
    :param transactional_ids: The real transactional id by its name in the workload; one not here is real.
    :param open_gate: Starts the gate, for toxics on single requests; None where they have no place.
    :param clients: Those that are processes of their own; None where none is.
    """

    cluster: Cluster
    clock: RunClock
    client: WireClient
    topics: Mapping[str, str]
    transactional_ids: Mapping[str, str] = field(default_factory=dict)
    open_gate: GateOpener | None = None
    clients: ClientProcesses | None = None
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

    @property
    def view(self) -> BrokersView:
        """What its brokers know now."""
        return BrokersView(self.client, self.brokers)

    def partition(self, topic: str, partition: int) -> PartitionMetadata:
        """See :class:`BrokersView`, as of the others."""
        return self.view.partition(topic, partition)

    def leader(self, topic: str, partition: int) -> int | None:
        return self.view.leader(topic, partition)

    def in_sync(self, topic: str, partition: int) -> tuple[int, ...]:
        """The partition's in-sync replicas; raises as :meth:`partition` does."""
        return tuple(self.partition(topic, partition)["isr"])

    def state_partition(self, transactional_id: str) -> TopicPartition:
        """The partition of ``__transaction_state`` that keeps an id, which is given by its name in the workload.

        :raises Unprepared: When no broker that answers knows the topic.
        """
        return self.view.state_partition(self.transactional_ids.get(transactional_id, transactional_id))

    def coordinator(self, transactional_id: str) -> int | None:
        """The broker that coordinates an id (given by its name in the workload), or None while there is none."""
        return self.leader(*self.state_partition(transactional_id))

    def registered(self, node: int) -> bool:
        return self.view.registered(node)

    def dropped(self, node: int) -> bool:
        return self.view.dropped(node)

    def answers(self, node: int) -> bool:
        return self.view.answers(node)

    def replicated(self) -> bool:
        return self.view.replicated()

    def await_registered(self, node: int, *, timeout_seconds: float = REGISTERED_SECONDS) -> None:
        self.view.await_registered(node, timeout_seconds=timeout_seconds)

    def to_controller(self, request: ApiRequest[ResultT]) -> ResultT:
        return self.view.to_controller(request)
