"""Who leads a partition and who coordinates an id, from brokers' answers to Metadata and FindCoordinator.

The one rule by which answers are merged: of two that name different leaders, the one with the newer leader epoch
counts, because a broker that is cut off still names the leader that was (KIP-320). Which broker is asked, how long, and
whether exchanges are recorded is the caller's choice, given as an :class:`Ask`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.records.transaction_state import state_partition
from harness.wire.requests.cluster.metadata import Metadata, MetadataResult, PartitionMetadata
from harness.wire.requests.groups.find_coordinator import FindCoordinator
from harness.wire.topic_partitions import TopicPartition

ResultT = TypeVar("ResultT", bound=ApiResult)


class Ask(Protocol):
    """Sends a request to a broker of the caller's choice."""

    def __call__(self, request: ApiRequest[ResultT], /) -> ResultT | None:
        """The answer; None when none came, or one that another broker may answer better."""


class AskNode(Protocol):
    def __call__(self, node: int, request: ApiRequest[ResultT], /) -> ResultT | None:
        """See :class:`Ask`."""


def first_answer(nodes: Iterable[int], ask: AskNode, request: ApiRequest[ResultT]) -> ResultT | None:
    """The answer of the first broker that gives one, asked in this order; None when no broker does."""
    return next((answer for node in nodes if (answer := ask(node, request)) is not None), None)


def find_coordinator(key: str, key_type: int, ask: Ask) -> int | None:
    """The node that coordinates a transactional id or a group; None when the broker asked does not know it."""
    found = ask(FindCoordinator(key=key, key_type=key_type))
    return None if found is None or found.error else found.node


def fully_replicated(partition: PartitionMetadata) -> bool:
    """Whether it has a leader, and every replica is in sync."""
    return partition["leader"] >= 0 and set(partition["isr"]) == set(partition["replicas"])


@dataclass(slots=True)
class RoutingTable:
    """What is known of partitions and coordinators, until it is invalidated. Used by one thread."""

    _partitions: dict[str, dict[int, PartitionMetadata]] = field(default_factory=dict)
    _coordinators: dict[tuple[int, str], int] = field(default_factory=dict)
    _stale: set[TopicPartition] = field(default_factory=set)

    def learn(self, answer: MetadataResult) -> None:
        """Take over what is as new as what is known, or newer; a topic answered with an error is left out."""
        for topic, found in answer.topics.items():
            if found["error"]:
                continue
            known = self._partitions.setdefault(topic, {})
            for index, partition in found["partitions"].items():
                before = known.get(index)
                if before is None or partition["leader_epoch"] >= before["leader_epoch"]:
                    known[index] = partition
                    self._stale.discard((topic, index))

    def partitions(self, topic: str) -> Mapping[int, PartitionMetadata]:
        """What is known of a topic's partitions, by index; nothing is asked."""
        return self._partitions.get(topic, {})

    def topic(self, topic: str, ask: Ask) -> Mapping[int, PartitionMetadata]:
        """The topic's partitions by index, asked for where none is known or one is stale."""
        known = self.partitions(topic)
        if not known or any((topic, index) in self._stale for index in known):
            self.refresh((topic,), ask)
        return self.partitions(topic)

    def key_partition(self, topic: str, key: str) -> TopicPartition | None:
        """The partition of an internal topic that keeps a transactional id or group; None while the topic is unknown.

        Both are hashed alike (``TransactionStateManager.partitionFor``, ``GroupMetadataManager.partitionFor``).
        """
        count = len(self.partitions(topic))
        return (topic, state_partition(key, count)) if count else None

    def leader(self, topic_partition: TopicPartition, ask: Ask) -> int | None:
        """The partition's leader; None when it has none, or no broker answers."""
        if not self._is_stale(topic_partition):  # the usual case, for every produce
            return self._leader_of(topic_partition)
        return next(iter(self.leaders((topic_partition,), ask)), None)

    def known_leader(self, topic_partition: TopicPartition) -> int | None:
        """The leader, where it need not be asked for again; nothing is asked."""
        return None if self._is_stale(topic_partition) else self._leader_of(topic_partition)

    def known_coordinator(self, key: str, key_type: int) -> int | None:
        """The coordinator as it is remembered; nothing is asked."""
        return self._coordinators.get((key_type, key))

    def learn_coordinator(self, key: str, key_type: int, node: int) -> None:
        """Remember what a broker has answered."""
        self._coordinators[key_type, key] = node

    def leader_epoch(self, topic_partition: TopicPartition) -> int:
        """The newest leader epoch that is known; -1 when none is. Nothing is asked."""
        known = self.partitions(topic_partition[0]).get(topic_partition[1])
        return -1 if known is None else known["leader_epoch"]

    def leaders(self, topic_partitions: Sequence[TopicPartition], ask: Ask) -> Mapping[int, Sequence[TopicPartition]]:
        """The partitions by leader, after one Metadata for the stale ones; those without a leader are left out."""
        stale = [each for each in topic_partitions if self._is_stale(each)]
        unanswered = set(stale) if stale and not self.refresh({topic for topic, _ in stale}, ask) else ()
        by_leader: dict[int, list[TopicPartition]] = {}
        for topic, index in topic_partitions:
            leader = self._leader_of((topic, index))
            if leader >= 0 and (topic, index) not in unanswered:
                by_leader.setdefault(leader, []).append((topic, index))
        return by_leader

    def refresh(self, topics: Iterable[str], ask: Ask) -> bool:
        """Ask for these topics' Metadata; whether there was an answer."""
        answer = ask(Metadata(topics=tuple(sorted(topics))))
        if answer is not None:
            self.learn(answer)
        return answer is not None

    def coordinator(self, key: str, key_type: int, ask: Ask) -> int | None:
        """The coordinator, asked for once; None when the broker asked does not know it."""
        known = self._coordinators.get((key_type, key))
        if known is None and (known := find_coordinator(key, key_type, ask)) is not None:
            self._coordinators[key_type, key] = known
        return known

    def invalidate(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """Ask for their leaders again when they are next wanted."""
        self._stale.update(topic_partitions)

    def invalidate_all_leaders(self) -> None:
        """Ask for every leader again."""
        self.invalidate((topic, index) for topic, known in self._partitions.items() for index in known)

    def invalidate_all_coordinators(self) -> None:
        """Ask for every coordinator again."""
        self._coordinators.clear()

    def _is_stale(self, topic_partition: TopicPartition) -> bool:
        return topic_partition in self._stale or self._leader_of(topic_partition) < 0

    def _leader_of(self, topic_partition: TopicPartition) -> int:
        known = self._partitions.get(topic_partition[0], {}).get(topic_partition[1])
        return -1 if known is None else known["leader"]
