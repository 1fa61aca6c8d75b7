"""What is left to try, in lots: the requirements that one run tries on one cluster before it takes another lot.

On the common cluster a lot is all that may be tried at the same time, or a single requirement, so that two runs can
share them; what asks for a cluster of its own is one lot, because another lot of it would cost another start.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from threading import Lock

from harness.contract import OwnCluster, Requirement
from harness.lab import Lab

WORTH_A_CLUSTER = 20
"""Lots of the common cluster for whose sake another of its kind is started: it takes as long as some six of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lot:
    """Requirements that ask for the same cluster; None is the common one.

    :param beside: Those that may be tried at the same time.
    :param alone: Those that are tried after them, one by one.
    """

    wish: OwnCluster | None
    beside: tuple[Requirement[Lab], ...] = ()
    alone: tuple[Requirement[Lab], ...] = ()

    @property
    def requirements(self) -> tuple[Requirement[Lab], ...]:
        """All of them."""
        return *self.beside, *self.alone

    @property
    def length(self) -> int:
        """Compares how long two of them take, about: longest where brokers are stopped and started."""
        return max(each.order.value for each in self.requirements)

    @property
    def after_the_target(self) -> bool:
        """Whether what the common cluster offers must be known before."""
        return self.wish is not None and self.wish.after_the_target


@dataclass(slots=True)
class Lots:
    """Those that nobody has taken yet, in their order; two runs may ask at the same time."""

    left: list[Lot]
    _lock: Lock = field(default_factory=Lock)

    def first(self) -> Lot | None:
        """The first of all, for the run whose cluster is the common one; None when there is none left."""
        with self._lock:
            return self.left.pop(0) if self.left else None

    def apart(self, *, on_common: bool) -> Lot | None:
        """For the second run: who asks for a cluster of their own, the longest first, then the common one's.

        :param on_common: Whether its cluster is already another common one.
        """
        with self._lock:
            own = [place for place, lot in enumerate(self.left) if lot.wish is not None]
            place = max(own, key=lambda place: self.left[place].length, default=None)
            if place is None and (on_common or len(self.left) >= WORTH_A_CLUSTER):
                place = 0 if self.left else None
            return None if place is None else self.left.pop(place)

    def clear(self) -> None:
        """Nothing more is to be tried."""
        with self._lock:
            self.left.clear()


def lots_of(requirements: Sequence[Requirement[Lab]]) -> Lots:
    """All of them, in their order; those that ask for the same cluster are neighbours."""
    made = list[Lot]()
    for wish, due in groupby(requirements, lambda each: each.cluster):
        beside, alone = _parted(due)
        if wish is not None:
            made.append(Lot(wish=wish, beside=beside, alone=alone))
            continue
        made += [Lot(wish=None, beside=beside)] if beside else []
        made += [Lot(wish=None, alone=(each,)) for each in alone]
    return Lots(made)


def _parted(due: Iterable[Requirement[Lab]]) -> tuple[tuple[Requirement[Lab], ...], tuple[Requirement[Lab], ...]]:
    every = tuple(due)
    return tuple(each for each in every if each.beside_others), tuple(each for each in every if not each.beside_others)
