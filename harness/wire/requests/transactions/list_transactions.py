"""ListTransactions: the transactions that a coordinator keeps (KIP-664, KIP-994 duration, KIP-1152 pattern)."""

from dataclasses import dataclass
from typing import ClassVar, TypedDict

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.wire_errors import CannotBuild


class ListedTransaction(TypedDict):
    """One transactional id with its ``state`` by Kafka's name."""

    transactional_id: str
    producer_id: int
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTransactionsResult:
    """``unknown_states`` are the filters that the broker does not know."""

    error: int
    error_message: str | None
    transactions: list[ListedTransaction]
    unknown_states: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTransactions:
    """Filter by states, producer ids, ``duration_ms`` open at least (v1+) and a regular expression (v2+)."""

    api: ClassVar[str] = "ListTransactions"
    states: tuple[str, ...] = ()
    producer_ids: tuple[int, ...] = ()
    duration_ms: int = -1
    pattern: str | None = None

    def build(self, version: int) -> RequestPayload:
        """A filter that the version lacks cannot be left out: the answer would be another one."""
        if (version < 1 and self.duration_ms >= 0) or (version < 2 and self.pattern is not None):
            raise CannotBuild(f"ListTransactions v{version} lacks a filter that was asked for")
        return request(
            self.api,
            version,
            state_filters=self.states,
            producer_id_filters=self.producer_ids,
            duration_filter=self.duration_ms,
            transactional_id_pattern=self.pattern,
        )

    def read(self, response: ResponsePayload) -> ListTransactionsResult:
        top = ResponseFields(response)
        return ListTransactionsResult(
            error=top.error(),
            error_message=None,
            transactions=[_listed(part) for part in top.parts("transaction_states")],
            unknown_states=list(top.texts("unknown_state_filters")),
        )


def _listed(part: ResponseFields) -> ListedTransaction:
    return ListedTransaction(
        transactional_id=part.text("transactional_id"),
        producer_id=part.number("producer_id"),
        state=part.text("transaction_state"),
    )
