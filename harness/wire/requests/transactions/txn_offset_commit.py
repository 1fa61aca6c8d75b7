"""TxnOffsetCommit: a group's offsets, valid once the transaction commits (KIP-98, KIP-447 for the group's metadata)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import PartitionErrors, by_partition
from harness.wire.codec.request_builder import Value, request_of
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.topic_partitions import by_topic
from harness.wire.wire_errors import CannotBuild


@dataclass(frozen=True, slots=True, kw_only=True)
class TxnOffsetCommit:
    """Commit ``offsets`` (by topic and partition) for ``group``; ``generation`` and ``member`` need v3+."""

    api: ClassVar[str] = "TxnOffsetCommit"
    transactional_id: str
    group: str
    producer_id: int
    producer_epoch: int
    offsets: Mapping[tuple[str, int], int]
    generation: int = -1
    member: str = ""

    def build(self, version: int) -> RequestPayload:
        """v3 and above carry generation and member."""
        if version < 3 and (self.generation, self.member) != (-1, ""):
            raise CannotBuild(f"TxnOffsetCommit v{version} carries no generation and member")
        return request_of(
            self,
            version,
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member,
            topics=self._topics(),
        )

    def _topics(self) -> list[Value]:
        committed = by_topic((topic, _offset(index, offset)) for (topic, index), offset in self.offsets.items())
        return [{"name": topic, "partitions": partitions} for topic, partitions in committed.items()]

    def read(self, response: ResponsePayload) -> PartitionErrors:
        top = ResponseFields(response)
        return PartitionErrors.of(top, by_partition(top.parts("topics")))


def _offset(partition: int, offset: int) -> Value:
    return {"partition_index": partition, "committed_offset": offset, "committed_metadata": ""}
