"""Where toxics strike: the cluster with its powers, and questions about who leads what, over the observer's lane.

A question goes to every broker, since any of them may be the one that is away or cut off; of what they say the newest
counts (the highest leader epoch). A broker that does not answer within :data:`PATIENCE` is passed over.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harness.base import wait
from harness.base.clock import RunClock
from harness.cluster.cluster import Cluster, Links
from harness.faults.frame_gate import FrameGate, GateOpener
from harness.lab.admin import Admin
from harness.lab.step_recorder import ResultT, StepRecorder, Unprepared
from harness.wire.api_request import ApiRequest
from harness.wire.records.transaction_state import TOPIC as TRANSACTION_STATE
from harness.wire.records.transaction_state import state_partition
from harness.wire.requests.cluster.metadata import Metadata, MetadataResult, PartitionMetadata
from harness.wire.wire_client import PendingResponse
from harness.wire.wire_errors import WireError

PATIENCE = 1.5
"""Seconds that a broker may take to answer a question of ours before it counts as silent."""
ORDERED = 10.0
"""Seconds that an order to the controller may take."""
REJOINED = 30.0
"""Seconds within which a broker that was away must be registered and unfenced again."""


class Powerless(Exception):
    """The target lacks a power that a toxic needs; the text names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultTarget:
    """A running cluster as toxics see it.

    :param topics: The scenario's word for a topic to the topic's real name.
    :param transactional_ids: The workload's word for a transactional id to the real one; one not here is real.
    :param asker: On the observer's lane; its exchanges are not kept.
    :param open_gate: Starts the gate, for toxics on single requests; None where they have no place.
    """

    cluster: Cluster
    clock: RunClock
    asker: StepRecorder
    topics: Mapping[str, str]
    transactional_ids: Mapping[str, str] = field(default_factory=dict)
    open_gate: GateOpener | None = None
    _gate: list[FrameGate] = field(default_factory=list)

    @property
    def gate(self) -> FrameGate:
        """The gate, started at first use; :raises Powerless: where there are no proxies, or nobody gave an opener."""
        if self.open_gate is None:
            raise Powerless("there is no gate for single requests here")
        if not self._gate:
            self._gate.append(self.open_gate(self.links))
        return self._gate[0]

    def gate_errors(self) -> tuple[str, ...]:
        """What went wrong in the gate itself; nothing where it was never started."""
        return tuple(error for gate in self._gate for error in gate.errors())

    def close(self) -> None:
        """End the gate; proxies lead where they led at first. May be called twice."""
        while self._gate:
            self._gate.pop().close()

    @property
    def admin(self) -> Admin:
        """Kafka's own administration."""
        return Admin(self.asker, self.cluster.topology.brokers)

    @property
    def brokers(self) -> tuple[int, ...]:
        """Node ids of the brokers."""
        return self.cluster.topology.brokers

    @property
    def links(self) -> Links:
        """The proxies; :raises Powerless: where nothing stands between."""
        if self.cluster.links is None:
            raise Powerless("this backend has no proxies")
        return self.cluster.links

    def place(self, topic: str, partition: int) -> PartitionMetadata:
        """Leader (-1: none), leader epoch, replicas and in-sync replicas of a partition, by its topic's real name.

        :raises Unprepared: When no broker that answers knows the partition.
        """
        told = [answer.topics.get(topic) for answer in self._metadata((topic,)).values()]
        known = [place["partitions"][partition] for place in told if place and partition in place["partitions"]]
        if not known:
            raise Unprepared(f"no broker that answers knows {topic}-{partition}")
        return max(known, key=lambda place: place["leader_epoch"])

    def leader(self, topic: str, partition: int) -> int | None:
        """The partition's leader, or None while it has none."""
        leader = self.place(topic, partition)["leader"]
        return leader if leader >= 0 else None

    def in_sync(self, topic: str, partition: int) -> tuple[int, ...]:
        """The partition's in-sync replicas."""
        return tuple(self.place(topic, partition)["isr"])

    def home(self, transactional_id: str) -> tuple[str, int]:
        """The partition of ``__transaction_state`` that keeps an id, which is given in the workload's word.

        :raises Unprepared: When no broker that answers knows the topic.
        """
        real = self.transactional_ids.get(transactional_id, transactional_id)
        for answer in self._metadata((TRANSACTION_STATE,)).values():
            if places := answer.topics[TRANSACTION_STATE]["partitions"]:
                return TRANSACTION_STATE, state_partition(real, len(places))
        raise Unprepared(f"no broker that answers knows {TRANSACTION_STATE}")

    def coordinator(self, transactional_id: str) -> int | None:
        """The broker that coordinates an id (given in the workload's word), or None while there is none."""
        return self.leader(*self.home(transactional_id))

    def registered(self, node: int) -> bool:
        """Whether this broker answers, and every one that answers lists it: unfenced (KIP-631, «Broker Fencing»)."""
        answers = self._metadata(())
        return node in answers and all(node in answer.brokers for answer in answers.values())

    def dropped(self, node: int) -> bool:
        """Whether another broker says that this one is gone: the controller fenced it."""
        others = tuple(asked for asked in self.brokers if asked != node)
        return any(node not in answer.brokers for answer in self._metadata((), only=others).values())

    def answers(self, node: int) -> bool:
        """Whether the broker answers on the observer's lane within :data:`PATIENCE`."""
        return node in self._metadata((), only=(node,))

    def replicated(self) -> bool:
        """Whether every broker is registered, and every partition led, by all its replicas in sync."""
        answers = self._metadata(None)
        listed = {node for answer in answers.values() for node in answer.brokers}
        return len(answers) == len(self.brokers) <= len(listed) and all(map(_all_in_sync, answers.values()))

    def rejoined(self, node: int, *, within: float = REJOINED) -> None:
        """Wait until a broker that was away is registered and unfenced.

        :raises NotInTime: When it is not within ``within`` seconds.
        """
        wait.until(lambda: self.registered(node), what=f"the return of broker {node}", within=within, every=0.02)

    def order(self, verb: ApiRequest[ResultT]) -> ResultT:
        """An administrator's order, by the first broker that takes it to the controller.

        :raises Unprepared: When none does.
        """
        why = ["no broker"]
        for node in self.brokers:
            try:
                version = self.asker.client.highest(node, verb.api)
                return self.asker.client.call(node, verb, version, within=ORDERED).result
            except WireError as error:
                why.append(str(error))
        raise Unprepared(f"{verb.api} was not taken: {'; '.join(why[1:] or why)}")

    def _metadata(
        self, topics: tuple[str, ...] | None, *, only: tuple[int, ...] | None = None
    ) -> Mapping[int, MetadataResult]:
        """What each broker that answers says, all asked at once."""
        asked = dict(self._ask(Metadata(topics=topics), only or self.brokers))
        return {node: result for node, pending in asked.items() if (result := _answer(pending)) is not None}

    def _ask(self, verb: ApiRequest[ResultT], nodes: tuple[int, ...]) -> Iterator[tuple[int, PendingResponse[ResultT]]]:
        for node in nodes:
            try:
                yield node, self.asker.client.send(node, verb, self.asker.client.highest(node, verb.api))
            except WireError:
                continue


def _answer(pending: PendingResponse[ResultT]) -> ResultT | None:
    try:
        return pending.wait(PATIENCE).result
    except WireError:
        return None


def _all_in_sync(answer: MetadataResult) -> bool:
    places = [place for topic in answer.topics.values() for place in topic["partitions"].values()]
    return all(place["leader"] >= 0 and set(place["isr"]) == set(place["replicas"]) for place in places)
