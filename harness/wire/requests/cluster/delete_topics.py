"""DeleteTopics, by name."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields, first_error


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopicsResult:
    """``topics`` gives the error of each by name; ``error`` is the first that is not 0."""

    error: int
    error_message: str | None
    topics: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopics:
    """Delete ``topics``."""

    api: ClassVar[str] = "DeleteTopics"
    topics: tuple[str, ...]
    timeout_ms: int = 30_000

    def build(self, version: int) -> RequestPayload:
        """v6 and above could also name topics by id."""
        by_name = [{"name": name, "topic_id": None} for name in self.topics]
        return request(self.api, version, topic_names=self.topics, topics=by_name, timeout=self.timeout_ms)

    def read(self, response: ResponsePayload) -> DeleteTopicsResult:
        """v5 and above carry messages."""
        answers = ResponseFields(response).parts("responses")
        return DeleteTopicsResult(
            error=first_error(*(answer.error() for answer in answers)),
            error_message=next((answer.message() for answer in answers if answer.error()), None),
            topics={answer.text("name"): answer.error() for answer in answers},
        )
