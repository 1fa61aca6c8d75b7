"""Hold a link or a lane: what is sent lies on it until release, and then arrives at once and in order.

A Toxiproxy ``latency`` toxic of hours; removing it delivers the held bytes. They survive the sender's disconnect.
Needs a proxy. Counts bytes of requests that came while it was on.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.evidence.requirement_evidence import Fault
from harness.faults.proxy_toxic import ProxyToxic, ToxicRange
from harness.lab import Lab

HOURS_MS = 6 * 3600 * 1000
NAME = "hold"
TOXIC = ProxyToxic(
    name=NAME,
    ranges=(ToxicRange(kind="latency", attributes={"latency": (HOURS_MS, HOURS_MS)}),),
    directions=("upstream",),
    disrupts_broker=True,
)


@dataclass(slots=True)
class Held:
    """A proxy that holds what is sent through it, until ``release``."""

    lab: Lab
    proxy: str
    name: str
    started: float
    released: bool = False

    def release(self) -> None:
        """Deliver everything that was held and note the window; a second release is no error."""
        if self.released:
            return
        self.released = True
        ended = self.lab.now()
        self.lab.links.remove_toxic(self.proxy, NAME)
        self.lab.notes.faults.append(
            Fault(name=self.name, kind="hold", where=self.proxy, started=self.started, ended=ended)
        )


@contextmanager
def hold(lab: Lab, proxy: str, *, name: str) -> Iterator[Held]:
    """Hold ``proxy`` for the length of the block, or until ``release`` within it.

    :raises Unprepared: When nothing stands between.
    """
    lab.links.add_toxic(proxy, kind="latency", direction="upstream", attributes={"latency": HOURS_MS}, name=NAME)
    held = Held(lab, proxy, name, lab.now())
    try:
        yield held
    finally:
        held.release()
