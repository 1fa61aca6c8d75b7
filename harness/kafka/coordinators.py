"""Who coordinates an id: worked out from Metadata where the internal topic is shown, else asked for.

Kafka keeps a transactional id, or a group, in the partition of an internal topic that its name hashes to, and that
partition's leader coordinates it (``TransactionStateManager.partitionFor``). So a name for a wanted coordinator is
found without asking, and is confirmed by one FindCoordinator. Servers that show no such topic are asked about many.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from harness.kafka.any_broker import AnyBroker
from harness.kafka.routing import RoutingTable
from harness.wire.records.transaction_state import TOPIC as TRANSACTION_STATE
from harness.wire.records.transaction_state import state_partition
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.requests.groups.find_coordinator import TRANSACTION, FindCoordinator, FindCoordinators
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_errors import CannotBuild, WireError

COORDINATOR_SECONDS = 10.0
"""Within which a cluster that nothing disturbs names a coordinator; the first question makes Kafka create the topic."""
HASHED, ASKED, AT_ONCE = 20_000, 200, 25
"""Names hashed, and asked for, until a broker counts as one that coordinates nothing; names in one batch."""

Coordinated: TypeAlias = tuple[str, int]
"""A name and the broker that coordinates it."""


@dataclass(frozen=True, slots=True)
class Coordinators:
    """The coordinators of one cluster; nothing is remembered, because they move."""

    cluster: AnyBroker

    def of(self, key: str, key_type: int = TRANSACTION) -> int:
        """The broker that coordinates the transactional id, or the group with key type ``GROUP`` (FindCoordinator).

        :raises Unprepared: When the broker answers with an error that does not pass.
        :raises TimedOut: When there is none in time.
        """
        found = self.cluster.patience.get(
            lambda: self.cluster.settled(FindCoordinator(key=key, key_type=key_type)),
            what=f"a coordinator of {key}",
            kinds=(FindCoordinator.api,),
            timeout_seconds=COORDINATOR_SECONDS,
            interval_seconds=0.02,
        )
        return found.node

    def key_partition(self, topic: str, key: str) -> tuple[TopicPartition, int] | None:
        """The partition of an internal topic that keeps the key, and its leader epoch; None where it is not shown."""
        table = RoutingTable()
        # A partition without leader is an error of Metadata, and no matter here.
        table.refresh((topic,), self.cluster.first)
        found = table.key_partition(topic, key)
        return None if found is None else (found, table.partitions(topic)[found[1]]["leader_epoch"])


def transactional_id_for(wanted: Collection[int], draw: Callable[[], str], cluster: AnyBroker) -> Coordinated | None:
    """A transactional id that one of these brokers coordinates; None where none of them coordinates anything.

    :param draw: Gives a fresh id each time.
    :raises Unprepared, TimedOut, WireError: When the cluster names no coordinator at all.
    """
    coordinators = Coordinators(cluster)
    first = draw()
    found = coordinators.of(first)  # after which the internal topic is there, if there is one
    if found in wanted:
        return first, found
    leaders = _leaders(cluster)
    if leaders and not any(leader in wanted for leader in leaders.values()):
        return None
    for one in _hashed(wanted, draw, leaders):
        if (found := coordinators.of(one)) in wanted:
            return one, found
    asked = _asked(cluster, (draw() for _ in range(ASKED)))
    return next(((one, node) for one, node in asked if node in wanted), None)


def _hashed(wanted: Collection[int], draw: Callable[[], str], leaders: Mapping[int, int]) -> Iterator[str]:
    """At most two ids that these brokers should coordinate: a second, should the first one's partition have moved."""
    drawn = (draw() for _ in range(HASHED if leaders else 0))
    return islice((one for one in drawn if leaders.get(state_partition(one, len(leaders))) in wanted), 2)


def _leaders(cluster: AnyBroker) -> Mapping[int, int]:
    """The leaders of the partitions that keep transactional ids; none where the server shows no such topic."""
    answer = cluster.first(Metadata(topics=(TRANSACTION_STATE,)))
    shown = answer.topics.get(TRANSACTION_STATE)
    return {} if shown is None else {index: each["leader"] for index, each in shown["partitions"].items()}


def _asked(cluster: AnyBroker, drawn: Iterator[str]) -> Iterator[Coordinated]:
    """Each id with its coordinator, asked for in batches, or pipelined where a request takes one key."""
    while some := tuple(islice(drawn, AT_ONCE)):
        yield from coordinators_of(cluster, some).items()


def coordinators_of(cluster: AnyBroker, keys: tuple[str, ...]) -> Mapping[str, int]:
    """Who coordinates each of these transactional ids, in one request where a request takes many (KIP-699).

    Those that are answered with an error are left out.
    """
    try:
        return cluster.first(FindCoordinators(keys=keys)).nodes
    except CannotBuild:
        return dict(_one_by_one(cluster, keys))


def _one_by_one(cluster: AnyBroker, keys: tuple[str, ...]) -> Iterator[Coordinated]:
    """Through the first broker that is reached."""
    for broker in cluster.brokers:
        try:
            version = cluster.client.highest(broker, FindCoordinator.api)
            pending = {key: cluster.client.send(broker, FindCoordinator(key=key), version) for key in keys}
            answers = {key: each.wait().result for key, each in pending.items()}
        except WireError:
            continue
        yield from ((key, answer.node) for key, answer in answers.items() if not answer.error)
        return
