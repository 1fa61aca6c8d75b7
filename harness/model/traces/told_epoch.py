"""What a coordinator's answer tells of an id's epoch, so that a search for an order goes straight there.

Epochs of a producer id only rise (KIP-360). A configuration whose epoch is past that of an answer cannot lead to it any
more; and of the others those are nearest that miss the fewest epochs, whatever else may happen beside.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import TypeAlias

from msgspec import Struct

from harness.model.model_requests import (
    AddOffsetsAsked,
    AddPartitionsAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ModelAnswer,
    ModelRequest,
)
from harness.model.model_state import NONE
from harness.model.traces.configuration import Configuration

_ToCoordinator: TypeAlias = InitProducerIdAsked | AddPartitionsAsked | AddOffsetsAsked | EndTxnAsked


class ToldEpoch(Struct, frozen=True, kw_only=True):
    """Of a request that a coordinator accepted.

    :param producer_id: The cluster's.
    :param least: The lowest epoch in which the coordinator can do what was asked; :param most: the highest.
    """

    id: str
    producer_id: int
    least: int
    most: int

    def missing(self, one: Configuration) -> int | None:
        """How many epochs a configuration still misses; None where it is past them. 0 under another producer id."""
        known = one.cluster.ids.get(self.id)
        if known is None or one.ids.get(known.producer_id, NONE) != self.producer_id:
            return 0
        return None if known.epoch > self.most else max(0, self.least - known.epoch)


def told_epoch(request: ModelRequest, answer: ModelAnswer | None) -> ToldEpoch | None:
    """None where the answer tells of no epoch: an error, or that of a leader, which may be behind.

    InitProducerId answers with the next epoch, or, repeated, with the present one; EndTxn from version 5 on likewise
    (KIP-890), and before with none, as what adds partitions.
    """
    if answer is None or not answer.accepted or not isinstance(request, _ToCoordinator):
        return None
    told = request.epoch if answer.epoch == NONE else answer.epoch
    least = told if answer.epoch == NONE else told - 1
    producer_id = request.producer_id if answer.producer_id == NONE else answer.producer_id
    return ToldEpoch(id=request.id, producer_id=producer_id, least=least, most=told)


@dataclass(slots=True)
class NearestFirst:
    """Configurations that wait to be looked at: those that miss the fewest epochs first, of those the first."""

    _heap: list[tuple[int, int, Configuration]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    def put(self, one: Configuration, missing: int) -> None:
        heappush(self._heap, (missing, next(self._numbers), one))

    def take(self) -> Configuration:
        return heappop(self._heap)[2]

    def __bool__(self) -> bool:
        return bool(self._heap)
