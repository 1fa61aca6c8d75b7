"""What the brokers of a cluster know now of its partitions and of each other, while any of them may be away.

A request goes to every broker at once, since any of them may be down or cut off, and the newest answer counts
(:mod:`harness.kafka.routing`). A broker that does not answer within :data:`ANSWER_SECONDS` is passed over.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from harness.base import wait
from harness.base.unprepared import OutOfReach, Unprepared
from harness.kafka.routing import RoutingTable, fully_replicated
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.records.transaction_state import TOPIC as TRANSACTION_STATE
from harness.wire.requests.cluster.metadata import Metadata, MetadataResult, PartitionMetadata
from harness.wire.requests.log.list_offsets import ListOffsets
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


@dataclass(frozen=True, slots=True)
class BrokersView:
    """Asked over a lane that carries no fault; nothing is remembered."""

    client: WireClient
    brokers: Sequence[int]

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

    def led_by(self, topic: str, partition: int, node: int) -> bool:
        """Whether every broker that answers knows this one as the leader."""
        answers = self._metadata((topic,)).values()
        known = [answer.topics[topic]["partitions"].get(partition) for answer in answers if topic in answer.topics]
        return bool(known) and all(each is not None and each["leader"] == node for each in known)

    def caught_up(self, topic: str, partition: int, node: int) -> bool:
        """Whether the broker leads, and its high watermark is at the start of its epoch (KIP-207)."""
        try:
            return self.client.call(node, ListOffsets(topic=topic, partition=partition)).result.error == 0
        except WireError:
            return False

    def state_partition(self, transactional_id: str) -> TopicPartition:
        """The partition of ``__transaction_state`` that keeps an id.

        :raises OutOfReach: When no broker that answers knows the topic: a server that is no Kafka need not have it.
        """
        found = self._routing(TRANSACTION_STATE).key_partition(TRANSACTION_STATE, transactional_id)
        if found is None:
            raise OutOfReach(f"no broker that answers knows {TRANSACTION_STATE}")
        return found

    def state_partitions(self) -> int:
        """How many partitions ``__transaction_state`` has; 0 while no broker that answers knows it."""
        return len(self._routing(TRANSACTION_STATE).partitions(TRANSACTION_STATE))

    def state_epochs(self) -> Mapping[int, int]:
        """The newest leader epoch that a broker knows of each partition of ``__transaction_state``.

        Empty unless all brokers answer: the one that has just come to lead may be the only one that knows.
        """
        answers = self._metadata((TRANSACTION_STATE,))
        if len(answers) < len(self.brokers):
            return {}
        newest = _newest(answers.values()).partitions(TRANSACTION_STATE)
        return {index: each["leader_epoch"] for index, each in newest.items() if each["leader_epoch"] >= 0}

    def registered(self, node: int) -> bool:
        """Whether this broker answers, and every one that answers lists it: unfenced (KIP-631, «Broker Fencing»)."""
        answers = self._metadata(())
        return node in answers and all(node in answer.brokers for answer in answers.values())

    def dropped(self, node: int) -> bool:
        """Whether another broker no longer lists this one: the controller fenced it."""
        others = tuple(other for other in self.brokers if other != node)
        return any(node not in answer.brokers for answer in self._metadata((), only=others).values())

    def fenced(self, node: int) -> bool:
        """Whether no other broker lists this one any more, and some answer."""
        others = tuple(other for other in self.brokers if other != node)
        answers = self._metadata((), only=others).values()
        return bool(answers) and all(node not in answer.brokers for answer in answers)

    def answers(self, node: int) -> bool:
        """Whether the broker answers within :data:`ANSWER_SECONDS`."""
        return node in self._metadata((), only=(node,))

    def replicated(self) -> bool:
        """Whether every broker is registered, and every partition led, by all its replicas in sync."""
        return self._everywhere(fully_replicated)

    def as_preferred(self) -> bool:
        """Whether every broker is registered, and every partition led by its first replica."""
        return self._everywhere(lambda each: each["replicas"][:1] == [each["leader"]])

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

    def _everywhere(self, fits: "PartitionFits") -> bool:
        answers = self._metadata(None)
        listed = {node for answer in answers.values() for node in answer.brokers}
        if not len(answers) == len(self.brokers) <= len(listed):
            return False
        topics = (topic for answer in answers.values() for topic in answer.topics.values())
        return all(fits(each) for topic in topics for each in topic["partitions"].values())

    def _routing(self, topic: str) -> RoutingTable:
        """What all brokers that answer know of a topic; the newest counts."""
        return _newest(self._metadata((topic,)).values())

    def _metadata(
        self, topics: tuple[str, ...] | None, *, only: tuple[int, ...] | None = None
    ) -> Mapping[int, MetadataResult]:
        """The answer of each broker that gives one, all asked at once."""
        pending = dict(self._send(Metadata(topics=topics), only or self.brokers))
        return {node: answer for node, each in pending.items() if (answer := _answer(each)) is not None}

    def _send(
        self, request: ApiRequest[ResultT], nodes: Sequence[int]
    ) -> Iterator[tuple[int, PendingResponse[ResultT]]]:
        for node in nodes:
            try:
                yield node, self.client.send(node, request, self.client.highest(node, request.api))
            except WireError:
                continue


class PartitionFits(Protocol):
    def __call__(self, partition: PartitionMetadata, /) -> bool: ...


def _answer(pending: PendingResponse[ResultT]) -> ResultT | None:
    try:
        return pending.wait(ANSWER_SECONDS).result
    except WireError:
        return None


def _newest(answers: Iterable[MetadataResult]) -> RoutingTable:
    table = RoutingTable()
    for answer in answers:
        table.learn(answer)
    return table
