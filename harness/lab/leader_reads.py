"""Reads that only a leader answers, for the observer: each in the newest leader epoch that any broker knows.

See :mod:`harness.kafka.in_charge` for what a broker that is not, or no longer, in charge might answer otherwise.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from harness.base.kafka_error import KafkaError
from harness.kafka.in_charge import coordination, in_epoch, version_of_leaders
from harness.kafka.routing import RoutingTable
from harness.lab.step_recorder import ResultT, StepRecorder
from harness.wire.api_request import ApiRequest
from harness.wire.records.transaction_state import TOPIC
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.requests.groups.find_coordinator import TRANSACTION
from harness.wire.requests.log.list_offsets import ListOffsets
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_client import PendingResponse
from harness.wire.wire_errors import NoAnswer, WireError

ANOTHER_EPOCH = frozenset({KafkaError.FENCED_LEADER_EPOCH, KafkaError.UNKNOWN_LEADER_EPOCH})
"""The broker, or who asks, knows a newer leader epoch (KIP-320)."""
EPOCHS_TRIED = 5
"""Epochs in which one leader is asked, should it be elected anew again and again."""
RETRY_SECONDS = 0.05
WATERMARK_SECONDS = 5.0
"""Within which the followers of a new leader must have fetched, so that it knows how far they are."""
METADATA_SECONDS = 3.0
"""That a broker is given for its Metadata; one that is silent is left out."""


class HasError(Protocol):
    @property
    def error(self) -> int | None: ...


HasErrorT = TypeVar("HasErrorT", bound=HasError)


@dataclass(frozen=True, slots=True)
class LeaderReads:
    """Leaders and coordinators as all brokers know them.

    :param routing: What is known of leader epochs; kept from one read to the next.
    """

    recorder: StepRecorder
    brokers: Sequence[int]
    routing: RoutingTable = field(default_factory=RoutingTable)

    def of_leader(self, leader: int, topic: str, request: ApiRequest[ResultT]) -> ResultT:
        """What the broker answers in the newest epoch; an error when it does not lead in that one."""
        version = version_of_leaders(self.recorder.client, leader, request.api)
        return self.in_newest_epoch(topic, lambda: self.recorder.answer(leader, self.dated(request), version))

    def await_watermark(self, leader: int, topic: str, index: int) -> None:
        """Wait, bounded, until the leader's high watermark is at its epoch's start: before that it may be too low."""
        request = ListOffsets(topic=topic, partition=index)
        self.recorder.patience.until(
            lambda: self.of_leader(leader, topic, request).error != KafkaError.OFFSET_NOT_AVAILABLE,
            kinds=("high watermark of a new leader",),
            timeout_seconds=WATERMARK_SECONDS,
            interval_seconds=RETRY_SECONDS,
        )

    def dated(self, request: ApiRequest[ResultT]) -> ApiRequest[ResultT]:
        """The request in the newest epoch that is known."""
        return in_epoch(request, self.epoch)

    def in_newest_epoch(self, topic: str, ask: Callable[[], HasErrorT]) -> HasErrorT:
        """The first answer that is no refusal of the epoch, which is looked up again in between; else the last one."""
        for _ in range(EPOCHS_TRIED):
            answer = ask()
            if answer.error not in ANOTHER_EPOCH:
                break
            self.recorder.patience.pause(RETRY_SECONDS)
            self._learn(topic)
        return answer

    def epoch(self, topic_partition: TopicPartition) -> int:
        """The newest leader epoch, asked for once; -1 where the cluster tells none."""
        if topic_partition[1] not in self.routing.partitions(topic_partition[0]):
            self._learn(topic_partition[0])
        return self.routing.leader_epoch(topic_partition)

    def coordination(self, node: int, transactional_id: str) -> tuple[int, int] | None:
        """See :func:`harness.kafka.in_charge.coordination`."""
        return coordination(node, transactional_id, TRANSACTION, self.of_all)

    def state_led_by(self, node: int) -> frozenset[tuple[int, int]]:
        """Index and leader epoch of each partition of ``__transaction_state`` that the node leads."""
        self._learn(TOPIC)
        known = self.routing.partitions(TOPIC).items()
        return frozenset((index, at["leader_epoch"]) for index, at in known if at["leader"] == node)

    def of_all(self, request: ApiRequest[ResultT]) -> Iterable[ResultT]:
        """What all brokers answer, asked at once; those that do not answer are left out."""
        client, sent = self.recorder.client, list[PendingResponse[ResultT]]()
        for broker in self.brokers:
            with suppress(WireError):
                sent.append(client.send(broker, request, client.highest(broker, request.api)))
        return [result for one in sent if (result := self._result(one)) is not None]

    def _result(self, pending: PendingResponse[ResultT]) -> ResultT | None:
        patience, kind = self.recorder.patience, f"{pending.api} of broker {pending.node}"
        try:
            with patience.within(METADATA_SECONDS, kind, in_vain=NoAnswer) as bound:
                return pending.wait(bound).result
        except WireError:
            return None

    def _learn(self, topic: str) -> None:
        for answer in self.of_all(Metadata(topics=(topic,))):
            self.routing.learn(answer)
