"""EndTxn: commit or abort; from v5 on the answer carries the epoch for the next transaction (KIP-890 part 2)."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import ProducerIdAndEpoch
from harness.wire.codec.request_builder import request_of
from harness.wire.codec.response_fields import ResponseFields


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTxn:
    """End the transaction: commit when ``committed``, else abort."""

    api: ClassVar[str] = "EndTxn"
    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool

    def build(self, version: int) -> RequestPayload:
        """The same fields in every version: from v5 on the coordinator bumps the epoch."""
        return request_of(self, version)

    def read(self, response: ResponsePayload) -> ProducerIdAndEpoch:
        """v5 and above carry producer id and epoch."""
        return ProducerIdAndEpoch.of(ResponseFields(response))
