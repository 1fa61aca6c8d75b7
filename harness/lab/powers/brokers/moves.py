"""Leaders and coordinators moved to another broker for the length of a block, by Kafka's own administration.

Partitions and producers are handed back correctly: for the block the lab knows the new leader of the partition and the
new coordinator of every producer whose id lies in the moved partition of ``__transaction_state``; after it the old
ones, which lead again in a newer epoch. Each move is noted as a fault.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from harness.base import wait
from harness.base.unprepared import OutOfReach, Unprepared
from harness.contract import Access
from harness.evidence.requirement_evidence import Fault
from harness.kafka.leaders.brokers_view import BrokersView
from harness.kafka.leaders.moving import ELECTED_SECONDS, elect, move, reassign
from harness.lab.partition import Partition
from harness.lab.placement import Placement
from harness.lab.producer import Producer
from harness.wire.requests.cluster.metadata import PartitionMetadata
from harness.wire.topic_partitions import TopicPartition, partition_name

COPIED_SECONDS = 20.0
"""Within which a small partition must have been copied to other brokers."""


@dataclass(slots=True, kw_only=True)
class Moves:
    """See the module's docstring.

    :param ask: Called with a phrase before anything is moved; raises where it may not be.
    """

    view: BrokersView
    placement: Placement
    producers: Sequence[Producer]
    now: Callable[[], float]
    faults: list[Fault]
    accessed: set[Access]
    ask: Callable[[str], None]

    @contextmanager
    def leader(self, partition: Partition, *, to: int | None = None, name: str = "moved leader") -> Iterator[Partition]:
        """The partition led by ``to``, or by another of its in-sync replicas, for the block, as the lab knows it then.

        :raises Unprepared: When no such replica is in sync, or the controller refuses.
        :raises OutOfReach: When there is one broker, or moves are not allowed.
        """
        with self._moved(partition.topic_partition, to, name) as node:
            moved = replace(partition, leader=node)
            self._know(partition, moved)
            try:
                yield moved
            finally:
                self._know(moved, partition)

    @contextmanager
    def coordinator(
        self, txn: Producer, *, to: int | None = None, name: str = "moved coordinator", known: bool = True
    ) -> Iterator[int]:
        """The producer's id coordinated by ``to``, or by another in-sync replica, for the block: the node.

        :param known: False where the block begins at once when the new one is elected: it has its log still to load.
        """
        kept = self.view.state_partition(txn.transactional_id)
        moving = [each for each in self.producers if self.view.state_partition(each.transactional_id) == kept]
        before = txn.coordinator
        with self._moved(kept, to, name, known=known) as node:
            self._coordinated(moving, node)
            try:
                yield node
            finally:
                self._coordinated(moving, before)

    def relocated(
        self, partition: Partition, *replicas: int, start: int | None = None, name: str = "relocated"
    ) -> Partition:
        """The partition on these brokers alone, led by the first, for good: the others copied its log from its leader.

        A new replica gets the log and what it can tell of producers, no snapshot of what the old leader knew.

        :param start: Where its log begins now, where records were deleted.
        """
        self._ask(partition.topic_partition)
        started = self.now()
        reassign(self.view, *partition.topic_partition, replicas)
        wait.until(
            lambda: self._on(partition.topic_partition, replicas),
            what=f"{partition} on {replicas}",
            timeout_seconds=COPIED_SECONDS,
            interval_seconds=0.02,
        )
        moved = replace(partition, leader=replicas[0], start=partition.start if start is None else start)
        self._know(partition, moved)
        self._note(name, partition.topic_partition, partition.leader, replicas[0], started)
        return moved

    @contextmanager
    def _moved(self, place: TopicPartition, to: int | None, name: str, *, known: bool = True) -> Iterator[int]:
        self._ask(place)
        before, started = self.view.partition(*place), self.now()
        node = self._choice(place, before, to)
        try:
            order = [node, *(each for each in before["replicas"] if each != node)]
            self._lead(place, order) if known else elect(self.view, *place, order)
            yield node
        finally:
            self._note(name, place, before["leader"], node, started)
            self._lead(place, [before["leader"], *(each for each in before["replicas"] if each != before["leader"])])

    def _lead(self, place: TopicPartition, order: Sequence[int]) -> None:
        """Returns when every broker knows that the first of the order leads, and it knows what is replicated."""
        move(self.view, *place, order)
        wait.until(
            lambda: self.view.led_by(*place, order[0]) and self.view.caught_up(*place, order[0]),
            what=f"broker {order[0]} as leader of {partition_name(*place)} everywhere",
            timeout_seconds=ELECTED_SECONDS,
        )

    def _choice(self, place: TopicPartition, before: PartitionMetadata, to: int | None) -> int:
        """The wanted replica, or one that leads no partition of the requirement, if there is one."""
        leading = {partition.leader for partition in self.placement.partitions}
        others = [node for node in before["isr"] if node != before["leader"] and to in (None, node)]
        if before["leader"] < 0 or not others:
            raise Unprepared(f"no other replica of {partition_name(*place)} is in sync: {before}")
        return min(others, key=lambda node: (node in leading, node))

    def _on(self, place: TopicPartition, replicas: Sequence[int]) -> bool:
        now = self.view.partition(*place)
        copied = set(now["replicas"]) == set(now["isr"]) == set(replicas)
        return copied and self.view.led_by(*place, replicas[0]) and self.view.caught_up(*place, replicas[0])

    def _ask(self, place: TopicPartition) -> None:
        self.accessed.add(Access.BROKERS)
        if len(self.view.brokers) < 2:
            raise OutOfReach("the cluster has one broker, so nothing can be led by another")
        self.ask(f"moving {partition_name(*place)}")

    def _know(self, old: Partition, new: Partition) -> None:
        """The lab's own list, which it samples and drains."""
        known = self.placement.partitions
        known[:] = [new if each == old else each for each in known]

    def _coordinated(self, producers: Sequence[Producer], node: int) -> None:
        self.placement.coordinators.add(node)
        for producer in producers:
            producer.coordinator = node

    def _note(self, name: str, place: TopicPartition, before: int, node: int, started: float) -> None:
        where = f"{partition_name(*place)}: broker {before} → broker {node}"
        self.faults.append(Fault(name=name, kind="move", where=where, started=started, ended=self.now()))
