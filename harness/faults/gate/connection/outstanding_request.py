"""What a connection through the gate knows of itself and of each request on it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from harness.base.addresses import Address
from harness.faults.gate.active_rule import ActiveRule, StruckRequest
from harness.faults.gate.lane_addresses import LaneAddresses
from harness.faults.gate.lie import LiedRequest
from harness.faults.gate.request_info import RequestInfo
from harness.faults.gate.watch.logged_frame import Answerer, LoggedFrame
from harness.wire.security.security import PLAINTEXT, Security


@dataclass(frozen=True, slots=True, kw_only=True)
class WayToBroker:
    """Where a connection of a proxy leads.

    :param server_name: The name that the broker's certificate is for.
    :param lane_addresses: What brokers' addresses in answers are replaced by; None to leave them.
    :param node: The broker's id, -1 where the proxy's name does not tell it.
    :param connection: Numbers the connections of the gate.
    """

    proxy: str
    upstream: Address
    security: Security = PLAINTEXT
    server_name: str = ""
    lane_addresses: LaneAddresses | None = None
    node: int = -1
    connection: int = 0


@dataclass(slots=True, kw_only=True)
class OutstandingRequest:
    """A forwarded request whose response the gate reads.

    :param ruled: Whether rules have to do with it; else its response is only logged, or addresses in it replaced.
    :param logged: There where its client is watched.
    """

    info: RequestInfo
    ruled: bool = True
    struck: StruckRequest | None = None
    drop_response: bool = False
    hold_response: bool = False
    hang_up: bool = False
    renumber: bool = False
    lying: ActiveRule | None = None
    asked: LiedRequest | None = None
    logged: LoggedFrame | None = None

    def sent(self, raw: bytes, answerer: Answerer = "broker") -> Callable[[], None] | None:
        """What is to be called once that response is written to the client; None where nobody watches it."""
        return None if self.logged is None else partial(self.logged.answered, raw, answerer)


@dataclass(slots=True, eq=False)
class QueuedRequest:
    """A request on its way to the broker; one that is not ready is held.

    :param raw: The frame; with ``in_place`` that of the response which the gate gives itself.
    """

    raw: bytes
    outstanding: OutstandingRequest | None
    ready: bool = True
    in_place: bool = False
