"""Where a requirement's partitions, groups and transactional ids lie.

Partitions get a leader that is not the coordinator of any producer so far, and producers a transactional id whose
coordinator leads none of the partitions so far, so that Produce and EndTxn travel on different links. Both are wishes:
a cluster of one broker, or one in which one broker coordinates everything, is judged as well.

A partition lies at an index above 0 of a topic that has others, because a defect may depend on the index.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from harness.base.unprepared import OutOfReach, Unprepared
from harness.kafka.any_broker import AnyBroker
from harness.kafka.belongings import Belongings
from harness.kafka.coordinators import Coordinated, Coordinators, transactional_id_for
from harness.kafka.topics import TopicLayout, Topics
from harness.lab.partition import CONSUMER_OFFSETS, UNKNOWN, Group, Partition
from harness.wire.records.transaction_state import TOPIC as TRANSACTION_STATE
from harness.wire.requests.groups.find_coordinator import GROUP
from harness.wire.requests.transactions.describe_producers import DescribeProducers
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from harness.wire.topic_partitions import partition_name
from harness.wire.wire_errors import WireError

PLACED = 3
"""Partitions of a topic whose leaders are where we want them."""
FREE = 12
"""At least so many of a topic whose leaders the cluster chooses, where it has several brokers: one is to fit."""
CLEAN_SECONDS = 3.0
"""That a transaction of ours may take to end on a given partition."""
TOPICS_TRIED = 6
"""Topics made until one has a partition with the wanted leader: servers draw leaders, for as few as four partitions."""


@dataclass(slots=True, kw_only=True)
class Placement:
    """What one requirement has on the cluster; leaders and indexes are drawn from the run's seed.

    :param starts: Where partitions began that others wrote to before, by name; shared with the evidence.
    :param foreign: Ids of the producers that a given partition's leader knew then; likewise.
    :param coordinators: Of the producers so far.
    """

    cluster: AnyBroker
    belongings: Belongings
    requirement: str
    draw: Random
    starts: dict[str, int]
    foreign: dict[str, frozenset[int]]
    partitions: list[Partition] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    coordinators: set[int] = field(default_factory=set)
    _topics: list[str] = field(default_factory=list)
    _ids: list[Coordinated] = field(default_factory=list)
    _names: Random = field(init=False)

    def __post_init__(self) -> None:
        """Names have a stream of their own: how many are drawn depends on the cluster, and nothing else may."""
        self._names = Random(self.draw.randrange(2**32))

    def partition(
        self, alias: str, *, leader: int | None, replicas: int, configs: Mapping[str, str] | None
    ) -> Partition:
        """A partition for this requirement alone, led by ``leader`` or by a broker away from all coordinators so far.

        :raises Unprepared: When none is led by that broker, or none has so many replicas.
        :raises OutOfReach: When it needs settings, and the topic is not ours to make.
        """
        wanted = self._quiet_first() if leader is None else [leader]
        copies = min(replicas, len(self.cluster.brokers))
        if self.belongings.permissions.topics:
            made = self._given(alias, wanted, copies, configs)
        else:
            made = self._fresh(alias, wanted, copies, configs)
        self.starts[str(made)] = made.start
        self.partitions.append(made)
        return made

    def group(self, alias: str, *, drained: bool = True) -> Group:
        """A fresh group and the partition that keeps its offsets, which others write to as well.

        :param drained: Whether that partition is read at the end.
        """
        name = self.belongings.new_group(self.requirement, "group", self._drawn())
        leader = Coordinators(self.cluster).of(name, GROUP)
        index, start = self._end_of_kept(CONSUMER_OFFSETS, name, leader)
        self.starts[partition_name(CONSUMER_OFFSETS, index)] = start
        offsets = Partition(alias=alias, topic=CONSUMER_OFFSETS, index=index, leader=leader, start=start)
        made = Group(name=name, offsets=offsets)
        if drained:
            self.groups.append(made)
        return made

    def transactional_id(self, lane: str, wanted: int | None) -> tuple[str, int]:
        """A fresh id and its coordinator: ``wanted``, or if there is one a broker that leads no partition so far.

        :raises OutOfReach: When the wanted broker coordinates nothing.
        """
        self.belongings.transactional_ids += 1
        name, coordinator = self._wished_id(lane) if wanted is None else self._id_of(lane, wanted)
        self._ids.append((name, coordinator))
        index, end = self._end_of_kept(TRANSACTION_STATE, name, coordinator)
        self.starts.setdefault(partition_name(TRANSACTION_STATE, index), end)
        return name, coordinator

    def end(self) -> None:
        """Remove what this requirement made, and let go of what it used, with no transaction of ours open on it."""
        self.end_transactions(dict(self._ids) if self.belongings.permissions.topics else {})
        self.belongings.in_use -= {partition.topic_partition for partition in self.partitions}
        self.belongings.remove(self.cluster, topics=self._topics, groups=[group.name for group in self.groups])

    def end_transactions(self, ids: Mapping[str, int]) -> None:
        """Abort what is open of these ids, by coordinator (``TransactionCoordinator.handleInitProducerId``)."""
        for name, coordinator in ids.items():
            with suppress(WireError):
                self.cluster.client.call(coordinator, InitProducerId(transactional_id=name))

    def _fresh(self, alias: str, wanted: Sequence[int], copies: int, configs: Mapping[str, str] | None) -> Partition:
        topics = Topics(self.cluster)
        if configs and not topics.can_be_created:
            raise OutOfReach(f"{alias} needs settings of its topic, and CreateTopics is not offered")
        for _ in range(TOPICS_TRIED):
            index = self.draw.randrange(1, PLACED)
            layout = self._new_topic(topics, alias, self._assignment(wanted[0], index, copies), copies, configs)
            obeyed = len(layout.partitions) == PLACED and layout.leader(index) == wanted[0]
            self.belongings.obeys_assignment = obeyed
            found = index if obeyed else self._choice(layout, wanted, copies)
            if found is not None:
                topics.await_served(layout, (found,))
                return _partition(alias, layout, found)
        raise Unprepared(f"of {TOPICS_TRIED} topics no partition is led by broker {wanted[0]} with {copies} replicas")

    def _new_topic(
        self,
        topics: Topics,
        alias: str,
        assignment: Mapping[int, tuple[int, ...]],
        copies: int,
        configs: Mapping[str, str] | None,
    ) -> TopicLayout:
        name = self.belongings.new_topic(self.requirement, alias, self._drawn())
        self._topics.append(name)
        several = len(self.cluster.brokers)
        free = PLACED if several == 1 else max(FREE, several + 1)
        taken = assignment if self.belongings.obeys_assignment is not False else None
        return topics.create(name, partitions=free, replicas=copies, assignment=taken, configs=configs)

    def _assignment(self, leader: int, index: int, copies: int) -> Mapping[int, tuple[int, ...]]:
        """The wanted leader for the partition at ``index``, the other brokers in turn for those beside it."""
        brokers = self.cluster.brokers
        shift = brokers.index(leader) - index
        turned = [[brokers[(shift + part + copy) % len(brokers)] for copy in range(copies)] for part in range(PLACED)]
        return {part: tuple(replicas) for part, replicas in enumerate(turned)}

    def _choice(self, layout: TopicLayout, wanted: Sequence[int], copies: int) -> int | None:
        """An index whose leader comes first among the wanted; 0 only where no other fits."""
        for broker in wanted:
            fitting = layout.led_by((broker,), replicas=copies)
            if fitting:
                return self.draw.choice([index for index in fitting if index] or fitting)
        return None

    def _given(self, alias: str, wanted: Sequence[int], copies: int, configs: Mapping[str, str] | None) -> Partition:
        """A partition of the owner's topics that nobody uses and on which no transaction is open."""
        names = ", ".join(self.belongings.permissions.topics)
        if configs:
            raise OutOfReach(f"{alias} needs settings of its topic, and only {names} may be written to")
        found: list[Partition] = []
        self.cluster.patience.until(
            lambda: bool(found) or self._take(alias, wanted, copies, found),
            kinds=("a clean partition",),
            timeout_seconds=CLEAN_SECONDS,
            interval_seconds=0.05,
        )
        if found:
            return found[0]
        led = f"led by broker {wanted[0]}, " if len(wanted) == 1 else ""
        raise Unprepared(f"{names}: no partition is {led}free, and without an open transaction")

    def _take(self, alias: str, wanted: Sequence[int], copies: int, found: list[Partition]) -> bool:
        """Take the first that is clean; whether waiting for another is of no use."""
        places = list(self._free_places(wanted, copies))
        for layout, index in places:
            start = Topics(self.cluster).clean_end((layout.name, index), layout.leader(index))
            if start is not None:
                self.belongings.use((layout.name, index))
                self.foreign[partition_name(layout.name, index)] = self._known_producers(layout, index)
                found.append(_partition(alias, layout, index, start))
                return True
        return not places

    def _known_producers(self, layout: TopicLayout, index: int) -> frozenset[int]:
        """By id; none where the server does not tell them."""
        try:
            request = DescribeProducers(topic=layout.name, partition=index)
            shown = self.cluster.client.call(layout.leader(index), request).result.producers
        except WireError:
            return frozenset()
        return frozenset(each["producer_id"] for each in shown)

    def _free_places(self, wanted: Sequence[int], copies: int) -> Iterator[tuple[TopicLayout, int]]:
        """Partitions of given topics that no requirement uses, in the order of the wanted leaders; index 0 last."""
        layouts = [self._layout(name) for name in self.belongings.permissions.topics]
        for broker in wanted:
            places = [(each, index) for each in layouts for index in each.led_by((broker,), replicas=copies)]
            free = [place for place in places if (place[0].name, place[1]) not in self.belongings.in_use]
            self.draw.shuffle(free)
            yield from sorted(free, key=lambda place: place[1] == 0)

    def _layout(self, name: str) -> TopicLayout:
        found = Topics(self.cluster).layout(name)
        if found is None:
            raise Unprepared(f"topic {name} is not there, or has a partition without leader")
        return found

    def _end_of_kept(self, topic: str, key: str, leader: int) -> tuple[int, int]:
        """Index and end of the partition that keeps a group or an id; ``UNKNOWN`` where it is not shown to us."""
        kept = Coordinators(self.cluster).key_partition(topic, key)
        if kept is None:
            return UNKNOWN, 0
        try:
            return kept[0][1], Topics(self.cluster).end(kept[0], leader)
        except (Unprepared, WireError):
            return UNKNOWN, 0

    def _id_of(self, lane: str, broker: int) -> tuple[str, int]:
        found = transactional_id_for((broker,), lambda: self._id(lane), self.cluster)
        if found is None:
            raise OutOfReach(f"no transactional id is coordinated by broker {broker}")
        return found

    def _wished_id(self, lane: str) -> tuple[str, int]:
        """One broker after the other is wished for, so that the seed alone decides which it is."""
        leading, nothing = {partition.leader for partition in self.partitions}, self.belongings.coordinating_nothing
        away = [broker for broker in self.cluster.brokers if broker not in leading | nothing]
        for broker in self.draw.sample(away, len(away)):
            if found := transactional_id_for((broker,), lambda: self._id(lane), self.cluster):
                return found
            nothing.add(broker)
        name = self._id(lane)
        return name, Coordinators(self.cluster).of(name)

    def _id(self, lane: str) -> str:
        return self.belongings.name(self.requirement, lane, self._drawn())

    def _drawn(self) -> str:
        return f"{self._names.randrange(16**8):08x}"

    def _quiet_first(self) -> Sequence[int]:
        leading = {partition.leader for partition in self.partitions}
        brokers = self.cluster.brokers
        rank = {each: (each in self.coordinators, each in leading, self.draw.random()) for each in brokers}
        return sorted(brokers, key=lambda broker: rank[broker])


def _partition(alias: str, layout: TopicLayout, index: int, start: int = 0) -> Partition:
    leader, topic_id = layout.leader(index), layout.topic_id
    return Partition(alias=alias, topic=layout.name, index=index, leader=leader, topic_id=topic_id, start=start)
