"""InitProducerId: a producer id with an epoch; ends what the transactional id had open (KIP-98, KIP-360)."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import ProducerIdAndEpoch
from harness.wire.codec.request_builder import request_of
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.wire_errors import CannotBuild


@dataclass(frozen=True, slots=True, kw_only=True)
class InitProducerId:
    """Ask for an id and epoch; with a current ``producer_id`` and ``producer_epoch``, ask to bump it (KIP-360, v3+)."""

    api: ClassVar[str] = "InitProducerId"
    transactional_id: str | None
    timeout_ms: int = 60_000
    producer_id: int = -1
    producer_epoch: int = -1

    def build(self, version: int) -> RequestPayload:
        """v3 and above carry the current id and epoch; v6 (KIP-939) asks for no two-phase commit."""
        if version < 3 and (self.producer_id, self.producer_epoch) != (-1, -1):
            raise CannotBuild(f"InitProducerId v{version} carries no current producer id and epoch")
        return request_of(self, version, transaction_timeout=self.timeout_ms)

    def read(self, response: ResponsePayload) -> ProducerIdAndEpoch:
        return ProducerIdAndEpoch.of(ResponseFields(response))
