"""Client killed: processes of clients end as by ``kill -9``, in mid-transaction; successors take over.

Needs clients that are processes of their own. Counts processes that were ended.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base.json_value import Json
from harness.faults.client_choice import chosen_clients, draw_clients
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientKill:
    """Fills :class:`harness.faults.toxic.Toxic`."""

    name: str = "client-killed"
    power: Power = Power.CLIENTS
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.CLIENTS,)
    disrupts_broker: bool = False

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:  # noqa: ARG002
        """``clients``, how many, and ``which``, by which they are chosen among those that run then."""
        return draw_clients(draw)

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Killed on entering; there is nothing to heal.

        :raises Powerless: When no client is a process of its own.
        """
        killed = [client.actor for client in chosen_clients(fault_target, chosen) if client.kill()]
        yield StrikeCount(where=", ".join(killed), how="processes of clients that were ended", struck=len(killed))


TOXIC = ClientKill()
