"""Faults that a stimulus puts on a proxy: a hold or a cut. Each window is noted as a fault.

Held are requests, or with the direction ``downstream`` their answers. Holding is a Toxiproxy ``latency`` toxic of
hours: removing it delivers the held bytes at once and in order, and they survive the sender's disconnect. Cutting is a
disabled proxy: connections end, bytes in transit are lost, and new connections are refused until it is enabled again.
Proof that a hold struck: a step sent into the window and answered only after it has ``held`` > 0, and on a link between
brokers a sample shows what the held request would have changed. Proof that a cut struck: who had to send through it
answers inside the window with the error of a lost connection.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.cluster.cluster import Direction, Links
from harness.evidence.requirement_evidence import Fault

HOURS_MS = 6 * 3600 * 1000


@dataclass(slots=True, kw_only=True)
class Hold:
    """A proxy that holds what is sent through it, until :meth:`release`."""

    links: Links
    now: Callable[[], float]
    faults: list[Fault]
    proxy: str
    name: str
    direction: Direction
    started: float
    before_release: Callable[[], object] = lambda: None
    healed: bool = False

    def release(self) -> None:
        """Deliver everything that was held and note the window; a second release is no error."""
        if not self.healed:
            self.before_release()
            self.heal()

    def heal(self) -> None:
        """Release without :attr:`before_release`."""
        if self.healed:
            return
        self.healed = True
        ended = self.now()
        self.links.remove_toxic(self.proxy, _toxic(self.direction))
        self.faults.append(
            Fault(
                name=self.name,
                kind="hold",
                where=self.proxy,
                started=self.started,
                ended=ended,
                direction=self.direction,
            )
        )


@contextmanager
def holding(
    links: Links, proxy: str, *, name: str, direction: Direction, now: Callable[[], float], faults: list[Fault]
) -> Iterator[Hold]:
    """Hold ``proxy`` for the length of the block, or until ``release`` within it."""
    links.add_toxic(
        proxy, kind="latency", direction=direction, attributes={"latency": HOURS_MS}, name=_toxic(direction)
    )
    hold = Hold(links=links, now=now, faults=faults, proxy=proxy, name=name, direction=direction, started=now())
    try:
        yield hold
        hold.release()
    finally:
        hold.heal()


def _toxic(direction: Direction) -> str:
    return f"hold-{direction}"


@contextmanager
def cutting(links: Links, proxy: str, *, name: str, now: Callable[[], float], faults: list[Fault]) -> Iterator[None]:
    """Cut ``proxy`` for the length of the block and note the window."""
    started = now()
    links.disable(proxy)
    try:
        yield
    finally:
        ended = now()
        links.enable(proxy)
        faults.append(Fault(name=name, kind="cut", where=proxy, started=started, ended=ended))
