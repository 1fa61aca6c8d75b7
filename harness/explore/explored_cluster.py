"""The cluster as cells use it: coordinators worked out by hash, and a pool of partitions that many cells share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from uuid import UUID

from harness.base.unprepared import Unprepared
from harness.explore.asker import Asker
from harness.explore.cell_identities import CellIdentities
from harness.kafka.any_broker import AnyBroker
from harness.kafka.belongings import Belongings
from harness.kafka.coordinators import Coordinators
from harness.kafka.topics import Topics
from harness.model.alphabet import OTHER, OWN, PARTITIONS
from harness.wire.records.transaction_state import TOPIC, state_partition
from harness.wire.requests.cluster.metadata import Metadata, PartitionMetadata
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_client import WireClient

POOL = 24
"""Partitions of a pool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionPool:
    """A topic whose neighbouring partitions are led by different brokers, as far as the cluster obeys."""

    topic: str
    topic_id: UUID | None
    leaders: Mapping[TopicPartition, int]

    def places(self, number: int) -> Mapping[str, TopicPartition]:
        """The partitions of a cell, by their names in the model."""
        count = len(self.leaders)
        return {name: (self.topic, (number + index) % count) for index, name in enumerate(PARTITIONS)}

    def by_leader(self) -> Mapping[int, Sequence[TopicPartition]]:
        """Its partitions by the broker that leads them."""
        grouped: dict[int, list[TopicPartition]] = {}
        for place, leader in self.leaders.items():
            grouped.setdefault(leader, []).append(place)
        return grouped


@dataclass(slots=True, kw_only=True)
class ExploredCluster:
    """What one thread of cells needs.

    :param observer: Over a connection of its own, so that looks do not wait behind questions.
    :param verifying: Held by the one thread whose cells write now.
    """

    asker: Asker
    observer: WireClient
    brokers: Sequence[int]
    belongings: Belongings
    verifying: Lock
    _state_partitions: Mapping[int, PartitionMetadata] = field(default_factory=dict)

    def prepare(self) -> None:
        """Wait until an id has a coordinator: the first question makes Kafka create ``__transaction_state``."""
        Coordinators(self.any_broker).of(self.belongings.name("first"))
        self.look_up_coordinators()

    def look_up_coordinators(self) -> None:
        """:raises Unprepared: Where the cluster shows no partitions that keep transactional ids."""
        shown = self.any_broker.first(Metadata(topics=(TOPIC,))).topics.get(TOPIC)
        if shown is None or not shown["partitions"]:
            raise Unprepared(f"Metadata shows no {TOPIC}, so nobody can tell who coordinates which id")
        self._state_partitions = shown["partitions"]

    def coordinator(self, transactional_id: str) -> int:
        """The broker that coordinates the id."""
        return self._kept(transactional_id)["leader"]

    def identities(self, number: int, pool: PartitionPool) -> CellIdentities:
        """Fresh names for a cell."""
        ids = {name: self.belongings.name(f"c{number}", name) for name in (OWN, OTHER)}
        self.belongings.transactional_ids += len(ids)
        epochs = {name: self._kept(real)["leader_epoch"] for name, real in ids.items()}
        return CellIdentities(number=number, ids=ids, places=pool.places(number), coordinator_epochs=epochs)

    def new_pool(self, number: int) -> PartitionPool:
        """A topic that serves; one copy of each partition, because how copies are made is not what is asked."""
        name = self.belongings.new_topic("pool", str(number))
        topics = Topics(self.any_broker)
        assignment = {index: (self.brokers[index % len(self.brokers)],) for index in range(POOL)}
        layout = topics.create(name, partitions=POOL, assignment=assignment)
        topics.await_served(layout, tuple(layout.partitions))
        leaders = {(name, index): layout.leader(index) for index in layout.partitions}
        return PartitionPool(topic=name, topic_id=layout.topic_id, leaders=leaders)

    def remove(self, pool: PartitionPool) -> None:
        """Remove its topic, once all markers to it are written; what cannot be removed now is tried again at the end.

        A marker to a partition that goes leaves the whole WriteTxnMarkers request of its coordinator unanswered, where
        other markers of the request were appended before it: ``KafkaApis.handleWriteTxnMarkersRequest`` counts it as
        done without looking whether it was the last. Until that request times out, after 30 s, the coordinator sends
        no marker to that broker.
        """
        self.belongings.remove(self.any_broker, topics=(pool.topic,), groups=())

    @property
    def any_broker(self) -> AnyBroker:
        """Any of the brokers, over the observer's connections."""
        return AnyBroker(self.observer, self.brokers)

    def _kept(self, transactional_id: str) -> PartitionMetadata:
        return self._state_partitions[state_partition(transactional_id, len(self._state_partitions))]
