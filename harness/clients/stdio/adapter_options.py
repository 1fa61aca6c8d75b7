"""What an adapter is opened with: the arguments of ``open`` (PROTOCOL.md, "Calls")."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from harness.base.json_value import Json

PROTOCOL = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterOptions:
    """One application; the defaults are those of a careful one with short times.

    :param bootstrap: ``host:port`` of each broker.
    :param looks_up_positions: A wish that adapters may ignore: members of groups ask for their positions themselves.
    """

    bootstrap: Sequence[str]
    client_id: str
    transactional_id: str | None = None
    idempotent: bool = True
    transaction_timeout_ms: int = 30_000
    request_timeout_ms: int = 5_000
    delivery_timeout_ms: int = 10_000
    block_ms: int = 10_000
    linger_ms: int = 0
    batch_bytes: int = 16_384
    in_flight: int = 5
    compression: str = "none"
    group: str | None = None
    isolation: str = "read_committed"
    session_timeout_ms: int = 10_000
    fetch_bytes: int = 1_048_576
    properties_file: str | None = None
    looks_up_positions: bool = False

    def arguments(self) -> dict[str, Json]:
        """Those of ``open``."""
        return {**asdict(self), "protocol": PROTOCOL, "bootstrap": ",".join(self.bootstrap)}
