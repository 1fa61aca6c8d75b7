"""Client paused: processes of clients are stopped (SIGSTOP) and go on (SIGCONT), as after a long garbage collection.

A transaction's timeout may be over meanwhile, or another may have taken over; the client does not know when it goes on.
Needs clients that are processes of their own. Counts processes that were stopped, and were still there to go on.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from harness.base.json_value import Json
from harness.faults.client_choice import ClientToxic, chosen_clients
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import StrikeCount


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientPause(ClientToxic):
    """Fills :class:`harness.faults.toxic.Toxic`."""

    name: str = "client-paused"

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Stopped for the length of the block.

        :raises Powerless: When no client is a process of its own.
        """
        clients = chosen_clients(fault_target, chosen)
        strikes = StrikeCount(where="", how="processes of clients that were stopped and went on")
        stopped = [client for client in clients if client.pause()]
        strikes.where = ", ".join(client.actor for client in stopped)
        try:
            yield strikes
        finally:
            strikes.struck = sum([client.resume() for client in clients if client in stopped])


TOXIC = ClientPause()
