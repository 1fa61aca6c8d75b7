"""Results that several APIs share: an error alone, an error for each partition, a producer's identity."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.topic_partitions import partition_name


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorResult:
    """Only an error, or 0."""

    error: int
    error_message: str | None = None

    @classmethod
    def of(cls, *answers: ResponseFields) -> "ErrorResult":
        """The first error that is not 0, and the first message that came with an error."""
        return cls(error=first_error(*(answer.error() for answer in answers)), error_message=_message(answers))


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionErrors:
    """``partitions`` gives the error of each, by name (``t-0``); ``error`` is the top level's, else their first."""

    error: int
    error_message: str | None = None
    partitions: dict[str, int]

    @classmethod
    def of(
        cls, top: ResponseFields, partitions: Mapping[str, ResponseFields], *, code: str = "error_code"
    ) -> "PartitionErrors":
        """From the whole answer and its part for each partition; ``code`` is the part's field of the error."""
        errors = {name: part.error(code) for name, part in partitions.items()}
        message = _message((top, *partitions.values()))
        return cls(error=first_error(top.error(), *errors.values()), error_message=message, partitions=errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerIdAndEpoch:
    """``producer_id`` and ``producer_epoch`` are -1 where the version lacks them, and with an error."""

    error: int
    error_message: str | None = None
    producer_id: int
    producer_epoch: int

    @classmethod
    def of(cls, top: ResponseFields) -> "ProducerIdAndEpoch":
        """From the whole answer."""
        producer_id, epoch = top.number("producer_id"), top.number("producer_epoch")
        return cls(error=top.error(), producer_id=producer_id, producer_epoch=epoch)


def by_partition(
    topics: Iterable[ResponseFields], *, name: str = "name", parts: str = "partitions", index: str = "partition_index"
) -> dict[str, ResponseFields]:
    """The parts of an answer by partition name (``t-0``); the keywords name the schema's fields."""
    return {
        partition_name(topic.text(name), part.number(index)): part for topic in topics for part in topic.parts(parts)
    }


def _message(answers: Iterable[ResponseFields]) -> str | None:
    return next((message for answer in answers if answer.error() and (message := answer.message())), None)
