"""Cut a link or a lane: its connections end, and new ones are refused, until it is mended.

A disabled Toxiproxy proxy. What lay on it, held or on its way, is lost, and the sender sees its connection end at once
instead of waiting for its request's timeout. Needs a proxy. Proof that it struck, in the contract: a request that had
to travel through it is answered inside the window, by the sender, with the error of a lost connection; in chaos:
connections that it ended.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from random import Random

from harness.chaos.drawn import word
from harness.chaos.leadership import taken_back
from harness.chaos.proxied import draw_proxy, severed
from harness.chaos.proxy_toxic import reports_over
from harness.chaos.site import Site
from harness.chaos.toxic import Power, Proof, Shape
from harness.history.evidence import Fault, Json
from harness.lab import Lab


@contextmanager
def cut(lab: Lab, proxy: str, *, name: str) -> Iterator[None]:
    """Cut ``proxy`` for the length of the block and note the window.

    :raises Unprepared: When nothing stands between.
    """
    started = lab.now()
    lab.links.disable(proxy)
    try:
        yield
    finally:
        ended = lab.now()
        lab.links.enable(proxy)
        lab.notes.faults.append(Fault(name=name, kind="cut", where=proxy, started=started, ended=ended))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Fills :class:`harness.chaos.toxic.Toxic`."""

    name: str = "cut"
    power: Power = Power.NETWORK
    takes_a_broker: bool = True

    def draw(self, shape: Shape, draw: Random) -> Mapping[str, Json]:
        """``proxy``: a link or a lane."""
        return {"proxy": draw_proxy(shape, draw)}

    def strike(self, site: Site, chosen: Mapping[str, Json]) -> AbstractContextManager[Proof]:
        """Cut for the block; a broker whose link to the controller it was is waited for afterwards.

        :raises Powerless: When there is no such proxy.
        :raises NotInTime: When that broker is not registered again within the bound.
        """
        return _struck(site, word(chosen, "proxy"))


@contextmanager
def _struck(site: Site, proxy: str) -> Iterator[Proof]:
    with severed(site, (proxy,)) as proof:
        yield proof
    if (broker := reports_over(site, proxy)) is not None:
        taken_back(site, broker, proof)


TOXIC = Cut()
