"""The one writer of exchanges: whoever sends hands each exchange here, and nothing else writes history."""

from typing import Protocol

from harness.history.exchange import Exchange


class Recorder(Protocol):
    """Keeps exchanges in the order in which they ended."""

    def next_number(self) -> int:
        """A fresh exchange number, taken when the request is sent."""
        ...

    def record(self, exchange: Exchange) -> None:
        """Keep one finished exchange; it is on disk when this returns."""
        ...
