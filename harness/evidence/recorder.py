"""The port to which a wire client hands its exchanges."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from harness.evidence.exchange import Exchange


class Recorder(Protocol):
    """Numbers exchanges, and keeps them in the order in which they ended."""

    def next_number(self) -> int:
        """A fresh exchange number, taken when the request is sent; also its correlation id on the wire."""

    def record(self, exchange: Exchange) -> None:
        """Keep one finished exchange; it is on disk when this returns."""


@dataclass(slots=True)
class NullRecorder:
    """Keeps nothing: chaos keeps operations, and the exchanges beneath them would be ten times as many."""

    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def next_number(self) -> int:
        """A fresh exchange number."""
        return next(self._numbers)

    def record(self, exchange: Exchange) -> None:
        """Nothing is kept."""
