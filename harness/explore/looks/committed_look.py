"""What a consumer of committed records is shown behind the last stable offset: nothing, where the leader is right."""

from collections.abc import Mapping

from harness.explore.explored_cluster import ExploredCluster
from harness.kafka.in_charge import version_of_leaders
from harness.wire.requests.log.fetch import READ_COMMITTED, Fetch
from harness.wire.topic_partitions import TopicPartition


def leaked_offsets(
    cluster: ExploredCluster,
    leaders: Mapping[TopicPartition, int],
    stable: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
) -> Mapping[TopicPartition, int]:
    """Where a read_committed Fetch at the last stable offset shows a batch, and at which offset (``FetchIsolation``).

    Only where anything lies behind that offset.

    :raises WireError: When it cannot be asked.
    """
    asked = {place: at for place, at in stable.items() if at < ends[place]}
    shown = {place: _first_at(cluster, place, leaders[place], at) for place, at in asked.items()}
    return {place: offset for place, offset in shown.items() if offset is not None}


def _first_at(cluster: ExploredCluster, place: TopicPartition, leader: int, offset: int) -> int | None:
    version = version_of_leaders(cluster.observer, leader, Fetch.api)
    request = Fetch(topic=place[0], partition=place[1], offset=offset, isolation=READ_COMMITTED, max_bytes=1)
    batches = cluster.observer.call(leader, request, version).result.batches
    return batches[0].base_offset if batches else None
