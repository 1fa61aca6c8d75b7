"""What of ours is on a cluster that lives on without us, and its removal.

Everything is noted before it is made, so that an interrupt between the two leaves nothing behind. What could not be
removed at the end of a requirement is tried again at the end of the run, and then told.
"""

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from harness.base import wait
from harness.base.kafka_error import KafkaError, error_name
from harness.base.unprepared import Unprepared
from harness.cluster.run_options import Permissions
from harness.kafka.any_broker import AnyBroker
from harness.kafka.coordinators import Coordinators
from harness.kafka.topics import Topics
from harness.wire.requests.cluster.delete_topics import DeleteTopics
from harness.wire.requests.groups.delete_groups import DeleteGroups
from harness.wire.requests.groups.find_coordinator import GROUP
from harness.wire.topic_partitions import TopicPartition, partition_name
from harness.wire.wire_errors import WireError

NO_GROUP = frozenset({0, KafkaError.GROUP_ID_NOT_FOUND})
"""What DeleteGroups answers of a group that is not there afterwards; without a committed offset it never was."""
ENDING_SECONDS = 2.0
"""That a transaction may take to be aborted."""
SHOWN = 3
"""Names in a sentence; of the others the count is told."""


@dataclass(slots=True, kw_only=True)
class Belongings:
    """The topics, groups and transactional ids of one run.

    :param permissions: The prefix of all names, and the topics that were given.
    :param stamp: Part of all names, never drawn from the seed: a run that is repeated meets no id of the run before,
        whose epochs a coordinator keeps for days.
    :param in_use: Partitions of given topics, each of one requirement at a time.
    :param written: All of them that were ever in use.
    :param obeys_assignment: Whether new topics' leaders are where they were wanted; None until it was seen.
    :param coordinating_nothing: Brokers for which no transactional id was found; none is looked for again.
    """

    permissions: Permissions = field(default_factory=Permissions)
    stamp: str = field(default_factory=lambda: secrets.token_hex(3))
    topics: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    transactional_ids: int = 0
    in_use: set[TopicPartition] = field(default_factory=set)
    obeys_assignment: bool | None = None
    coordinating_nothing: set[int] = field(default_factory=set)
    written: set[TopicPartition] = field(default_factory=set)
    _open: list[TopicPartition] = field(default_factory=list)
    _reasons: dict[str, str] = field(default_factory=dict)

    def name(self, *parts: str) -> str:
        """A name of ours."""
        return f"{self.permissions.prefix}{self.stamp}-{'-'.join(parts).lower()}"

    def new_topic(self, *parts: str) -> str:
        """The name of a topic that is about to be made."""
        self.topics.append(self.name(*parts))
        return self.topics[-1]

    def new_group(self, *parts: str) -> str:
        """The name of a group that is about to be made."""
        self.groups.append(self.name(*parts))
        return self.groups[-1]

    def use(self, place: TopicPartition) -> None:
        """A partition of a given topic is about to be written to."""
        self.in_use.add(place)
        self.written.add(place)

    def remove(self, cluster: AnyBroker, *, topics: Collection[str], groups: Collection[str]) -> None:
        """Remove these of ours, as far as the cluster lets us; the rest stays noted, with the reason."""
        self._forget(self.topics, topics, lambda: _delete_topics(cluster, _ours(self.topics, topics)))
        self._forget(self.groups, groups, lambda: _delete_groups(cluster, _ours(self.groups, groups)))

    def remove_all(self, cluster: AnyBroker) -> None:
        """Remove whatever is left, and see on which given partitions a transaction stays open."""
        self.remove(cluster, topics=tuple(self.topics), groups=tuple(self.groups))
        with suppress(Unprepared, WireError, wait.TimedOut):
            self._open = [place for place in sorted(self.written) if _is_open(cluster, place)]

    def left(self) -> Iterator[str]:
        """A sentence for each kind of thing that stays on the cluster."""
        yield from self._not_removed("topic", self.topics)
        yield from self._not_removed("group", self.groups)
        if self.transactional_ids:
            yield (
                f"{_count(self.transactional_ids, 'transactional id')} that begin with {self.name('')} stay until the"
                " cluster forgets them (transactional.id.expiration.ms, 7 days in Kafka)"
            )
        if self.permissions.topics and self.transactional_ids:
            yield f"what was written to {', '.join(self.permissions.topics)} stays there"
        if self._open:
            names = ", ".join(partition_name(*place) for place in self._open)
            yield f"a transaction is still open on {names}: consumers with read_committed stop before it"

    def _not_removed(self, what: str, names: Sequence[str]) -> Iterator[str]:
        if names:
            reasons = ", ".join(sorted({self._reasons.get(name, "not tried") for name in names}))
            shown = ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
            yield f"{_count(len(names), what)} could not be removed ({reasons}): {shown}"

    def _forget(self, noted: list[str], wanted: Collection[str], remove: Callable[[], Mapping[str, str]]) -> None:
        asked = _ours(noted, wanted)
        if not asked:
            return
        try:
            still = remove()
        except (Unprepared, WireError, wait.TimedOut) as error:
            still = dict.fromkeys(asked, str(error))
        self._reasons |= still
        noted[:] = [name for name in noted if name not in asked or name in still]


def _ours(noted: Sequence[str], wanted: Collection[str]) -> Sequence[str]:
    """Those that we made; nothing else is ever removed."""
    return tuple(name for name in noted if name in wanted)


def _is_open(cluster: AnyBroker, place: TopicPartition) -> bool:
    """Whether a transaction is open on it once those that are being aborted are."""
    topics = Topics(cluster)
    layout = topics.layout(place[0])
    return (
        layout is not None
        and wait.elapsed_ms_until(
            lambda: topics.clean_end(place, layout.leader(place[1])) is not None, timeout_seconds=ENDING_SECONDS
        )
        is None
    )


def _delete_topics(cluster: AnyBroker, names: Sequence[str]) -> Mapping[str, str]:
    if not cluster.offers(DeleteTopics.api):
        return dict.fromkeys(names, "DeleteTopics is not offered")
    return {name: error_name(error) for name, error in Topics(cluster).delete(names).items()}


def _delete_groups(cluster: AnyBroker, names: Sequence[str]) -> Mapping[str, str]:
    """Each through its coordinator."""
    if not cluster.offers(DeleteGroups.api):
        return dict.fromkeys(names, "DeleteGroups is not offered")
    still: dict[str, str] = {}
    for name in names:
        coordinator = Coordinators(cluster).of(name, GROUP)
        answered = cluster.client.call(coordinator, DeleteGroups(groups=(name,))).result
        if answered.error not in NO_GROUP:
            still[name] = error_name(answered.error)
    return still


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
