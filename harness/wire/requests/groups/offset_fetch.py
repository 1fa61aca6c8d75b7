"""OffsetFetch: the offsets that a group has committed (KIP-447 ``require_stable``, KIP-709, KIP-848)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar
from uuid import UUID

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.topic_partitions import TopicPartition, by_topic, partition_name
from harness.wire.wire_errors import CannotBuild

NO_OFFSET = -1
"""The offset of a partition for which the group has committed none."""
MANY_GROUPS, LAST_BY_NAME = 8, 9
"""The first version that asks for several groups, and the last that names topics by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetchResult:
    """``offsets`` by partition name (``t-0``), :data:`NONE` where there is none; ``partitions`` gives the errors.

    ``error`` is the first that is not 0: with ``require_stable`` UNSTABLE_OFFSET_COMMIT while a transaction that
    commits offsets of the partition is open.
    """

    error: int
    error_message: str | None
    offsets: dict[str, int]
    partitions: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetch:
    """Ask the group's coordinator for ``partitions`` (topic and index), or for all that it has with None (v2+).

    :param require_stable: Refuse offsets that an open transaction may still change; needs v7+.
    :param topic_ids: By topic; v10 and above name topics by id.
    """

    api: ClassVar[str] = "OffsetFetch"
    group: str
    partitions: Sequence[tuple[str, int]] | None
    require_stable: bool = False
    topic_ids: Mapping[str, UUID] = field(default_factory=dict)

    def build(self, version: int) -> RequestPayload:
        """v8 and above ask for a list of groups, here of one."""
        if version < 7 and self.require_stable:
            raise CannotBuild(f"OffsetFetch v{version} cannot ask for stable offsets alone")
        if version < 2 and self.partitions is None:
            raise CannotBuild(f"OffsetFetch v{version} cannot ask for all partitions")
        if version >= 10 and not (self.topic_ids and self.topic_ids.keys() >= {t for t, _ in self.partitions or ()}):
            raise CannotBuild(f"OffsetFetch v{version} names topics by id, and not all were given")
        topics = self._topics()
        group: Value = {"group_id": self.group, "topics": topics}
        stable = self.require_stable
        return request(self.api, version, group_id=self.group, topics=topics, groups=[group], require_stable=stable)

    def read(self, response: ResponsePayload) -> OffsetFetchResult:
        """The only group's answer."""
        top = ResponseFields(response)
        group = top.first("groups") if top.has("groups") else top
        read = [
            (self._name(topic, part), part) for topic in group.parts("topics") for part in topic.parts("partitions")
        ]
        errors = {name: part.error() for name, part in read}
        return OffsetFetchResult(
            error=first_error(top.error(), group.error(), *errors.values()),
            error_message=None,
            offsets={name: part.number("committed_offset") for name, part in read},
            partitions=errors,
        )

    def _topics(self) -> list[Value] | None:
        if self.partitions is None:
            return None
        return [
            {"name": topic, "topic_id": self.topic_ids.get(topic), "partition_indexes": tuple(indexes)}
            for topic, indexes in by_topic(self.partitions).items()
        ]

    def _name(self, topic: ResponseFields, partition: ResponseFields) -> str:
        named = {topic_id: name for name, topic_id in self.topic_ids.items()}
        by_id = topic.uuid("topic_id")
        name = topic.text("name") if by_id is None else named.get(by_id, str(by_id))
        return partition_name(name, partition.number("partition_index"))


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedOffset:
    """:data:`NO_OFFSET` where the group has committed none, and with an error."""

    error: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetchOfGroupsResult:
    """``offsets`` by group; ``error`` is the first of a whole group."""

    error: int
    error_message: str | None
    offsets: dict[str, FetchedOffset]


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetchOfGroups:
    """Ask the coordinator of several groups for one partition of each (KIP-709)."""

    api: ClassVar[str] = OffsetFetch.api
    places: Mapping[str, TopicPartition]
    require_stable: bool = False

    def build(self, version: int) -> RequestPayload:
        """v8 and v9: before there is one group a request, after it topics are named by id."""
        if not MANY_GROUPS <= version <= LAST_BY_NAME:
            raise CannotBuild(f"OffsetFetch v{version} does not ask for several groups with topics by name")
        groups: list[Value] = [
            {"group_id": group, "topics": [{"name": topic, "partition_indexes": (index,)}]}
            for group, (topic, index) in self.places.items()
        ]
        return request(self.api, version, groups=groups, require_stable=self.require_stable)

    def read(self, response: ResponsePayload) -> OffsetFetchOfGroupsResult:
        """Each group's only partition."""
        groups = ResponseFields(response).parts("groups")
        parts = {each.text("group_id"): each for each in groups}
        return OffsetFetchOfGroupsResult(
            error=first_error(*(each.error() for each in groups)),
            error_message=None,
            offsets={group: _fetched(each) for group, each in parts.items() if not each.error()},
        )


def _fetched(group: ResponseFields) -> FetchedOffset:
    part = group.first("topics").first("partitions")
    return FetchedOffset(error=part.error(), offset=part.number("committed_offset"))
