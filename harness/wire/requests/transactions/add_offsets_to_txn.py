"""AddOffsetsToTxn: a group's offsets partition enters a transaction (KIP-98; not needed since KIP-890's part 2)."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOffsetsToTxnResult:
    """Only an error, or 0."""

    error: int
    error_message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOffsetsToTxn:
    """Add the offsets partition of ``group``."""

    api: ClassVar[str] = "AddOffsetsToTxn"
    transactional_id: str
    producer_id: int
    producer_epoch: int
    group: str

    def build(self, version: int) -> RequestPayload:
        """The same in every version."""
        return request(
            self.api,
            version,
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            group_id=self.group,
        )

    def read(self, response: ResponsePayload) -> AddOffsetsToTxnResult:
        """The same in every version."""
        return AddOffsetsToTxnResult(error=ResponseFields(response).error(), error_message=None)
