"""AddOffsetsToTxn: a group's offsets partition enters a transaction (KIP-98; not needed since KIP-890's part 2)."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import ErrorResult
from harness.wire.codec.request_builder import request_of
from harness.wire.codec.response_fields import ResponseFields


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOffsetsToTxn:
    """Add the offsets partition of ``group``."""

    api: ClassVar[str] = "AddOffsetsToTxn"
    transactional_id: str
    producer_id: int
    producer_epoch: int
    group: str

    def build(self, version: int) -> RequestPayload:
        return request_of(self, version, group_id=self.group)

    def read(self, response: ResponsePayload) -> ErrorResult:
        return ErrorResult.of(ResponseFields(response))
