"""AddPartitionsToTxn: partitions enter a transaction, or a broker asks whether they are in it (KIP-98, KIP-890)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypedDict

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import PartitionErrors, by_partition
from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.topic_partitions import by_topic
from harness.wire.wire_errors import CannotBuild

_BATCH, _SINGLE = "results_by_transaction", "results_by_topic_v3_and_below"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPartitionsToTxn:
    """Add ``partitions``; ``verify_only`` (v4+, from a broker to the coordinator) adds nothing."""

    api: ClassVar[str] = "AddPartitionsToTxn"
    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: tuple[tuple[str, int], ...]
    verify_only: bool = False

    def build(self, version: int) -> RequestPayload:
        """v4 and above carry a batch of transactions, here of one."""
        if version < 4 and self.verify_only:
            raise CannotBuild(f"AddPartitionsToTxn v{version} cannot ask to verify only")
        if version < 4:
            single = {f"v3_and_below_{name}": value for name, value in self._producer().items()}
            return request(self.api, version, **single, v3_and_below_topics=self._topics())
        return request(self.api, version, transactions=[self.part()])

    def part(self) -> Mapping[str, Value]:
        """Its part of a batch of transactions."""
        return {**self._producer(), "verify_only": self.verify_only, "topics": self._topics()}

    def read(self, response: ResponsePayload) -> PartitionErrors:
        """The top level's error (v4+) counts before the partitions'."""
        top = ResponseFields(response)
        batched = [topic for part in top.parts(_BATCH) for topic in part.parts("topic_results")]
        answers = by_partition(batched or top.parts(_SINGLE), parts="results_by_partition")
        return PartitionErrors.of(top, answers, code="partition_error_code")

    def _producer(self) -> Mapping[str, Value]:
        return {
            "transactional_id": self.transactional_id,
            "producer_id": self.producer_id,
            "producer_epoch": self.producer_epoch,
        }

    def _topics(self) -> Value:
        return [{"name": name, "partitions": indexes} for name, indexes in by_topic(self.partitions).items()]


class TransactionErrors(TypedDict):
    """The answer for one transaction: its first error that is not 0, and the error of each partition by name."""

    error: int
    partitions: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchErrors:
    """``transactions`` by transactional id; ``error`` is the top level's, else their first."""

    error: int
    error_message: str | None = None
    transactions: dict[str, TransactionErrors]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPartitionsToTxns:
    """Several transactions in one request, as a broker asks for all producers that wait (v4+); one alone below."""

    api: ClassVar[str] = "AddPartitionsToTxn"
    transactions: tuple[AddPartitionsToTxn, ...]

    def build(self, version: int) -> RequestPayload:
        """v4 and above carry any number of transactions, none included."""
        if version >= 4:
            return request(self.api, version, transactions=[transaction.part() for transaction in self.transactions])
        if len(self.transactions) != 1:
            raise CannotBuild(f"AddPartitionsToTxn v{version} carries one transaction, not {len(self.transactions)}")
        return self.transactions[0].build(version)

    def read(self, response: ResponsePayload) -> BatchErrors:
        """Each transaction's own answer; one that is left out of the answer is not there."""
        top = ResponseFields(response)
        batched = {part.text("transactional_id"): part.parts("topic_results") for part in top.parts(_BATCH)}
        if not top.has(_BATCH):
            batched = {self.transactions[0].transactional_id: top.parts(_SINGLE)}
        answers = {name: _errors(topics) for name, topics in batched.items()}
        error = first_error(top.error(), *(answer["error"] for answer in answers.values()))
        return BatchErrors(error=error, transactions=answers)


def _errors(topics: Iterable[ResponseFields]) -> TransactionErrors:
    parts = by_partition(topics, parts="results_by_partition")
    errors = {name: part.error("partition_error_code") for name, part in parts.items()}
    return TransactionErrors(error=first_error(*errors.values()), partitions=errors)
