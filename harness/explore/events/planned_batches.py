"""Cells in batches that are asked side by side: those of a batch have the same events on their paths."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from harness.model.events.model_event import (
    CoordinatorLoads,
    CoordinatorMoves,
    EpochsUsedUp,
    LeaderMoves,
    MarkersWait,
    TimeoutPasses,
    events_of,
)
from harness.model.events.write_events import WriteLost, WritesOverlap, WriteWaits
from harness.model.grid import GridCell

AT_ONCE = 600
"""Cells of a batch."""
IN_TIME = 250
"""With a timeout that is to pass: so many are asked in a fraction of it."""
WHILE_LOADING = 150
"""While a coordinator loads: likewise."""
SHARE, LEAST = 4, 16
"""Of a batch for which a machine is too slow: its cells are asked again in batches that are so many times smaller, but
those of a batch that has no more cells than the least."""
CONNECTIONS = 96
"""With a write that waits or is lost, for which each has a connection of its own."""
LEADERS_ASK = (WriteWaits, WriteLost, WritesOverlap)
ON_LINKS = (MarkersWait, *LEADERS_ASK)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBatch:
    """:param events: Of each of its cells, in words."""

    events: tuple[str, ...]
    cells: Sequence[tuple[int, GridCell]]

    @property
    def alone(self) -> bool:
        """Whether its events strike other batches too."""
        strike_all = (CoordinatorMoves, CoordinatorLoads, EpochsUsedUp, LeaderMoves, *ON_LINKS)
        return any(_is(each, *strike_all) for each in self.events)

    @property
    def loads(self) -> bool:
        """Whether a coordinator is to be asked while it loads."""
        return any(_is(each, CoordinatorLoads) for each in self.events)

    @property
    def moves_leaders(self) -> bool:
        return any(_is(each, LeaderMoves) for each in self.events)

    @property
    def apart(self) -> bool:
        """Whether the partitions of its cells must be kept apart, and their coordinators away from them."""
        return any(_is(each, LeaderMoves, *ON_LINKS) for each in self.events)


def planned(numbered: Sequence[tuple[int, GridCell]]) -> Sequence[PlannedBatch]:
    """All cells, those in their order that have the same events."""
    by_events: dict[tuple[str, ...], list[tuple[int, GridCell]]] = {}
    for number, cell in numbered:
        by_events.setdefault(events_of(cell.path), []).append((number, cell))
    return [batch for events, cells in by_events.items() for batch in _cut(events, cells)]


def _cut(events: tuple[str, ...], cells: Sequence[tuple[int, GridCell]]) -> Iterator[PlannedBatch]:
    size = AT_ONCE
    if any(_is(each, TimeoutPasses) for each in events):
        size = IN_TIME
    if any(_is(each, CoordinatorLoads) for each in events):
        size = WHILE_LOADING
    if any(_is(each, *LEADERS_ASK) for each in events):
        size = CONNECTIONS
    yield from _in_parts(events, cells, size)


def smaller_batches(batch: PlannedBatch, too_slow: Collection[int]) -> Sequence[PlannedBatch]:
    """The cells of these numbers in smaller batches; () where it is small enough already."""
    if len(batch.cells) <= LEAST:
        return ()
    cells = [each for each in batch.cells if each[0] in too_slow]
    return list(_in_parts(batch.events, cells, max(LEAST, len(batch.cells) // SHARE)))


def _in_parts(events: tuple[str, ...], cells: Sequence[tuple[int, GridCell]], size: int) -> Iterator[PlannedBatch]:
    for at in range(0, len(cells), size):
        yield PlannedBatch(events=events, cells=cells[at : at + size])


def _is(event: str, *kinds: type) -> bool:
    return event.split(" ")[0] in {kind.__name__ for kind in kinds}
