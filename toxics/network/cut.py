"""Cut a link or a lane: its connections end, and new ones are refused, until it is enabled again.

A disabled Toxiproxy proxy. Bytes in transit are lost, and the sender sees its connection end at once
instead of waiting for its request's timeout. Needs a proxy. Counts connections that it ended. A requirement cuts a
proxy by ``lab.cut``.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base.json_value import Json
from harness.faults.brokers.leadership import await_recovery
from harness.faults.fault_target import FaultTarget
from harness.faults.proxy_faults import draw_proxy, with_connections_cut
from harness.faults.proxy_toxic import broker_of_controller_link
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import text


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Fills :class:`harness.faults.toxic.Toxic`."""

    name: str = "cut"
    power: Power = Power.NETWORK
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.LANES, ToxicReach.LINKS)
    disrupts_broker: bool = True

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``proxy``: a link or a lane."""
        return {"proxy": draw_proxy(shape, draw)}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Cut for the block; a broker whose link to the controller it was is waited for afterwards.

        :raises Powerless: When there is no such proxy.
        :raises TimedOut: When that broker is not registered again within the bound.
        """
        proxy = text(chosen, "proxy")
        with with_connections_cut(fault_target, (proxy,)) as strikes:
            yield strikes
        if (broker := broker_of_controller_link(fault_target, proxy)) is not None:
            await_recovery(fault_target, broker, strikes)


TOXIC = Cut()
