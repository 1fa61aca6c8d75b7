"""Whose answer is the truth: what a stale broker may answer to each request that a judge believes, and what is done.

A broker is stale when it led or coordinated and another one does so now. It may know that it has become a follower, or
not know it yet: then it is cut off from the controller, goes on in its own eyes, and can be asked all the same.

| request | what a stale broker may answer (Apache Kafka) | what makes the answer count |
|---|---|---|
| Fetch | From v11 on a follower answers a consumer, from its own log: a high watermark that went back, a last stable offset of a transaction that it has forgotten (KIP-392; ``KafkaApis`` gives ``clientMetadata`` from v11, ``FetchParams.fetchOnlyLeader``). A new leader may show a high watermark below what the leader before it had shown. | v10 at most, with the leader epoch (KIP-320): an older broker answers UNKNOWN_LEADER_EPOCH, a newer one FENCED_LEADER_EPOCH (``Partition.checkCurrentLeaderEpoch``). Samples of watermarks count once ListOffsets was answered in the same epoch. |
| ListOffsets | A leader alone answers, at any version; one that is cut off goes on. A new leader answers OFFSET_NOT_AVAILABLE until its high watermark is at its epoch's start (v5, ``Partition.fetchOffsetForTimestamp``). | The leader epoch (v4). |
| DescribeProducers | Any replica answers from what it keeps, a follower that is behind too (``Partition.activeProducerState`` asks for no leader, and the request has no epoch). | ListOffsets at the same node and epoch right after it, without error. |
| DescribeTransactions, ListTransactions | A coordinator that is cut off answers from its cache (``TransactionStateManager.getAndMaybeAddTransactionState``, ``listTransactionStates``), one that resigned NOT_COORDINATOR, or a list without what it gave away. | The node leads the partition of ``__transaction_state``, in one and the same epoch by the newest Metadata of all brokers, before and after. |
| OffsetFetch | A group coordinator that is cut off answers from its cache (``GroupCoordinatorService.fetchOffsets`` reads its shard's state). | Likewise, with ``__consumer_offsets``. |
| FindCoordinator, Metadata | What the broker's cache says: a leader of long ago (``KafkaApis.getCoordinator``, ``MetadataCache``). | Leader epochs only grow: an older answer is dropped. The node that is named is asked, and must pass what is above. |
| ApiVersions, finalized features | What the broker's cache says, with an epoch (``finalized_features_epoch``). | The answer of the highest epoch counts; a change is waited for on every broker. |

A leader that is cut off while nobody knows a newer epoch yet still answers: what it shows was true, and stands in its
log, but may be old. That is why levels are looked at again until they are met, and why all are asked for Metadata.
Where a cluster lists no internal topics in Metadata, the answer to FindCoordinator is all there is; where it tells no
leader epochs (-1), Fetch up to v10 and ListOffsets are still refused by a broker that knows itself to be a follower.
"""  # noqa: E501 (a table's row is one line)

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Protocol, TypeVar, cast

from harness.kafka.routing import RoutingTable
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.requests.groups.find_coordinator import GROUP, FindCoordinator
from harness.wire.requests.log.fetch import LAST_BY_NAME, LAST_OF_LEADERS, Fetch
from harness.wire.requests.log.fetch_watermarks import FetchWatermarks
from harness.wire.requests.log.list_offsets import ListOffsets
from harness.wire.requests.transactions.describe_producers import DescribeProducers
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_errors import NotOffered

ResultT = TypeVar("ResultT", bound=ApiResult)

EpochOf = Callable[[TopicPartition], int]
"""The newest leader epoch that is known of a partition; -1 when none is."""


class AskAll(Protocol):
    """Sends a request to every broker."""

    def __call__(self, request: ApiRequest[ResultT], /) -> Iterable[ResultT]:
        """The answers of those that answered."""


class OffersVersions(Protocol):
    def highest(self, node: int, api: str, cap: int | None = None) -> int:
        """As the wire client's."""


def in_epoch(request: ApiRequest[ResultT], epoch_of: EpochOf) -> ApiRequest[ResultT]:
    """The request for the leader of the epoch that is known; one that cannot name an epoch is left as it is."""
    match cast(Any, request):
        case Fetch() | ListOffsets() as one:
            return cast(ApiRequest[ResultT], replace(one, leader_epoch=epoch_of((one.topic, one.partition))))
        case FetchWatermarks() as many:
            return cast(
                ApiRequest[ResultT], replace(many, leader_epochs={each: epoch_of(each) for each in many.partitions})
            )
    return request


def version_of_leaders(client: OffersVersions, node: int, api: str) -> int:
    """The highest version that a leader alone answers; for a Fetch that is offered in newer ones only, the epoch's.

    :raises NotOffered: When the broker offers none that names topics.
    """
    if api != Fetch.api:
        return client.highest(node, api)
    try:
        return client.highest(node, api, LAST_OF_LEADERS)
    except NotOffered:
        return client.highest(node, api, LAST_BY_NAME)


def confirmation(request: ApiRequest[ApiResult], epoch_of: EpochOf) -> ListOffsets | None:
    """What the same node must answer right after it, so that its answer was the leader's; None: nothing more."""
    if not isinstance(request, DescribeProducers):
        return None
    where = request.topic, request.partition
    return ListOffsets(topic=request.topic, partition=request.partition, leader_epoch=epoch_of(where))


def coordination(node: int, key: str, key_type: int, ask_all: AskAll) -> tuple[int, int] | None:
    """That ``node`` coordinates the key, as leader and epoch of its state partition; None when another one does.

    Equal values before and after an answer mean that the node was the coordinator all the while. (-1, -1) stands for a
    cluster that lists no internal topics. A leader that is not the coordinator, though all brokers name ``node`` after
    they have told so, is a design of its own, in which that partition's leader coordinates nothing.
    """
    topic, table = "__consumer_offsets" if key_type == GROUP else "__transaction_state", RoutingTable()
    for answer in ask_all(Metadata(topics=(topic,))):
        table.learn(answer)
    place = table.key_partition(topic, key)
    if place is None:
        return -1, -1
    kept = table.partitions(topic)[place[1]]
    if kept["leader"] == node or _all_name(node, key, key_type, ask_all):
        return kept["leader"], kept["leader_epoch"]
    return None


def _all_name(node: int, key: str, key_type: int, ask_all: AskAll) -> bool:
    named = {found.node for found in ask_all(FindCoordinator(key=key, key_type=key_type)) if found.error == 0}
    return named == {node}
