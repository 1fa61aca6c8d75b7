"""Isolate coordinator: the broker that coordinates a transactional id is cut off from other brokers, or from clients.

From brokers: it cannot replicate its log, write markers or answer verification, while clients still reach it and the
controller still gets its heartbeats. From clients: they cannot reach it, while the cluster notices nothing. Needs
proxies. Counts connections that it ended.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base.json_value import Json
from harness.base.unprepared import Unprepared
from harness.cluster.topology import CONTROLLERS
from harness.faults.fault_target import FaultTarget
from harness.faults.proxy_faults import with_connections_cut
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import text

BROKERS, CLIENTS = "brokers", "clients"


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorIsolation:
    """Fills :class:`harness.faults.toxic.Toxic`."""

    name: str = "isolate-coordinator"
    power: Power = Power.NETWORK
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.LINKS, ToxicReach.LANES)
    disrupts_broker: bool = True

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``transactional_id`` (by the workload's name), and ``from``: ``brokers`` or ``clients``."""
        needs = {BROKERS: ToxicReach.LINKS, CLIENTS: ToxicReach.LANES}
        places = [place for place, reach in needs.items() if reach in shape.reach]
        return {"transactional_id": draw.choice(shape.transactional_ids), "from": draw.choice(places)}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Cut off for the block.

        :raises Powerless: When there are no such proxies.
        :raises Unprepared: When the id has no coordinator now.
        """
        transactional_id, cut_off_from = text(chosen, "transactional_id"), text(chosen, "from")
        coordinator = fault_target.coordinator(transactional_id)
        if coordinator is None:
            raise Unprepared(f"{transactional_id} has no coordinator")
        proxies = _links(fault_target, coordinator) if cut_off_from == BROKERS else _lanes(fault_target, coordinator)
        with with_connections_cut(fault_target, proxies) as strikes:
            strikes.where = (
                f"broker-{coordinator}, which coordinates {transactional_id}, from {cut_off_from}: {strikes.where}"
            )
            yield strikes


def _links(fault_target: FaultTarget, broker: int) -> Sequence[str]:
    links = fault_target.cluster.topology.links.items()
    return [proxy for ends, proxy in links if broker in ends and not any(end in CONTROLLERS for end in ends)]


def _lanes(fault_target: FaultTarget, broker: int) -> Sequence[str]:
    return [proxy for (_, node), proxy in fault_target.cluster.topology.lane_proxies.items() if node == broker]


TOXIC = CoordinatorIsolation()
