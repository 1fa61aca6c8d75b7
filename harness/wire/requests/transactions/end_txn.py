"""EndTxn: commit or abort; from v5 on the answer carries the epoch for the next transaction (KIP-890 part 2)."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTxnResult:
    """``producer_id`` and ``producer_epoch`` are -1 where the version lacks them, and with an error."""

    error: int
    error_message: str | None
    producer_id: int
    producer_epoch: int


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
        return request(
            self.api,
            version,
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            committed=self.committed,
        )

    def read(self, response: ResponsePayload) -> EndTxnResult:
        """v5 and above carry producer id and epoch."""
        top = ResponseFields(response)
        return EndTxnResult(
            error=top.error(),
            error_message=None,
            producer_id=top.number("producer_id"),
            producer_epoch=top.number("producer_epoch"),
        )
