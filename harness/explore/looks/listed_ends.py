"""Where partitions end, as their leaders tell, all asked at once."""

from collections.abc import Mapping, Sequence

from harness.explore.asker import at_highest
from harness.wire.requests.log.list_offsets import ListOffsets, ListOffsetsResult
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_client import WireClient

Leaders = Mapping[TopicPartition, int]


def by_leader(leaders: Leaders) -> Mapping[int, Sequence[TopicPartition]]:
    """Partitions by the broker that leads them."""
    grouped: dict[int, list[TopicPartition]] = {}
    for place, leader in leaders.items():
        grouped.setdefault(leader, []).append(place)
    return grouped


def listed_ends(
    observer: WireClient, leaders: Leaders, isolation: int = 0
) -> Mapping[TopicPartition, ListOffsetsResult]:
    """High watermarks, or last stable offsets with ``READ_COMMITTED``; an error stands in each answer.

    :raises WireError: When one cannot be asked.
    """
    grouped = by_leader(leaders)
    requests = {
        leader: [ListOffsets(topic=topic, partition=index, isolation=isolation) for topic, index in places]
        for leader, places in grouped.items()
    }
    found = dict[TopicPartition, ListOffsetsResult]()
    ordered = [place for places in grouped.values() for place in places]
    for place, answer in zip(ordered, at_highest(observer, requests), strict=True):
        assert isinstance(answer, ListOffsetsResult)
        found[place] = answer
    return found
