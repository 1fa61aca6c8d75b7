"""One request of a watched client, from when it came to when its answer was written."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias
from uuid import UUID

from harness.base.json_value import Json
from harness.evidence.client_evidence import Frame
from harness.faults.gate.request_info import request_info
from harness.faults.gate.watch.request_fields import answer_fields, produced, request_fields
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import UNREADABLE, RequestHeader, errors_in, read_request, read_response
from harness.wire.wire_errors import WireError

Answerer: TypeAlias = Literal["broker", "gate"]
UNDECODED = (WireError, *UNREADABLE, TypeError, AttributeError, LookupError)
"""What bytes of an unknown version, or of no known layout, raise."""


@dataclass(slots=True)
class LoggedFrame:
    """A frame in the log, which changes when it is answered; ``topic_names`` are those of all watched clients."""

    frame: Frame
    header: RequestHeader
    topic_names: dict[UUID, str]

    def answered(self, raw: bytes, answerer: Answerer) -> None:
        """That answer (with its length) was written to the client."""
        now = now_ms()
        self.frame = replace(self.frame, answered=now, answered_by=answerer)
        try:
            body = read_response(self.header, raw[4:])
            errors = tuple(int(code) for code in errors_in(body))
            answer = answer_fields(self.header.api, ResponseFields(body))
        except UNDECODED as error:
            self.frame = replace(self.frame, answer=_unreadable(error))
            return
        self.frame = replace(self.frame, errors=errors, answer=answer)
        if self.header.api == "Metadata":
            self._learn(ResponseFields(body))

    def read(self, raw: bytes) -> None:
        """Decode the request (with its length); what cannot be decoded keeps its API and version, and says why."""
        try:
            self.frame = _decoded(self.frame, self.header, read_request(raw[4:], self.header), self.topic_names)
        except UNDECODED as error:
            self.frame = replace(self.frame, request=_unreadable(error))

    def _learn(self, metadata: ResponseFields) -> None:
        for topic in metadata.parts("topics"):
            topic_id = topic.uuid("topic_id")
            if topic_id is not None and topic.text("name"):
                self.topic_names[topic_id] = topic.text("name")


def now_ms() -> float:
    """Milliseconds of this machine's monotonic clock."""
    return time.monotonic_ns() / 1e6


def _decoded(frame: Frame, header: RequestHeader, body: object, topic_names: Mapping[UUID, str]) -> Frame:
    info, fields = request_info(header, body), ResponseFields(body)
    producer_id, epoch = info.identities[0] if info.identities else (None, None)
    is_produce = header.api == "Produce"
    return replace(
        frame,
        transactional_ids=info.transactional_ids,
        producer_id=producer_id,
        epoch=epoch,
        batches=produced(fields, topic_names) if is_produce else (),
        request={} if is_produce else request_fields(header.api, fields),
    )


def _unreadable(error: Exception) -> Mapping[str, Json]:
    return {"unreadable": str(error) or type(error).__name__}
