"""Looks at any broker and markers by hand, without a broker: what is noted of them, and what is built."""

from dataclasses import dataclass

from harness.base.clock import RunClock
from harness.contract import expect
from harness.contract.expect import NotLooked
from harness.lab.evidence_builder import EvidenceBuilder
from harness.lab.partition import Partition
from harness.lab.powers.looks import Looks
from harness.lab.powers.markers import NewMarker
from harness.lab.step_recorder import StepRecorder
from harness.wire.offered import Offered

PARTITION = Partition(alias="P1", topic="t", index=2, leader=1)


@dataclass(frozen=True, slots=True)
class OffersNothing:
    """A client of a server without KIP-664."""

    def offered(self, _node: int) -> Offered:
        return Offered(apis={})


def test_what_is_not_offered_is_noted_as_not_looked_at() -> None:
    notes = EvidenceBuilder(aliases={str(PARTITION): "P1"})
    looks = Looks(StepRecorder("observer", OffersNothing(), notes, RunClock(), {}))  # type: ignore[arg-type]
    looks.producers(3, PARTITION, ("elsewhere", 0), as_="producers")
    looks.transactions(3, "id", as_="transactions")
    producers, transactions = notes.evidence({}).steps
    assert (producers.node, producers.looked, producers.request) == (3, False, {"partitions": ["P1", "elsewhere-0"]})
    assert isinstance(expect.open_since(producers.at("P1"), 7, 0), NotLooked)
    assert isinstance(expect.shows(transactions.of("id"), state="Empty", otherwise="wrong"), NotLooked)


def test_a_marker_is_built_and_noted_with_all_its_partitions() -> None:
    marker = NewMarker(
        partitions=(PARTITION, ("elsewhere", 0)), producer_id=7, epoch=3, commit=True, transaction_version=2
    )
    built, noted = marker.built(), marker.noted()
    assert built.partitions == (("t", 2), ("elsewhere", 0))
    assert (built.producer_epoch, built.committed, built.transaction_version) == (3, True, 2)
    assert (noted["partition"], noted["partitions"]) == ("t-2", ["t-2", "elsewhere-0"])
