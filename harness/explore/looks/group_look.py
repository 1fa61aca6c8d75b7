"""What the coordinators of groups show of offsets, of many groups in one request to each broker."""

import struct
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from harness.base import wait
from harness.base.kafka_error import KafkaError
from harness.explore.asker import ANSWER_SECONDS
from harness.explore.looks.stale_route import require_sound
from harness.kafka.retriable import STALE_ROUTE
from harness.wire.requests.groups.offset_fetch import (
    LAST_BY_NAME,
    FetchedOffset,
    OffsetFetchOfGroups,
    OffsetFetchOfGroupsResult,
)
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_client import WireClient

SETTLED_SECONDS = 1.0
"""That offsets may stay unstable after their marker: before 4.0 they are moved behind the answer to WriteTxnMarkers."""
_VERSION_AND_OFFSET = struct.Struct(">hq")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownOffset:
    """What OffsetFetch shows of a group. :param stable: Whether it does with ``require_stable`` (KIP-447)."""

    offset: int
    stable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupToLookAt:
    """A group, where its coordinator is, and of which partition offsets were committed.

    :param settled: Whether no transaction is open that has offsets of it, so that what is unstable soon is not.
    """

    coordinator: int
    place: TopicPartition
    settled: bool


def look_at_groups(observer: WireClient, groups: Mapping[str, GroupToLookAt]) -> Mapping[str, ShownOffset]:
    """Of each of the groups.

    :raises WireError, Unprepared: When they cannot be seen. :raises StaleRoute: As :func:`require_sound`.
    """
    settled = {name: each for name, each in groups.items() if each.settled}
    wait.elapsed_ms_until(lambda: not _unstable(observer, settled), timeout_seconds=SETTLED_SECONDS)
    unstable, shown = _unstable(observer, groups), _fetched(observer, groups, stable=False)
    return {name: ShownOffset(offset=each.offset, stable=name not in unstable) for name, each in shown.items()}


def are_loaded(observer: WireClient, groups: Mapping[str, int]) -> bool:
    """Whether every coordinator has loaded what it keeps: groups that are never used, by their coordinators."""
    asked = {name: GroupToLookAt(coordinator=node, place=("never", 0), settled=True) for name, node in groups.items()}
    return all(each.error not in STALE_ROUTE for each in _answers(observer, asked, stable=False))


def _unstable(observer: WireClient, groups: Mapping[str, GroupToLookAt]) -> Collection[str]:
    shown = _fetched(observer, groups, stable=True)
    return {name for name, each in shown.items() if each.error == KafkaError.UNSTABLE_OFFSET_COMMIT}


def _fetched(observer: WireClient, groups: Mapping[str, GroupToLookAt], *, stable: bool) -> Mapping[str, FetchedOffset]:
    answers = _answers(observer, groups, stable=stable)
    for each in answers:
        require_sound("OffsetFetch", each.error)
    return {name: offset for each in answers for name, offset in each.offsets.items()}


def _answers(
    observer: WireClient, groups: Mapping[str, GroupToLookAt], *, stable: bool
) -> Sequence[OffsetFetchOfGroupsResult]:
    """Of each coordinator."""
    places = defaultdict[int, dict[str, TopicPartition]](dict)
    for name, each in groups.items():
        places[each.coordinator][name] = each.place
    pending = [
        observer.send(
            node,
            OffsetFetchOfGroups(places=of_node, require_stable=stable),
            observer.highest(node, OffsetFetchOfGroups.api, LAST_BY_NAME),
        )
        for node, of_node in places.items()
    ]
    return [each.wait(ANSWER_SECONDS).result for each in pending]


def committed_offset(value: bytes) -> int:
    """That a record of ``__consumer_offsets`` commits (``OffsetCommitValue.json``)."""
    _, offset = _VERSION_AND_OFFSET.unpack_from(value)
    return int(offset)
