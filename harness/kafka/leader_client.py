"""A raw client on one lane that knows who leads what, and asks again where leadership has moved.

Everything that is read for the judge after and during chaos is read through one: bounded, never raising for a broker
that is away until the bound is over.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from harness.base import wait
from harness.base.addresses import Address, Lane
from harness.base.clock import RunClock
from harness.base.kafka_error import error_name
from harness.evidence.recorder import NullRecorder
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.cluster.metadata import Metadata, MetadataResult
from harness.wire.requests.groups.find_coordinator import TRANSACTION, FindCoordinator
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import CannotSay, NotOffered, UnreadableAnswer, WireError

TopicPartition: TypeAlias = tuple[str, int]
"""Topic and partition index."""

ResultT = TypeVar("ResultT", bound=ApiResult)

MOVED = frozenset({3, 5, 6, 7, 9, 14, 15, 16, 56, 74, 76, 78})
"""What a broker answers that is not, or not yet, the one to ask: UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE,
NOT_LEADER_OR_FOLLOWER, REQUEST_TIMED_OUT, REPLICA_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, KAFKA_STORAGE_ERROR, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH,
OFFSET_NOT_AVAILABLE."""

WITHIN = 10.0
"""Seconds that a question may take in all."""
EVERY = 0.05


class Unreachable(Exception):
    """Nobody answered within the bound; the text is one sentence with the last reason."""


@dataclass(slots=True, kw_only=True)
class LeaderClient:
    """Questions over one lane; used by one thread. Close it after use.

    :param brokers: Those who may be asked for metadata.
    :param patience: Seconds that one broker is given for one answer.
    """

    client: WireClient
    brokers: Sequence[int]
    patience: float = 3.0
    _led: dict[TopicPartition, tuple[int, int]] = field(default_factory=dict)
    _doubted: set[TopicPartition] = field(default_factory=set)
    _turn: int = 0
    _reason: str = "nobody was asked"

    @classmethod
    def over(cls, addresses: Mapping[int, Address], clock: RunClock, lane: Lane = "observer") -> "LeaderClient":
        """A lookout with a client of its own, whose exchanges are not kept."""
        client = WireClient(
            actor=f"lookout-{lane}", lane=lane, addresses=addresses, clock=clock, recorder=NullRecorder()
        )
        return cls(client=client, brokers=tuple(addresses))

    def at_leader(
        self, place: TopicPartition, verb: ApiRequest[ResultT], *, cap: int | None = None, within: float = WITHIN
    ) -> ResultT:
        """Ask the partition's leader, whoever it is by now.

        :param cap: The highest version that can carry the question.
        :raises Unreachable: When there was no answer other than one of :data:`MOVED` in time.
        """

        def once() -> ResultT | None:
            leader = self.leader(place)
            answer = None if leader is None else self._ask(leader, verb, cap)
            if answer is None:
                self.forget((place,))
            return answer

        return self._until(once, f"{verb.api} of {place[0]}-{place[1]}", within)

    def at_coordinator(
        self, key: str, verb: ApiRequest[ResultT], *, of: int = TRANSACTION, within: float = WITHIN
    ) -> ResultT:
        """Ask the coordinator of a transactional id, or of a group with ``of=GROUP``; raises as ``at_leader`` does."""

        def once() -> ResultT | None:
            found = self.coordinator(key, of=of)
            return None if found is None else self._ask(found, verb, None)

        return self._until(once, f"{verb.api} of {key}", within)

    def coordinator(self, key: str, *, of: int = TRANSACTION) -> int | None:
        """The coordinator as the first broker that answers knows it, or None while nobody knows it."""
        for broker in self.brokers:
            found = self._ask(broker, FindCoordinator(key=key, key_type=of), None)
            if found is not None and found.error == 0:
                return found.node
        return None

    def leader(self, place: TopicPartition) -> int | None:
        """The partition's leader, remembered until :meth:`forget`; None while it has none."""
        return next(iter(self.leaders((place,))), None)

    def leaders(self, places: Iterable[TopicPartition]) -> Mapping[int, list[TopicPartition]]:
        """The places by leader; those that have none now are left out."""
        wanted = list(places)
        if unknown := {topic for topic, index in wanted if self._doubtful((topic, index))}:
            self._learn(self.metadata(tuple(sorted(unknown))))
        by_leader: dict[int, list[TopicPartition]] = {}
        for place in wanted:
            leader, _ = self._led.get(place, (-1, -1))
            if leader >= 0:
                by_leader.setdefault(leader, []).append(place)
        return by_leader

    def forget(self, places: Iterable[TopicPartition]) -> None:
        """Look their leaders up again at the next question."""
        self._doubted.update(places)

    def metadata(self, topics: tuple[str, ...]) -> MetadataResult | None:
        """Metadata of a broker that answers, a different one each time; None when nobody does."""
        self._turn += 1
        turn = self._turn % len(self.brokers)
        for broker in (*self.brokers[turn:], *self.brokers[:turn]):
            if (known := self.metadata_of(broker, topics)) is not None:
                return known
        return None

    def metadata_of(self, broker: int, topics: tuple[str, ...]) -> MetadataResult | None:
        """What one broker knows, or None when it does not answer; a partition's error is no error of the answer."""
        try:
            return self.client.call(broker, Metadata(topics=topics), within=self.patience).result
        except WireError as error:
            self._reason = str(error)
            return None

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def _doubtful(self, place: TopicPartition) -> bool:
        return place in self._doubted or self._led.get(place, (-1, -1))[0] < 0

    def _learn(self, known: MetadataResult | None) -> None:
        """A broker that is cut off tells of leaders that were: an older leader epoch changes nothing."""
        for topic, found in known.topics.items() if known is not None else ():
            for index, place in found["partitions"].items():
                if place["leader_epoch"] >= self._led.get((topic, index), (-1, -1))[1]:
                    self._led[topic, index] = (place["leader"], place["leader_epoch"])
                    self._doubted.discard((topic, index))

    def _ask(self, node: int, verb: ApiRequest[ResultT], cap: int | None) -> ResultT | None:
        """The answer, or None where another broker may give one; what no broker can say is raised."""
        try:
            version = None if cap is None else self.client.highest(node, verb.api, cap)
            result = self.client.call(node, verb, version, within=self.patience).result
        except (NotOffered, CannotSay, UnreadableAnswer) as error:
            raise Unreachable(str(error)) from error
        except WireError as error:
            self._reason = str(error)
            return None
        if result.error in MOVED:
            self._reason = f"broker {node} answered {verb.api} with {error_name(result.error)}"
            return None
        return result

    def _until(self, once: Callable[[], ResultT | None], what: str, within: float) -> ResultT:
        try:
            return wait.until(once, what=what, within=within, every=EVERY)
        except wait.NotInTime as late:
            raise Unreachable(f"{late}: {self._reason}") from late
