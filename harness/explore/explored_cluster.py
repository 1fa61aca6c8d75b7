"""The cluster as cells use it: coordinators worked out by hash, and a pool of partitions that many cells share."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from threading import Lock
from uuid import UUID

from harness.base import wait
from harness.base.unprepared import Unprepared
from harness.explore.asker import Asker
from harness.explore.cell_identities import AGAIN, CellIdentities, nobodys_of
from harness.explore.looks.listed_ends import listed_ends
from harness.explore.looks.record_look import RecordLook
from harness.kafka.any_broker import AnyBroker
from harness.kafka.belongings import Belongings
from harness.kafka.coordinators import AT_ONCE, Coordinators, coordinators_of
from harness.kafka.topics import Topics
from harness.model.alphabet import MISSING, NAMELESS, NO_TOPIC, OTHER, OWN, PARTITIONS
from harness.model.model_requests import DescribedBy
from harness.model.model_state import GROUP as MODEL_GROUP
from harness.wire.records.transaction_state import TOPIC, state_partition
from harness.wire.requests.cluster.metadata import Metadata, PartitionMetadata
from harness.wire.requests.groups.find_coordinator import GROUP
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import WireError

POOL = 24
"""Partitions of a pool."""
NAMES_TRIED = 60
"""Until one has a wanted coordinator: of three brokers with two partitions each, that it has not is one in 10¹⁰."""
GROUPS_TOPIC = "__consumer_offsets"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionPool:
    """A topic whose neighbouring partitions are led by different brokers, as far as the cluster obeys.

    :param groups: Leaders of the partitions of ``__consumer_offsets`` that keep the groups of its cells: others than
        those of the pool before, because every look shows all producers that a partition ever had.
    :param group_ends: Where those partitions ended when the pool was made.
    :param copies: Replicas of each partition.
    :param kept_by: The partition of ``__transaction_state`` that keeps all ids of its cells; None: any of them.
    :param apart: No partition is one cell's first and another's second one, and the cell's group is with the first.
    """

    topic: str
    topic_id: UUID | None
    leaders: Mapping[TopicPartition, int]
    groups: Mapping[TopicPartition, int] = field(default_factory=dict)
    group_ends: Mapping[TopicPartition, int] = field(default_factory=dict)
    copies: Mapping[TopicPartition, Collection[int]] = field(default_factory=dict)
    kept_by: int | None = None
    apart: bool = False

    def places(self, number: int) -> Mapping[str, TopicPartition]:
        """The partitions of a cell, by their names in the model."""
        count, first = len(self.leaders), number * len(PARTITIONS) if self.apart else number
        named = {name: (self.topic, (first + index) % count) for index, name in enumerate(PARTITIONS)}
        named |= {MISSING: (self.topic, count), NO_TOPIC: (f"no-{self.topic}", 0)}
        groups = tuple(self._groups_beside(self.leaders[named[PARTITIONS[0]]]) if self.apart else self.groups)
        return {**named, MODEL_GROUP: groups[number % len(groups)]} if groups else named

    def _groups_beside(self, leader: int) -> Collection[TopicPartition]:
        """Those that the leader of a cell's partition leads too, so that its coordinator may be yet another broker."""
        return [place for place, led_by in self.groups.items() if led_by == leader] or self.groups

    def named(self, name: str) -> Sequence[TopicPartition]:
        """Those that are this one of the model to some cell, where they are kept apart."""
        first = PARTITIONS.index(name)
        return [(self.topic, index) for _, index in sorted(self.leaders) if index % len(PARTITIONS) == first]

    def broker(self, place: TopicPartition, by: DescribedBy, brokers: Sequence[int]) -> int | None:
        """One that is this to a partition, if there is one; any of them leads what is missing."""
        leader = self.everywhere.get(place, brokers[0])
        if by is DescribedBy.LEADER:
            return leader
        copies, wanted = self.copies.get(place, ()), by is DescribedBy.FOLLOWER
        return next((each for each in brokers if each != leader and (each in copies) == wanted), None)

    @property
    def everywhere(self) -> Mapping[TopicPartition, int]:
        """Leaders of its own partitions and of those that keep groups."""
        return {**self.leaders, **self.groups}


@dataclass(slots=True, kw_only=True)
class ExploredCluster:
    """What one thread of cells needs.

    :param observer: Over a connection of its own, so that looks do not wait behind questions.
    :param verifying: Held by the one thread whose cells write now.
    :param topic_settings: Of the topics that are made.
    :param records: What coordinators write; None where that is not looked at.
    """

    asker: Asker
    observer: WireClient
    brokers: Sequence[int]
    belongings: Belongings
    verifying: Lock
    topic_settings: Mapping[str, str] = field(default_factory=dict)
    records: RecordLook | None = None
    _state_partitions: Mapping[int, PartitionMetadata] = field(default_factory=dict)
    _group_partitions: Mapping[int, PartitionMetadata] = field(default_factory=dict)
    _found: dict[str, int] = field(default_factory=dict)
    _drawn: Iterator[int] = field(default_factory=count)
    _asked: Counter[int] = field(default_factory=Counter)

    def prepare(self) -> None:
        """Wait until an id has a coordinator: the first question makes Kafka create ``__transaction_state``."""
        Coordinators(self.any_broker).of(self.belongings.name("first"))
        self.look_up_coordinators()
        self._group_partitions = group_partitions(self.any_broker, self.belongings.name("first"))

    def look_at_records(self, unreadable: Callable[[str], None]) -> None:
        """From now on, what coordinators write of transactional ids is looked at too, where it is shown.

        :param unreadable: See :class:`RecordLook`.
        """
        self.records = RecordLook.begun(self.observer, self.state_leaders(), unreadable)

    def look_up_coordinators(self) -> None:
        """Learn who leads the partitions that keep transactional ids; a server that shows none is asked for each id.

        Likewise of those that keep groups, where it showed them once.
        """
        topics = (TOPIC, GROUPS_TOPIC) if self._group_partitions else (TOPIC,)
        shown = self.any_broker.first(Metadata(topics=topics)).topics
        self._state_partitions = shown[TOPIC]["partitions"] if TOPIC in shown else {}
        if GROUPS_TOPIC in shown:
            self._group_partitions = shown[GROUPS_TOPIC]["partitions"]
        if not self._state_partitions:
            self._ask_for_coordinators(tuple(filter(None, self._found)))
            self._found[NAMELESS] = min(self.brokers)  # FindCoordinator refuses it, so any broker may be asked about it

    def coordinator(self, transactional_id: str) -> int:
        """The broker that coordinates the id."""
        kept = self._kept(transactional_id)
        return self._found[transactional_id] if kept is None else kept["leader"]

    def state_places(self) -> Sequence[TopicPartition]:
        """The partitions that keep transactional ids; none where those are not shown."""
        return [(TOPIC, index) for index in sorted(self._state_partitions)]

    def state_leaders(self) -> Mapping[TopicPartition, int]:
        """The brokers that lead them."""
        return {(TOPIC, index): each["leader"] for index, each in self._state_partitions.items()}

    def state_place(self, transactional_id: str) -> TopicPartition:
        """The partition that keeps the id, where those are shown."""
        return TOPIC, state_partition(transactional_id, len(self._state_partitions))

    def names_of_each_partition(self) -> Sequence[str]:
        """An id that is never used for each partition that keeps ids; none where those are not shown."""
        return tuple(self._hashed(len(self._state_partitions)).values())

    def groups_of_each_partition(self) -> Mapping[str, int]:
        """A group that is never used for each partition that keeps groups, with its leader; likewise."""
        hashed = self._hashed(len(self._group_partitions))
        return {name: self._group_partitions[index]["leader"] for index, name in hashed.items()}

    def _hashed(self, wanted: int) -> Mapping[int, str]:
        """A name that is never used for each of so many partitions."""
        found = dict[int, str]()
        drawn = (self.belongings.name("never", str(number)) for number in count())
        while len(found) < wanted:
            name = next(drawn)
            found.setdefault(state_partition(name, wanted), name)
        return found

    def identities(self, numbers: Sequence[int], pool: PartitionPool) -> Sequence[CellIdentities]:
        """Fresh names for each cell of a batch, also for one that was asked before.

        :raises Unprepared: Where no broker names a coordinator.
        """
        made = [self._identities(number, pool) for number in numbers]
        if not self._state_partitions:
            self._ask_for_coordinators(tuple(real for each in made for real in each.ids.values()))
        return made

    def id_coordinated_away_from(self, leaders: Collection[int], *parts: str) -> str:
        """A fresh name whose coordinator is none of these brokers; any where there is no such coordinator."""
        drawn = (self.belongings.name(*parts, str(next(self._drawn))) for _ in range(NAMES_TRIED))
        fitting = (name for name in drawn if self.coordinator(name) not in leaders)
        return next(fitting, self.belongings.name(*parts))

    def id_coordinated_by(self, node: int, *parts: str) -> str:
        """A fresh name with that coordinator."""
        return self.id_coordinated_away_from(set(self.brokers) - {node}, *parts)

    def coordinator_epochs(self, ids: Mapping[str, str]) -> Mapping[str, int]:
        """Those of now, by the ids' names in the model; 0 where they are not shown."""
        kept = {name: self._kept(real) for name, real in ids.items()}
        return {name: 0 if each is None else each["leader_epoch"] for name, each in kept.items()}

    def _identities(self, number: int, pool: PartitionPool) -> CellIdentities:
        places, again = pool.places(number), self._asked[number]
        self._asked[number] += 1
        cell = f"c{number}-again-{again}" if again else f"c{number}"
        group = self._group(cell, places[MODEL_GROUP][1]) if pool.groups else ""
        led = {pool.everywhere[place] for place in places.values() if place in pool.everywhere}
        leaders = led if pool.apart else frozenset[int]()
        ids = {name: self._id(pool, leaders, cell, name) for name in (OWN, OTHER)}
        self.belongings.transactional_ids += len(ids)
        epochs = self.coordinator_epochs(ids)
        nobodys = nobodys_of(self.belongings.stamp) + again * AGAIN
        return CellIdentities(
            number=number, ids=ids, places=places, coordinator_epochs=epochs, group=group, nobodys=nobodys
        )

    def _id(self, pool: PartitionPool, leaders: Collection[int], *parts: str) -> str:
        """A fresh transactional id of a cell. :param leaders: Brokers that are not to coordinate it."""
        if pool.apart:
            return self.id_coordinated_away_from(leaders, *parts)
        if pool.kept_by is None:
            return self.belongings.name(*parts)
        drawn = (self.belongings.name(*parts, str(each)) for each in count())
        return next(name for name in drawn if self.state_place(name)[1] == pool.kept_by)

    def _group(self, cell: str, partition: int) -> str:
        """A fresh name for a group that the partition keeps (``GroupCoordinatorService.partitionFor``)."""
        drawn = (self.belongings.name(cell, "g", str(each)) for each in count())
        return next(name for name in drawn if state_partition(name, len(self._group_partitions)) == partition)

    def _ask_for_coordinators(self, names: Sequence[str]) -> None:
        left = list(names)
        while some := tuple(left[:AT_ONCE]):
            found = coordinators_of(self.any_broker, some)
            if missing := next((each for each in some if each not in found), None):
                raise Unprepared(f"nobody names a coordinator of {missing}")
            self._found |= found
            del left[:AT_ONCE]

    def new_pool(
        self, number: int, *, copies: int = 1, apart: bool = False, kept_by: int | None = None
    ) -> PartitionPool:
        """A topic that serves; one copy of each partition, because how copies are made is not what is asked.

        :param copies: More, where leaders are to move. :param apart: See :class:`PartitionPool`; the coordinators of a
            cell then lead none of its partitions, as far as there are enough brokers. :param kept_by: Likewise.
        """
        name = self.belongings.new_topic("pool", str(number))
        topics = Topics(self.any_broker)
        count = len(self.brokers)
        assignment = {
            index: tuple(self.brokers[(index + copy) % count] for copy in range(min(copies, count)))
            for index in range(POOL)
        }
        layout = topics.create(name, partitions=POOL, assignment=assignment, configs=self.topic_settings)
        topics.await_served(layout, tuple(layout.partitions))
        leaders = {(name, index): layout.leader(index) for index in layout.partitions}
        groups = self._groups_of(number)
        ends = {place: answer.offset for place, answer in listed_ends(self.observer, groups).items()}
        replicas = {(name, index): each["replicas"] for index, each in layout.partitions.items()}
        kept = {(GROUPS_TOPIC, index): each["replicas"] for index, each in self._group_partitions.items()}
        return PartitionPool(
            topic=name,
            topic_id=layout.topic_id,
            leaders=leaders,
            groups=groups,
            group_ends=ends,
            copies={**replicas, **kept},
            kept_by=kept_by,
            apart=apart,
        )

    def as_led_now(self, pool: PartitionPool) -> PartitionPool:
        """The pool with the coordinators of groups that were looked up last; who led last, where nobody leads now."""
        shown = {place: self._group_partitions[place[1]]["leader"] for place in pool.groups}
        return replace(
            pool, groups={place: led if shown[place] < 0 else shown[place] for place, led in pool.groups.items()}
        )

    def _groups_of(self, number: int) -> Mapping[TopicPartition, int]:
        """As many partitions as there are brokers, each pool's behind the ones of the pool before."""
        shown, wanted = self._group_partitions, len(self.brokers)
        indexes = {(number * wanted + each) % len(shown) for each in range(wanted)} if shown else ()
        return {(GROUPS_TOPIC, index): shown[index]["leader"] for index in sorted(indexes)}

    def remove(self, pool: PartitionPool) -> None:
        """Remove its topic, once all markers to it are written; what cannot be removed now is tried again at the end.

        A marker to a partition that goes leaves the whole WriteTxnMarkers request of its coordinator unanswered, where
        other markers of the request were appended before it: ``KafkaApis.handleWriteTxnMarkersRequest`` counts it as
        done without looking whether it was the last. Until that request times out, after 30 s, the coordinator sends
        no marker to that broker. A coordinator that moves sends the markers of refused transactions once more, so that
        none may move before all brokers know that the topic is gone.
        """
        self.belongings.remove(self.any_broker, topics=(pool.topic,), groups=())
        if pool.topic not in self.belongings.topics:
            Topics(self.any_broker).await_gone(pool.topic)

    @property
    def any_broker(self) -> AnyBroker:
        """Any of the brokers, over the observer's connections."""
        return AnyBroker(self.observer, self.brokers)

    def _kept(self, transactional_id: str) -> PartitionMetadata | None:
        """Where the id is kept (``TransactionStateManager.partitionFor``); None where that is not shown."""
        count = len(self._state_partitions)
        return self._state_partitions[state_partition(transactional_id, count)] if count else None


def group_partitions(cluster: AnyBroker, name: str) -> Mapping[int, PartitionMetadata]:
    """What keeps groups, once there is a coordinator of the group ``name``; nothing where that is not shown."""
    try:
        Coordinators(cluster).of(name, GROUP)
    except (Unprepared, WireError, wait.TimedOut):
        return {}
    shown = cluster.first(Metadata(topics=(GROUPS_TOPIC,))).topics.get(GROUPS_TOPIC)
    return {} if shown is None else shown["partitions"]
