"""The lab's administrator: Kafka's own administration over the observer's lane, and an operator's marker as a step."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from uuid import UUID

from harness.base.json_value import Json
from harness.evidence.requirement_evidence import Step
from harness.kafka.administration import Administration
from harness.lab.partition import Partition
from harness.lab.step_recorder import StepRecorder
from harness.wire.requests.groups.find_coordinator import TRANSACTION
from harness.wire.requests.transactions.write_txn_markers import WriteTxnMarkers


@dataclass(frozen=True, slots=True)
class Admin:
    """Changes that a stimulus may make; see :class:`harness.kafka.administration.Administration` for each."""

    recorder: StepRecorder
    brokers: Sequence[int]

    @property
    def _kafka(self) -> Administration:
        return Administration(self.recorder.client, self.brokers)

    def create_topic(
        self, name: str, assignment: Mapping[int, tuple[int, ...]], configs: Mapping[str, str] | None = None
    ) -> UUID | None:
        """A topic whose partition ``i`` has the replicas ``assignment[i]``, leader first; returns when it serves."""
        return self._kafka.create_topic(name, assignment, configs)

    def delete_topics(self, names: Sequence[str]) -> None:
        """Delete them; returns when the controller has accepted it."""
        self._kafka.delete_topics(names)

    def coordinator(self, key: str, key_type: int = TRANSACTION) -> int:
        """The broker that coordinates the transactional id, or the group with key type ``GROUP``."""
        return self._kafka.coordinator(key, key_type)

    def home(self, topic: str, key: str) -> tuple[int, int]:
        """Index and leader epoch of the partition of an internal topic that keeps a transactional id or group."""
        return self._kafka.key_partition(topic, key)

    def config(self, broker: int, key: str) -> str | None:
        """A broker's setting as it is now, or None where this release has no such setting."""
        return self._kafka.config(broker, key)

    def unverified(self) -> AbstractContextManager[None]:
        """Verification of old clients' partitions switched off for the length of the block."""
        return self._kafka.unverified()

    def setting(self, key: str, value: str) -> AbstractContextManager[None]:
        """A dynamic setting on every broker for the length of the block."""
        return self._kafka.setting(key, value)

    def feature(self, name: str, level: int) -> AbstractContextManager[None]:
        """A feature at this level for the length of the block."""
        return self._kafka.feature(name, level)

    def write_marker(
        self,
        partition: Partition,
        *,
        producer_id: int,
        epoch: int,
        commit: bool,
        coordinator_epoch: int = 0,
        version: int | None = None,
        as_: str | None = None,
    ) -> Step:
        """WriteTxnMarkers to the partition's leader, as an operator ends a hanging transaction (KIP-664)."""
        request = WriteTxnMarkers(
            producer_id=producer_id,
            producer_epoch=epoch,
            committed=commit,
            partitions=(partition.place,),
            coordinator_epoch=coordinator_epoch,
        )
        noted: dict[str, Json] = {
            "partition": str(partition),
            "producer_id": producer_id,
            "producer_epoch": epoch,
            "committed": commit,
            "coordinator_epoch": coordinator_epoch,
        }
        used = self.recorder.client.highest(partition.leader, request.api) if version is None else version
        return self.recorder.ask(partition.leader, request, used, as_=as_, request=noted)
