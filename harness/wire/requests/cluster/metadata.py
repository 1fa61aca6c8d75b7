"""Metadata: brokers, and topics with their ids, leaders, replicas and in-sync replicas."""

from dataclasses import dataclass
from typing import ClassVar, TypedDict

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields, first_error


class PartitionMetadata(TypedDict):
    """A partition's replicas; ``leader`` is -1 when it has none, ``leader_epoch`` is -1 where the version lacks it."""

    error: int
    leader: int
    leader_epoch: int
    replicas: list[int]
    isr: list[int]


class TopicMetadata(TypedDict):
    """A topic; ``id`` as 8-4-4-4-12 hexadecimal digits, None before v10."""

    id: str | None
    error: int
    partitions: dict[int, PartitionMetadata]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataResult:
    """``brokers`` by id as ``host:port``; ``error`` is the first of the answer, its topics and their partitions."""

    error: int
    error_message: str | None
    cluster_id: str | None
    controller: int
    brokers: dict[int, str]
    topics: dict[str, TopicMetadata]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """Ask for ``topics`` by name: None for all, ``()`` for none (v0 then answers with all).

    :param create: Whether a broker that creates topics by itself may create those that are not there.
    """

    api: ClassVar[str] = "Metadata"
    topics: tuple[str, ...] | None = ()
    create: bool = False

    def build(self, version: int) -> RequestPayload:
        """v0 has no null for all topics, but an empty list; v3 and below create as ``create`` does."""
        wanted = None if self.topics is None else [{"topic_id": None, "name": name} for name in self.topics]
        return request(
            self.api,
            version,
            topics=() if version == 0 and wanted is None else wanted,
            allow_auto_topic_creation=self.create,
            include_cluster_authorized_operations=False,
            include_topic_authorized_operations=False,
        )

    def read(self, response: ResponsePayload) -> MetadataResult:
        """Topic ids from v10 on, leader epochs from v7 on."""
        top = ResponseFields(response)
        topics = {part.text("name"): _topic(part) for part in top.parts("topics")}
        return MetadataResult(
            error=first_error(top.error(), *_errors(topics)),
            error_message=None,
            cluster_id=top.message("cluster_id"),
            controller=top.number("controller_id"),
            brokers={b.number("node_id"): f"{b.text('host')}:{b.number('port')}" for b in top.parts("brokers")},
            topics=topics,
        )


def _errors(topics: dict[str, TopicMetadata]) -> list[int]:
    return [
        first_error(topic["error"], *(partition["error"] for partition in topic["partitions"].values()))
        for topic in topics.values()
    ]


def _topic(part: ResponseFields) -> TopicMetadata:
    topic_id = part.uuid("topic_id")
    return TopicMetadata(
        id=str(topic_id) if topic_id else None,
        error=part.error(),
        partitions={each.number("partition_index"): _partition(each) for each in part.parts("partitions")},
    )


def _partition(part: ResponseFields) -> PartitionMetadata:
    return PartitionMetadata(
        error=part.error(),
        leader=part.number("leader_id"),
        leader_epoch=part.number("leader_epoch"),
        replicas=list(part.numbers("replica_nodes")),
        isr=list(part.numbers("isr_nodes")),
    )
