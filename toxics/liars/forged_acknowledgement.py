"""Forged acknowledgement: Produce is answered with success and never forwarded, so a committed record is nowhere.

For clients of Transactions V1: with V2 the coordinator would never get to know the partitions, and refuse the commit.
"""

from collections import Counter
from dataclasses import dataclass, field

from harness.faults.gate.lie import LiedRequest, LiedResponse
from harness.faults.liar import ChaosLiar
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import make_response
from harness.wire.records.batch_rewrite import identities


@dataclass(slots=True)
class ForgedAcknowledgement:
    """Acknowledges every batch, with offsets that count up."""

    ends: Counter[str] = field(default_factory=Counter)

    def request(self, asked: LiedRequest) -> object:
        """Answered with success, and not forwarded."""
        topics = tuple(self._topic(topic) for topic in ResponseFields(asked.body).parts("topic_data"))
        return LiedResponse(make_response(asked.info.header, responses=topics))

    def response(self, _asked: LiedRequest, body: object) -> object:
        """A request that was forwarded before the rule was on gets its own response."""
        return body

    def _topic(self, topic: ResponseFields) -> dict[str, object]:
        name, parts = topic.text("name"), topic.parts("partition_data")
        acknowledged = tuple(
            self._part(f"{name or topic.uuid('topic_id')}-{part.number('index')}", part) for part in parts
        )
        return {"name": name, "topic_id": topic.uuid("topic_id"), "partition_responses": acknowledged}

    def _part(self, partition: str, part: ResponseFields) -> dict[str, object]:
        base = self.ends[partition]
        self.ends[partition] += sum(batch.count for batch in identities(part.octets("records")))
        return {"index": part.number("index"), "error_code": 0, "base_offset": base, "log_start_offset": 0}


LIAR = ChaosLiar(
    name="forged-acknowledgement",
    apis=("Produce",),
    shows=("lost-commit",),
    lie=f"{__name__}:{ForgedAcknowledgement.__name__}",
)
