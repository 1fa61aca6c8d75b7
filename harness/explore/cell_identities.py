"""Symbolic names and numbers of a cell, and the real ones that stand for them on the cluster."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from harness.model.alphabet import OWN
from harness.model.model_state import NONE
from harness.wire.topic_partitions import TopicPartition, partition_name

NOBODYS = 1 << 60
"""Kafka gives out producer ids from 0 on, in blocks of a thousand (``ProducerIdsBlock``): this far none will be."""
OF_AN_EXPLORATION = 1 << 34
"""Producer ids that nobody has, and that cells of one exploration may name."""
TIMEOUT_MS = 600_000
"""Of a transaction: longer than any cell takes, and no more than brokers allow (``transaction.max.timeout.ms``)."""
NO_COORDINATORS = -1_000
"""For a coordinator epoch between two that a cell has seen."""
APART = 1 << 16
"""Between the numbers of two cells that nobody has: a cell shares its partitions with others."""

AGAIN = 1 << 10
"""Between those of a cell that is asked again, and meets nothing that it left before."""


def nobodys_of(stamp: str) -> int:
    """Where those of one exploration begin: what an earlier one's left open on a cluster that lives on is not theirs.

    :param stamp: Hexadecimal, of its belongings.
    """
    return NOBODYS + int(stamp, 16) * OF_AN_EXPLORATION


@dataclass(slots=True, kw_only=True)
class CellIdentities:
    """One cell's. The model numbers producer ids in the order in which they are given out, and so does this.

    :param ids: Transactional ids by their names in the model. :param places: Partitions, likewise; where groups can be
        looked at, also the partition of ``__consumer_offsets`` that keeps the group.
    :param group: The consumer group.
    :param coordinator_epochs: Of each id's partition of ``__transaction_state``: the model's 0.
    :param timeout_ms: Of its transactions. :param nobodys: Where the producer ids begin that nobody has.
    """

    number: int
    ids: Mapping[str, str]
    places: Mapping[str, TopicPartition]
    coordinator_epochs: Mapping[str, int]
    group: str = ""
    timeout_ms: int = TIMEOUT_MS
    nobodys: int = NOBODYS
    _later_epochs: list[Mapping[str, int]] = field(default_factory=list)
    _real: dict[int, int] = field(default_factory=dict)
    _symbols: dict[int, int] = field(default_factory=dict)
    _owners: dict[int, str] = field(default_factory=dict)

    def producer_id(self, symbol: int) -> int:
        """The real number; one that nobody has, and no other cell uses, where none was given out for it."""
        if symbol == NONE:
            return NONE
        if symbol in self._real:
            return self._real[symbol]
        nobodys = self.nobodys + self.number * APART + symbol
        self._symbols[nobodys] = symbol
        return nobodys

    def given(self, real: int, name: str) -> int:
        """The symbolic number of what a broker told of the id ``name``; the next one for a number that is new."""
        if real == NONE:
            return NONE
        if real not in self._symbols:
            symbol = len(self._real)
            self._real[symbol], self._symbols[real], self._owners[symbol] = real, symbol, name
        return self._symbols[real]

    def symbol(self, real: int) -> int:
        """The symbolic number of a producer id of the cell."""
        return self._symbols[real]

    def real_id(self, name: str) -> str:
        """Of a transactional id; the empty one is itself."""
        return self.ids[name] if name else name

    def named(self, shown: Iterable[str]) -> frozenset[str]:
        """Partitions that a broker names, by their names in the model; others as they are."""
        names = {partition_name(*place): name for name, place in self.places.items()}
        return frozenset(names.get(each, each) for each in shown)

    @property
    def producer_ids(self) -> tuple[int, ...]:
        """All real ones that the cell has been given, or has used."""
        return tuple(self._symbols)

    def coordinators_moved(self, epochs: Mapping[str, int]) -> None:
        """Their epochs from now on, by id: the model's next."""
        self._later_epochs.append(epochs)

    def real_coordinator_epoch(self, relative: int, producer: int) -> int:
        """Of the coordinator of that producer; the own one's for a producer that nobody has."""
        known = self._epochs(producer)
        newest = len(known) - 1
        return known[0] + relative if relative < 0 else known[min(relative, newest)] + max(0, relative - newest)

    def relative_coordinator_epoch(self, real: int, producer: int) -> int:
        """The opposite; of no coordinator there is none."""
        known = self._epochs(producer)
        if real == NONE or real in known:
            return NONE if real == NONE else known.index(real)
        if real > known[-1]:
            return len(known) - 1 + real - known[-1]
        return real - known[0] if real < known[0] else NO_COORDINATORS

    def _epochs(self, producer: int) -> list[int]:
        """In the order of the moves."""
        name = self._owners.get(producer, OWN)
        return [each.get(name, 0) for each in (self.coordinator_epochs, *self._later_epochs)]
