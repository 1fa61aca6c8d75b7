"""Client killed: processes of clients end as by ``kill -9``, in mid-transaction; successors take over.

Needs clients that are processes of their own. Counts processes that were ended.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from harness.base.json_value import Json
from harness.faults.client_choice import ClientToxic, chosen_clients
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import StrikeCount


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientKill(ClientToxic):
    """Fills :class:`harness.faults.toxic.Toxic`."""

    name: str = "client-killed"

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Killed on entering; there is nothing to heal.

        :raises Powerless: When no client is a process of its own.
        """
        killed = [client.actor for client in chosen_clients(fault_target, chosen) if client.kill()]
        yield StrikeCount(where=", ".join(killed), how="processes of clients that were ended", struck=len(killed))


TOXIC = ClientKill()
