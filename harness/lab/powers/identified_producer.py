"""What every request of a transactional producer needs: its identity, its lane, and the version that it speaks."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from harness.base.unprepared import OutOfReach
from harness.kafka.producer_state import ProducerState
from harness.kafka.transaction_protocol import V1, V2
from harness.lab.step_recorder import StepRecorder
from harness.wire.records.record_batch import NewBatch
from harness.wire.requests.transactions.add_offsets_to_txn import AddOffsetsToTxn
from harness.wire.requests.transactions.add_partitions_to_txn import AddPartitionsToTxn
from harness.wire.requests.transactions.end_txn import EndTxn
from harness.wire.requests.transactions.txn_offset_commit import TxnOffsetCommit

OverriddenT = TypeVar("OverriddenT", bound="AddOffsetsToTxn | AddPartitionsToTxn | EndTxn | NewBatch | TxnOffsetCommit")


@dataclass(slots=True, kw_only=True)
class IdentifiedProducer:
    """The part of a :class:`harness.lab.producer.Producer` that sends nothing."""

    step_recorder: StepRecorder
    transactional_id: str
    coordinator: int
    protocol: Literal[1, 2] = 1
    state: ProducerState = field(init=False)

    def __post_init__(self) -> None:
        protocol = V1 if self.protocol == 1 else V2
        self.state = ProducerState(transactional_id=self.transactional_id, protocol=protocol)

    @property
    def producer_id(self) -> int:
        """As the coordinator gave it; -1 before InitProducerId."""
        return self.state.producer_id

    @property
    def epoch(self) -> int:
        """The epoch that the next request carries; -1 before InitProducerId."""
        return self.state.epoch

    @property
    def lane(self) -> str:
        """The name of the actor, which is the name of its lane."""
        return self.step_recorder.actor

    def lane_to(self, node: int) -> str:
        """The proxy through which this producer reaches ``node``; :raises OutOfReach: when there is none."""
        if proxy := self.step_recorder.proxies.get(node):
            return proxy
        raise OutOfReach("no proxies stand between clients and this cluster, so no request can be held")

    def version(self, api: str, cap: int | None = None) -> int:
        """The highest version of ``api`` that this producer's protocol uses and the broker offers."""
        highest = self.state.protocol.highest_versions.get(api) if cap is None else cap
        return self.step_recorder.client.highest(self.coordinator, api, highest)

    def become(self, producer_id: int, epoch: int) -> None:
        """Go on with this identity; sequences start at 0 again when it is a new one."""
        self.state.become(producer_id, epoch)


def overridden(request: OverriddenT, **overrides: int | str | tuple[str, ...] | None) -> OverriddenT:
    """The request with the stimulus's own values; None leaves what a client would send."""
    changes: dict[str, Any] = {name: value for name, value in overrides.items() if value is not None}
    return replace(request, **changes)
