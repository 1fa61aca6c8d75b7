"""Transaction markers by hand: WriteTxnMarkers as an operator sends it, or as another coordinator would."""

from collections.abc import Callable
from dataclasses import asdict, dataclass

from harness.base.json_value import Json
from harness.evidence.requirement_evidence import Step
from harness.lab.partition import Partition
from harness.lab.step_recorder import RETRIABLE, StepRecorder
from harness.wire.requests.transactions.write_txn_markers import TxnMarker, WriteSeveralTxnMarkers, WriteTxnMarkers
from harness.wire.topic_partitions import TopicPartition, partition_name


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMarker:
    """One of several markers of a request; fields as :meth:`MarkerWriter.__call__` has them."""

    partitions: tuple[Partition | TopicPartition, ...]
    producer_id: int
    epoch: int
    commit: bool
    coordinator_epoch: int = 0
    transaction_version: int = 0

    @property
    def places(self) -> tuple[TopicPartition, ...]:
        """As requests name them."""
        return tuple(each.topic_partition if isinstance(each, Partition) else each for each in self.partitions)

    def noted(self) -> dict[str, Json]:
        """The fields that evidence keeps of the request."""
        return {
            "partition": partition_name(*self.places[0]),
            "partitions": [partition_name(*each) for each in self.places],
            "producer_id": self.producer_id,
            "producer_epoch": self.epoch,
            "committed": self.commit,
            "coordinator_epoch": self.coordinator_epoch,
            "transaction_version": self.transaction_version,
        }

    def built(self) -> TxnMarker:
        return TxnMarker(
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=self.commit,
            partitions=self.places,
            coordinator_epoch=self.coordinator_epoch,
            transaction_version=self.transaction_version,
        )


@dataclass(frozen=True, slots=True)
class MarkerWriter:
    """Sends markers over the observer's lane.

    :param before_change: Called with a phrase before; raises where markers may not be written.
    """

    recorder: StepRecorder
    before_change: Callable[[str], None]

    def __call__(
        self,
        *partitions: Partition,
        producer_id: int,
        epoch: int,
        commit: bool,
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
        node: int | None = None,
        version: int | None = None,
        as_: str | None = None,
    ) -> Step:
        """One marker for these partitions of one leader, to that leader or to ``node``, which is asked once.

        :param transaction_version: From request version 2 on: by which rules the leader checks the epoch (KIP-1228).
        """
        marker = NewMarker(
            partitions=partitions,
            producer_id=producer_id,
            epoch=epoch,
            commit=commit,
            coordinator_epoch=coordinator_epoch,
            transaction_version=transaction_version,
        )
        self.before_change("writing a marker")
        asked, one = partitions[0].leader if node is None else node, marker.built()
        request = WriteTxnMarkers(**asdict(one))
        used, retry = self._version(asked, version), RETRIABLE if node is None else ()
        return self.recorder.ask(asked, request, used, as_=as_, request=marker.noted(), retry=retry)

    def several(self, *markers: NewMarker, node: int, version: int | None = None, as_: str | None = None) -> Step:
        """Several markers in one request, sent once; ``markers`` of the answer has a row for each and partition."""
        self.before_change("writing markers")
        request = WriteSeveralTxnMarkers(markers=tuple(marker.built() for marker in markers))
        noted: dict[str, Json] = {"markers": [marker.noted() for marker in markers]}
        return self.recorder.ask(node, request, self._version(node, version), as_=as_, request=noted, retry=())

    def _version(self, node: int, version: int | None) -> int:
        return self.recorder.client.highest(node, WriteTxnMarkers.api) if version is None else version
