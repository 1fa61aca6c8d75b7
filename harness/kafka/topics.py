"""Topics: made on brokers of the caller's choice where the cluster takes that, known by what Metadata says of them.

Servers differ. One takes an assignment of replicas, one refuses it, one takes it and does as it likes; one creates
topics only by itself, when it is asked for one that is not there. So nothing is assumed of a topic that was made: its
partitions and their leaders are read back.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from harness.base import wait
from harness.base.kafka_error import KafkaError, error_name
from harness.base.unprepared import Unprepared
from harness.kafka.any_broker import AnyBroker, told
from harness.kafka.retriable import READ_AGAIN
from harness.wire.requests.cluster.create_topic import CreateTopic, CreateTopicResult
from harness.wire.requests.cluster.delete_topics import DeleteTopics
from harness.wire.requests.cluster.metadata import Metadata, PartitionMetadata, TopicMetadata
from harness.wire.requests.log.fetch import READ_COMMITTED, READ_UNCOMMITTED
from harness.wire.requests.log.list_offsets import LATEST, ListOffsets, ListOffsetsResult
from harness.wire.topic_partitions import TopicPartition, partition_name

PROPAGATION_SECONDS = 10.0
"""Within which a metadata change must have reached every broker."""
ASSIGNMENT_REFUSED = frozenset(
    {
        KafkaError.UNSUPPORTED_VERSION,
        KafkaError.INVALID_PARTITIONS,
        KafkaError.INVALID_REPLICATION_FACTOR,
        KafkaError.INVALID_REPLICA_ASSIGNMENT,
        KafkaError.INVALID_REQUEST,
        KafkaError.POLICY_VIOLATION,
    }
)
"""Answers after which a topic is asked for again without saying where its replicas shall be."""
CLUSTERS_CHOICE = -1
"""As replication factor: the cluster's default (KIP-464)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLayout:
    """A topic as Metadata shows it: every partition by its index, each with a leader."""

    name: str
    topic_id: UUID | None
    partitions: Mapping[int, PartitionMetadata]

    def leader(self, index: int) -> int:
        """The broker that leads the partition."""
        return self.partitions[index]["leader"]

    def led_by(self, brokers: Collection[int], *, replicas: int = 1) -> list[int]:
        """The indexes above 0 of the partitions that one of these leads and that have enough replicas; 0 last."""
        fitting = [i for i in sorted(self.partitions) if self.leader(i) in brokers and self._copies(i) >= replicas]
        return sorted(fitting, key=lambda index: index == 0)

    def _copies(self, index: int) -> int:
        return len(self.partitions[index]["replicas"])


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of one cluster."""

    cluster: AnyBroker

    @property
    def can_be_created(self) -> bool:
        """Whether CreateTopics is offered; else a topic can come into being only by being asked for."""
        return self.cluster.offers(CreateTopic.api)

    def create(
        self,
        name: str,
        *,
        partitions: int,
        replicas: int = 1,
        assignment: Mapping[int, tuple[int, ...]] | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> TopicLayout:
        """A new topic, known to every broker.

        :param assignment: The replicas of each partition, leader first: a wish, see the module's docstring.
        :param replicas: Of each partition, where there is no assignment; at most the number of brokers.
        :raises Unprepared: When it is refused, or CreateTopics is not offered and nothing comes by itself.
        :raises TimedOut: When not every partition gets a leader that all brokers know.
        """
        if not self.can_be_created:
            return self._create_by_asking(name)
        factor = min(replicas, len(self.cluster.brokers))
        free = CreateTopic(name=name, partitions=partitions, replicas=factor, configs=dict(configs or {}))
        placed = CreateTopic(name=name, assignment=assignment, configs=dict(configs or {})) if assignment else None
        result = _to_its_end(partial(self._first_taken, placed, free))
        if result.error:
            raise Unprepared(f"CreateTopics answered {told(result)}")
        return self.known_everywhere(name)

    def known_everywhere(self, name: str) -> TopicLayout:
        """The topic, when every broker knows each of its partitions with the same leader.

        :raises TimedOut: When not every broker does in time.
        """
        return self.cluster.patience.get(
            lambda: self._known_alike(name),
            what=f"topic {name} on every broker",
            kinds=("a topic that is known",),
            timeout_seconds=PROPAGATION_SECONDS,
            interval_seconds=0.002,
        )

    def await_gone(self, name: str) -> bool:
        """Wait, bounded, until no broker knows the topic; whether that is so."""

        def is_gone() -> bool:
            answers = self.cluster.each(Metadata(topics=(name,))).values()
            return not any(_is_shown(answer.topics.get(name)) for answer in answers)

        return wait.elapsed_ms_until(is_gone, timeout_seconds=PROPAGATION_SECONDS, interval_seconds=0.002) is not None

    def await_served(self, layout: TopicLayout, indexes: Sequence[int]) -> None:
        """Wait until the leaders of these partitions serve them; :raises TimedOut: when one does not in time."""
        for index in indexes:
            self.cluster.patience.get(
                partial(self._serves, layout, index),
                what=f"topic {layout.name}-{index} on broker {layout.leader(index)}",
                kinds=("a leader that serves",),
                timeout_seconds=PROPAGATION_SECONDS,
                interval_seconds=0.002,
            )

    def layout(self, name: str, *, create: bool = False) -> TopicLayout | None:
        """The topic as the first broker shows it; None while it has a partition without leader, or is not there.

        :raises Unprepared: When the broker does not show it and will not (``TOPIC_AUTHORIZATION_FAILED``).
        """
        shown = self.cluster.first(Metadata(topics=(name,), create=create)).topics.get(name)
        if shown is not None and shown["error"] and shown["error"] not in READ_AGAIN:
            raise Unprepared(f"Metadata of {name} answered {error_name(shown['error'])}")
        return _layout(name, shown)

    def end(self, place: TopicPartition, leader: int, isolation: int = READ_UNCOMMITTED) -> int:
        """The partition's high watermark, or with ``READ_COMMITTED`` its last stable offset.

        Waited for while the leader of a topic that was just made does not serve it yet.

        :raises Unprepared: When the leader refuses.
        :raises TimedOut: When it does not serve it in time.
        """
        request = ListOffsets(topic=place[0], partition=place[1], timestamp=LATEST, isolation=isolation)

        def served() -> ListOffsetsResult | None:
            result = self.cluster.client.call(leader, request).result
            return None if result.error in READ_AGAIN else result

        where = partition_name(*place)
        what = f"the end of {where} on broker {leader}"
        result = self.cluster.patience.get(
            served,
            what=what,
            kinds=("a leader that serves",),
            timeout_seconds=PROPAGATION_SECONDS,
            interval_seconds=0.01,
        )
        if result.error:
            raise Unprepared(f"ListOffsets of {where} answered {told(result)}")
        return result.offset

    def clean_end(self, place: TopicPartition, leader: int) -> int | None:
        """The partition's end; None while a transaction is open on it; raises as :meth:`end` does."""
        stable, end = self.end(place, leader, READ_COMMITTED), self.end(place, leader)
        return end if end == stable else None

    def delete(self, names: Sequence[str]) -> Mapping[str, int]:
        """Delete them; the errors by name of those that are still there. A topic that is gone is no error.

        :raises Unprepared, WireError: When nobody takes the request.
        """
        answered = self.cluster.controller(DeleteTopics(topics=tuple(names))).topics
        return {name: error for name, error in answered.items() if error not in GONE}

    def _first_taken(self, placed: CreateTopic | None, free: CreateTopic) -> CreateTopicResult:
        """The answer to the first form that is not refused for where or how often it wants its replicas."""
        by_default = CreateTopic(
            name=free.name, partitions=free.partitions, replicas=CLUSTERS_CHOICE, configs=free.configs
        )
        for form in filter(None, (placed, free)):
            result = self.cluster.controller(form)
            if result.error not in ASSIGNMENT_REFUSED:
                return result
        return self.cluster.controller(by_default)

    def _create_by_asking(self, name: str) -> TopicLayout:
        try:
            self.cluster.patience.get(
                lambda: self.layout(name, create=True),
                what=f"topic {name}, which is not there and was asked for",
                kinds=("a topic that comes by itself",),
                timeout_seconds=PROPAGATION_SECONDS,
                interval_seconds=0.02,
            )
        except wait.TimedOut as late:
            raise Unprepared(f"CreateTopics is not offered, and no topic comes by itself: {late}; give some") from late
        return self.known_everywhere(name)

    def _known_alike(self, name: str) -> TopicLayout | None:
        answers = self.cluster.each(Metadata(topics=(name,)))
        layouts = [_layout(name, answer.topics.get(name)) for answer in answers.values()]
        first = layouts[0]
        if first is None or any(other is None or _leaders(other) != _leaders(first) for other in layouts):
            return None
        return first

    def _serves(self, layout: TopicLayout, index: int) -> bool:
        request = ListOffsets(topic=layout.name, partition=index, timestamp=LATEST)
        return self.cluster.client.call(layout.leader(index), request).result.error == 0


GONE = frozenset({0, KafkaError.UNKNOWN_TOPIC_OR_PARTITION})
"""What DeleteTopics answers of a topic that is not there afterwards."""


def _to_its_end(ask: Callable[[], CreateTopicResult]) -> CreateTopicResult:
    """An interrupt waits for the answer: else the topic would come into being after all has been removed."""
    with ThreadPoolExecutor(max_workers=1) as asking:
        # A thread on whose start an interrupt comes is not waited for; so it is started before it has anything to ask.
        asking.submit(int).result()
        return asking.submit(ask).result()


def _layout(name: str, shown: TopicMetadata | None) -> TopicLayout | None:
    if shown is None or shown["error"] or not shown["partitions"]:
        return None
    if any(partition["leader"] < 0 for partition in shown["partitions"].values()):
        return None
    topic_id = UUID(shown["id"]) if shown["id"] else None
    return TopicLayout(name=name, topic_id=topic_id, partitions=shown["partitions"])


def _is_shown(shown: TopicMetadata | None) -> bool:
    return shown is not None and bool(shown["partitions"])


def _leaders(layout: TopicLayout) -> Mapping[int, int]:
    return {index: partition["leader"] for index, partition in layout.partitions.items()}
