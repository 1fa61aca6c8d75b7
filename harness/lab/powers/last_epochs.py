"""Producers at the end of their epochs: a producer id has 32,767 of them, and the next one needs another id (KIP-360).

Counted up honestly, that is one InitProducerId with the current identity for each epoch: 32,766 small writes to the
coordinator's log, a minute or two an id, on any cluster. On a cluster of ours with two brokers it takes about a second
for however many ids: a record of the state ``Empty``, one epoch before, is appended to the id's partition of
``__transaction_state`` (brokers take writes to internal topics from the client id ``__admin_client``,
``KafkaApis.handleProduceRequest``), and the coordinator reads it when the partition's leadership moves to another
replica and back (KIP-455, KIP-460).

In both cases the last step to the wanted epoch is the coordinator's own, so that the newest record and what it keeps in
memory (the last epoch, for repetitions) are as they would be.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from harness.base import wait
from harness.base.kafka_error import KafkaError
from harness.base.unprepared import Unprepared
from harness.kafka.any_broker import AnyBroker, told
from harness.kafka.coordinators import Coordinators
from harness.kafka.retriable import TRANSIENT
from harness.lab.producer import Producer
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.records.record_batch import NewBatch, escaped
from harness.wire.records.transaction_state import TOPIC, NewState
from harness.wire.requests.cluster.alter_partition_reassignments import AlterPartitionReassignments
from harness.wire.requests.cluster.elect_leaders import ElectLeaders
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.requests.log.produce import PartitionBatch, Produce
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from harness.wire.wire_client import WireClient

ResultT = TypeVar("ResultT", bound=ApiResult)

LAST_EPOCH = 32766
"""The highest that a client is ever given; 32767 is kept for fencing (``TransactionMetadata.isEpochExhausted``)."""
ADMIN = "__admin_client"
"""The client id that may write to internal topics (``AdminUtils.ADMIN_CLIENT_ID``), in every release."""
NAMES_TOPICS = 9
"""A version of Produce in which topics have names, offered by all releases from 2.8 on."""
COUNTED = 3
"""The first version of InitProducerId with an identity (KIP-360)."""
TAKEN = (KafkaError.NONE, KafkaError.ELECTION_NOT_NEEDED)
MOVED_SECONDS = 10.0
"""Within which all brokers know of a leader that the controller elected."""
TRIES = 500
"""Of one request that is refused for a moment, 10 ms apart."""


@dataclass(frozen=True, slots=True)
class LastEpochs:
    """Brings producers near the end of their epochs.

    :param cluster: Its brokers, over the observer's lane.
    :param open_client: Another client on that lane under a name that brokers see; its exchanges are not recorded.
    :param may_forge: Whether the cluster's own log may be written to.
    """

    cluster: AnyBroker
    open_client: Callable[[str], WireClient]
    may_forge: bool

    def bring(self, producers: Sequence[Producer], epoch: int, timeout_ms: int) -> None:
        """The quick way where it is allowed and there is another broker; raises as both do."""
        quick = self.may_forge and len(self.cluster.brokers) > 1
        (self.forge if quick else self.count_up)(producers, epoch, timeout_ms)

    def forge(self, producers: Sequence[Producer], epoch: int, timeout_ms: int) -> None:
        """One append for all ids and one move of their partitions; all have the same coordinator.

        :raises Unprepared: When a broker refuses what this takes.
        """
        kept_in = {each.transactional_id: self._partition(each) for each in producers}
        self._append(producers, kept_in, epoch - 1, timeout_ms)
        self._move(set(kept_in.values()), producers[0].coordinator)
        _last_step(producers, epoch, timeout_ms)

    def count_up(self, producers: Sequence[Producer], epoch: int, timeout_ms: int) -> None:
        """Every epoch by a request of its own, side by side; raises as :meth:`forge` does."""
        with closing(self.open_client("observer")) as client:
            for now in range(min(each.epoch for each in producers), epoch - 1):
                _next_epochs(client, producers, now)
        _last_step(producers, epoch, timeout_ms)

    def _partition(self, producer: Producer) -> int:
        found = Coordinators(self.cluster).key_partition(TOPIC, producer.transactional_id)
        if found is None:
            raise Unprepared(f"the partitions of {TOPIC} are not shown")
        return found[0][1]

    def _append(self, producers: Sequence[Producer], kept_in: Mapping[str, int], epoch: int, timeout_ms: int) -> None:
        """One batch a partition, with an idempotent producer's nothing: as an administrator's tool would write it."""
        forged: dict[int, list[NewState]] = {}
        for each in producers:
            state = NewState(each.transactional_id, each.producer_id, epoch, timeout_ms)
            forged.setdefault(kept_in[each.transactional_id], []).append(state)
        batches = (
            PartitionBatch(topic=TOPIC, partition=index, batch=_batch(states)) for index, states in forged.items()
        )
        request, node = Produce(transactional_id=None, batches=tuple(batches)), producers[0].coordinator
        with closing(self.open_client(ADMIN)) as client:
            version = client.highest(node, request.api, NAMES_TOPICS)
            _taken(request, client.call(node, request, version).result)

    def _move(self, indexes: Collection[int], coordinator: int) -> None:
        """Another replica leads each of these partitions for a moment; then the coordinator does, and has read them."""
        shown = self.cluster.first(Metadata(topics=(TOPIC,))).topics[TOPIC]["partitions"]
        others = {index: [node for node in shown[index]["replicas"] if node != coordinator] for index in indexes}
        if not all(others.values()):
            raise Unprepared(f"a partition of {TOPIC} has one replica alone, so its leader cannot be moved")
        try:
            self._lead({index: (*nodes, coordinator) for index, nodes in others.items()})
        finally:
            self._lead({index: (coordinator, *nodes) for index, nodes in others.items()})

    def _lead(self, orders: Mapping[int, tuple[int, ...]]) -> None:
        """Put replicas into these orders and elect the first of each; returns when all brokers know."""
        replicas = {(TOPIC, index): order for index, order in orders.items()}
        alter, elect = AlterPartitionReassignments(replicas=replicas), ElectLeaders(partitions=tuple(replicas))
        _taken(alter, self.cluster.controller(alter))
        _taken(elect, self.cluster.controller(elect))
        wait.until(
            lambda: all(map(self._led, orders, orders.values())),
            what=f"other leaders of {TOPIC}",
            timeout_seconds=MOVED_SECONDS,
        )

    def _led(self, index: int, order: Sequence[int]) -> bool:
        """Whether all brokers know the first as the partition's leader."""
        answers = self.cluster.each(Metadata(topics=(TOPIC,))).values()
        return all(answer.topics[TOPIC]["partitions"][index]["leader"] == order[0] for answer in answers)


def _batch(states: Sequence[NewState]) -> NewBatch:
    return NewBatch(
        values=tuple(escaped(state.value) for state in states),
        keys=tuple(escaped(state.key) for state in states),
        transactional=False,
    )


def _taken(request: ApiRequest[ResultT], result: ResultT) -> None:
    if result.error not in TAKEN:
        raise Unprepared(f"{request.api} answered {told(result)}")


def _next_epochs(client: WireClient, producers: Sequence[Producer], epoch: int) -> None:
    """One epoch further for all that are in this one; :raises Unprepared: when one is refused for good."""
    waiting = [each for each in producers if each.epoch <= epoch]
    for _ in range(TRIES):
        sent = [client.send(each.coordinator, _own_identity(each, epoch), COUNTED) for each in waiting]
        results = {each.transactional_id: one.wait().result for each, one in zip(waiting, sent, strict=True)}
        refused = [result for result in results.values() if result.error and result.error not in TRANSIENT]
        if refused:
            raise Unprepared(f"InitProducerId in epoch {epoch} answered {told(refused[0])}")
        waiting = [each for each in waiting if results[each.transactional_id].error]
        if not waiting:
            return
        wait.pause(0.01)
    raise Unprepared(f"InitProducerId in epoch {epoch} was refused {TRIES} times")


def _own_identity(producer: Producer, epoch: int) -> InitProducerId:
    return InitProducerId(
        transactional_id=producer.transactional_id, producer_id=producer.producer_id, producer_epoch=epoch
    )


def _last_step(producers: Sequence[Producer], epoch: int, timeout_ms: int) -> None:
    """The coordinator's own bump into the wanted epoch; :raises Unprepared: when it does not keep the one before."""
    for each in producers:
        own = each.producer_id
        each.init(identity=(own, epoch - 1), timeout_ms=timeout_ms)
        if (each.producer_id, each.epoch) != (own, epoch):
            raise Unprepared(f"after epoch {epoch - 1} of {own} came epoch {each.epoch} of {each.producer_id}")
