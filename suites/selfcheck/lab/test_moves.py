"""Leaders and coordinators that a stimulus moves are handed back, and the lab knows the new place meanwhile."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from harness.base.unprepared import OutOfReach, Unprepared
from harness.contract import Access
from harness.lab.partition import Partition
from harness.lab.powers.brokers.moves import Moves
from harness.wire.requests.cluster.alter_partition_reassignments import AlterPartitionReassignments
from harness.wire.requests.cluster.metadata import PartitionMetadata

STATE = ("__transaction_state", 4)
P1 = Partition(alias="P1", topic="t", index=0, leader=1)


@dataclass(slots=True)
class ObedientView:
    """Obeys every order of replicas at once; ids lie in the partition that their last character names."""

    brokers: tuple[int, ...] = (1, 2, 3)
    isr: tuple[int, ...] = (1, 2, 3)
    orders: dict[tuple[str, int], tuple[int, ...]] = field(default_factory=dict)

    def partition(self, topic: str, partition: int) -> PartitionMetadata:
        order = self.orders.get((topic, partition), (1, 2, 3))
        return PartitionMetadata(error=0, leader=order[0], leader_epoch=1, replicas=list(order), isr=list(self.isr))

    def leader(self, topic: str, partition: int) -> int:
        return self.partition(topic, partition)["leader"]

    def led_by(self, topic: str, partition: int, node: int) -> bool:
        return self.leader(topic, partition) == node

    def caught_up(self, _topic: str, _partition: int, _node: int) -> bool:
        return True

    def state_partition(self, transactional_id: str) -> tuple[str, int]:
        return STATE[0], int(transactional_id[-1])

    def to_controller(self, request: object) -> Any:
        if isinstance(request, AlterPartitionReassignments):
            self.orders |= {place: order for place, order in request.replicas.items() if order}
        return cast(Any, Taken())


@dataclass(frozen=True, slots=True)
class Taken:
    error: int = 0


@dataclass(slots=True)
class MovingProducer:
    transactional_id: str
    coordinator: int = 1


@dataclass(slots=True)
class PlacedPartitions:
    partitions: list[Partition] = field(default_factory=lambda: [P1])
    coordinators: set[int] = field(default_factory=set)


def moves(view: ObedientView, *producers: MovingProducer) -> Moves:
    return Moves(
        view=cast(Any, view),
        placement=cast(Any, PlacedPartitions()),
        producers=cast(Any, producers),
        now=_clock().__next__,
        faults=[],
        accessed=set(),
        ask=lambda _what: None,
    )


def _clock() -> Iterator[float]:
    now = 0.0
    while True:
        yield (now := now + 1)


def test_a_partition_is_led_by_another_and_handed_back_also_after_an_error() -> None:
    moving = moves(view := ObedientView())
    with suppress(ZeroDivisionError), moving.leader(P1, to=3) as moved:
        assert (moved.leader, view.leader("t", 0), moving.placement.partitions) == (3, 3, [moved])
        raise ZeroDivisionError
    assert (view.leader("t", 0), moving.placement.partitions) == (1, [P1])
    assert [(fault.kind, fault.where) for fault in moving.faults] == [("move", "t-0: broker 1 → broker 3")]
    assert moving.accessed == {Access.BROKERS}


def test_everybody_of_the_moved_state_partition_has_the_new_coordinator() -> None:
    txn, same, other = MovingProducer("a-4"), MovingProducer("b-4"), MovingProducer("c-5")
    moving = moves(ObedientView(), txn, same, other)
    with moving.coordinator(cast(Any, txn)) as node:
        assert (node, txn.coordinator, same.coordinator, other.coordinator) == (2, 2, 2, 1)
    assert (txn.coordinator, same.coordinator, moving.placement.coordinators) == (1, 1, {1, 2})


def test_without_another_replica_in_sync_or_another_broker_nothing_moves() -> None:
    with pytest.raises(Unprepared, match="no other replica"), moves(ObedientView(isr=(1,))).leader(P1):
        pass
    with pytest.raises(OutOfReach, match="one broker"), moves(ObedientView(brokers=(1,))).leader(P1):
        pass
