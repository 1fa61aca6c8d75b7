"""Which clients a fault of processes strikes: how many is drawn before anything starts, which ones when it strikes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from harness.base import wait
from harness.base.json_value import Json
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.running_clients import ClientProcess
from harness.faults.toxic import ClusterShape, Power, ToxicReach
from harness.faults.typed_draws import number

MOST = 2
"""Clients of one strike at most, so that others go on."""
RUNNING_SECONDS = 10.0
"""Within which a client must be running: after a strike successors may still be starting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientToxic:
    """What toxics share that strike processes of clients."""

    name: str
    power: Power = Power.CLIENTS
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.CLIENTS,)
    disrupts_broker: bool = False

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:  # noqa: ARG002
        """``clients``, how many, and ``which``, by which they are chosen among those that run then."""
        return {"clients": draw.randint(1, MOST), "which": draw.randrange(2**31)}


def chosen_clients(fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Sequence[ClientProcess]:
    """Those that are struck.

    :raises Powerless: When no client is a process of its own.
    :raises TimedOut: When none is running within the bound.
    """
    processes = fault_target.clients
    if processes is None:
        raise Powerless("no client is a process of its own")
    running = wait.until(processes.running, what="a client that runs", timeout_seconds=RUNNING_SECONDS)
    return Random(number(chosen, "which")).sample(running, min(number(chosen, "clients"), len(running)))
