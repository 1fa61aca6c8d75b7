"""A raw client on one lane that knows who leads what, and asks again where leadership has moved.

Everything that is read for the judge after and during chaos is read through one: bounded, never raising for a broker
that is away until the bound is over.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from harness import wait
from harness.clock import RunClock
from harness.cluster.topology import Address, Lane
from harness.history.kafka_errors import error_name
from harness.history.recorder import Unrecorded
from harness.wire.client import WireClient
from harness.wire.errors import CannotSay, NotOffered, UnreadableAnswer, WireError
from harness.wire.verb import Result, Verb
from harness.wire.verbs.find_coordinator import TRANSACTION, FindCoordinator
from harness.wire.verbs.metadata import Metadata, MetadataResult, PartitionPlace

Place: TypeAlias = tuple[str, int]
"""Topic and partition index."""

ResultT = TypeVar("ResultT", bound=Result)

MOVED = frozenset({3, 5, 6, 7, 9, 14, 15, 16, 56, 74, 76, 78})
"""What a broker answers that is not, or not yet, the one to ask: UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE,
NOT_LEADER_OR_FOLLOWER, REQUEST_TIMED_OUT, REPLICA_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, KAFKA_STORAGE_ERROR, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH,
OFFSET_NOT_AVAILABLE."""

WITHIN = 10.0
"""Seconds that a question may take in all."""
PATIENCE = 3.0
"""Seconds that one broker is given for one answer."""
EVERY = 0.05


class Unreachable(Exception):
    """Nobody answered within the bound; the text is one sentence with the last reason."""


@dataclass(slots=True, kw_only=True)
class Lookout:
    """Questions over one lane; used by one thread. Close it after use.

    :param brokers: Those who may be asked for metadata.
    """

    client: WireClient
    brokers: Sequence[int]
    _leaders: dict[Place, int] = field(default_factory=dict)
    _reason: str = "nobody was asked"

    @classmethod
    def over(cls, addresses: Mapping[int, Address], clock: RunClock, lane: Lane = "observer") -> "Lookout":
        """A lookout with a client of its own, whose exchanges are not kept."""
        client = WireClient(actor=f"lookout-{lane}", lane=lane, addresses=addresses, clock=clock, recorder=Unrecorded())
        return cls(client=client, brokers=tuple(addresses))

    def at_leader(
        self, place: Place, verb: Verb[ResultT], *, cap: int | None = None, within: float = WITHIN
    ) -> ResultT:
        """Ask the partition's leader, whoever it is by now.

        :param cap: The highest version that can carry the question.
        :raises Unreachable: When there was no answer other than one of :data:`MOVED` in time.
        """

        def once() -> ResultT | None:
            leader = self.leader(place)
            answer = None if leader is None else self._ask(leader, verb, cap)
            if answer is None:
                self._leaders.pop(place, None)
            return answer

        return self._until(once, f"{verb.api} of {place[0]}-{place[1]}", within)

    def at_coordinator(
        self, key: str, verb: Verb[ResultT], *, of: int = TRANSACTION, within: float = WITHIN
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

    def leader(self, place: Place) -> int | None:
        """The partition's leader, remembered until :meth:`forget`; None while it has none."""
        if place not in self._leaders and (known := self.metadata((place[0],))) is not None:
            self._learn(known)
        return self._leaders.get(place)

    def leaders(self, places: Iterable[Place]) -> Mapping[int, list[Place]]:
        """The places by leader; those that have none now are left out."""
        wanted = list(places)
        if unknown := {topic for topic, index in wanted if (topic, index) not in self._leaders}:
            known = self.metadata(tuple(sorted(unknown)))
            self._learn(known) if known is not None else None
        led: dict[int, list[Place]] = {}
        for place in wanted:
            if place in self._leaders:
                led.setdefault(self._leaders[place], []).append(place)
        return led

    def forget(self, places: Iterable[Place]) -> None:
        """Look their leaders up again at the next question."""
        for place in places:
            self._leaders.pop(place, None)

    def described(self, topics: Sequence[str]) -> Mapping[Place, PartitionPlace] | None:
        """Leader, replicas and in-sync replicas of every partition of the topics; None when nobody answers."""
        known = self.metadata(tuple(topics))
        if known is None:
            return None
        parts = ((topic, found["partitions"].items()) for topic, found in known.topics.items())
        return {(topic, index): place for topic, places in parts for index, place in places}

    def metadata(self, topics: tuple[str, ...]) -> MetadataResult | None:
        """Metadata of the first broker that answers; a partition's error in it is no error of the answer."""
        for broker in self.brokers:
            try:
                return self.client.call(broker, Metadata(topics=topics), within=PATIENCE).result
            except WireError as error:
                self._reason = str(error)
        return None

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def _learn(self, known: MetadataResult) -> None:
        for topic, found in known.topics.items():
            for index, place in found["partitions"].items():
                if place["leader"] >= 0:
                    self._leaders[topic, index] = place["leader"]

    def _ask(self, node: int, verb: Verb[ResultT], cap: int | None) -> ResultT | None:
        """The answer, or None where another broker may give one; what no broker can say is raised."""
        try:
            version = None if cap is None else self.client.highest(node, verb.api, cap)
            result = self.client.call(node, verb, version, within=PATIENCE).result
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
