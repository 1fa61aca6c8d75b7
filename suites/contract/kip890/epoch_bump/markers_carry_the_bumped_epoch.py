"""KIP890-BUMP-03: the markers of a transaction carry the next epoch, which fences its late records at every leader.

Two data partitions and the offsets partition of a group; one transaction commits, another aborts.
"""

from collections.abc import Iterator
from dataclasses import replace

from harness.base.json_value import Json
from harness.contract import Failpoint, Level, Observation, Offers, Refusal, Requirement, Source, accepted, agree, row
from harness.contract.byteman.coordinator_rules import MARKERS_IN_THE_LAST_EPOCH
from harness.contract.byteman.leader_rules import NO_EPOCH_CHECK, SEQUENCES_KEPT_ACROSS_EPOCHS
from harness.contract.doctored import abort, commit, data, evidence, log, producer_row, step
from harness.evidence.requirement_evidence import Evidence, LogTruth, Step
from harness.lab import Lab

EVERYWHERE = ("P1", "P2", "offsets")


def stimulus(lab: Lab) -> None:
    """Each transaction writes to both partitions and commits an offset, then ends."""
    first, second, group = lab.partition("P1"), lab.partition("P2"), lab.group()
    for commits in (True, False):
        txn = lab.producer("victim", protocol=2)
        txn.write(first)
        txn.write(second)
        txn.commit_offset(group, first, 1)
        txn.end(commit=commits, as_="end")
        lab.reached(txn, "CompleteCommit" if commits else "CompleteAbort", as_="kept")
        lab.note(f"coordinator epoch of {txn.producer_id}", lab.coordinator_epoch(txn))
        for partition in (first, second, group.offsets):
            lab.observer.producers(partition, as_=f"producers of {partition.alias} after {txn.producer_id}")


def check(seen: Evidence) -> Iterator[Observation]:
    """One marker a partition, of the right type and coordinator, in the next epoch; leaders' state starts anew."""
    for end in seen.all("end"):
        yield accepted(end, otherwise="end-refused")
        for alias in EVERYWHERE:
            yield from _marked(seen, end, alias)
            yield from _fenced(seen, end, alias)


def _marked(seen: Evidence, end: Step, alias: str) -> Iterator[Observation]:
    epoch, kind = end.asked("producer_epoch"), "COMMIT" if end.request["committed"] else "ABORT"
    own = [batch for batch in seen.log(alias).batches if batch.producer_id == end.asked("producer_id")]
    markers = [batch for batch in own if batch.control]
    yield agree(f"markers in {alias}", len(markers), 1, end, otherwise="not-one-marker")
    for marker in markers:
        yield agree(f"marker's type in {alias}", marker.control, kind, end, otherwise="wrong-marker-type")
        yield agree(f"marker's epoch in {alias}", marker.producer_epoch, epoch + 1, end, otherwise="wrong-marker-epoch")
        yield agree(
            f"marker's coordinator epoch in {alias}",
            marker.coordinator_epoch,
            seen.fact(f"coordinator epoch of {marker.producer_id}"),
            end,
            otherwise="wrong-coordinator-epoch",
        )
    epochs = {batch.producer_epoch for batch in own if not batch.control}
    yield agree(f"data's epochs in {alias}", epochs, {epoch}, end, otherwise="data-in-another-epoch")


def _fenced(seen: Evidence, end: Step, alias: str) -> Iterator[Observation]:
    own = end.asked("producer_id")
    described = seen[f"producers of {alias} after {own}"]
    shown = row(described, "producers", producer_id=own)
    fresh = {"producer_epoch": end.asked("producer_epoch") + 1, "last_sequence": -1, "current_txn_start_offset": -1}
    yield agree(
        f"producer's state in {alias}",
        {name: shown.get(name) for name in fresh},
        fresh,
        end,
        described,
        otherwise="leader-state-not-renewed",
    )
    if shown:
        yield agree(
            f"coordinator epoch kept by the leader of {alias}",
            shown["coordinator_epoch"],
            seen.fact(f"coordinator epoch of {own}"),
            described,
            otherwise="wrong-coordinator-epoch",
        )


def _ended(own: int, epoch: int, committed: bool) -> tuple[Step, ...]:
    said = {"producer_id": own, "producer_epoch": epoch, "committed": committed}
    state: Json = {
        "producer_id": own,
        "producer_epoch": epoch + 1,
        "last_sequence": -1,
        "coordinator_epoch": 3,
        "current_txn_start_offset": -1,
    }
    return (
        step("end", "EndTxn", 5, request=said, producer_id=own, producer_epoch=epoch + 1),
        *(step(f"producers of {alias} after {own}", "DescribeProducers", 0, producers=[state]) for alias in EVERYWHERE),
    )


def _log(marker_epoch: int = 1, coordinator_epoch: int = 3, data_epoch: int = 0) -> LogTruth:
    return log(
        data(7, data_epoch, "a"),
        commit(7, marker_epoch, coordinator_epoch=coordinator_epoch),
        data(8, 5, "b"),
        abort(8, 6, coordinator_epoch=3),
    )


GOOD = replace(
    evidence(*_ended(7, 0, True), *_ended(8, 5, False), logs=dict.fromkeys(EVERYWHERE, _log())),
    facts={"coordinator epoch of 7": 3, "coordinator epoch of 8": 3},
)
_STALE: Json = {
    "producer_id": 8,
    "producer_epoch": 5,
    "last_sequence": 0,
    "coordinator_epoch": 3,
    "current_txn_start_offset": -1,
}

REQUIREMENT = Requirement(
    id="KIP890-BUMP-03",
    level=Level.MUST,
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="Markers of a transaction ended with EndTxn v5 carry the next epoch, in data and offsets partitions.",
    needs=(Offers("EndTxn", 5), Offers("TxnOffsetCommit", 5)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=90)),
        Refusal(
            "not-one-marker",
            GOOD.with_log("offsets", log(data(7, 0, "a"), data(8, 5, "b"), abort(8, 6, coordinator_epoch=3))),
        ),
        Refusal(
            "wrong-marker-type",
            GOOD.with_log(
                "P2",
                log(
                    data(7, 0, "a"), abort(7, 1, coordinator_epoch=3), data(8, 5, "b"), abort(8, 6, coordinator_epoch=3)
                ),
            ),
        ),
        Refusal("wrong-marker-epoch", GOOD.with_log("offsets", _log(marker_epoch=0))),
        Refusal("wrong-coordinator-epoch", GOOD.with_log("P1", _log(coordinator_epoch=2))),
        Refusal("data-in-another-epoch", GOOD.with_log("P1", _log(data_epoch=1))),
        Refusal("leader-state-not-renewed", GOOD.with_step("producers of P1 after 8", producers=[_STALE])),
        Refusal("leader-state-not-renewed", GOOD.with_step("producers of offsets after 8", producers=[])),
        Refusal(
            "wrong-coordinator-epoch",
            GOOD.with_step("producers of P1 after 8", producers=[producer_row(8, epoch=6, coordinator_epoch=2)]),
        ),
    ),
    refuted_by=(
        Failpoint(rules=MARKERS_IN_THE_LAST_EPOCH + NO_EPOCH_CHECK, anomaly="wrong-marker-epoch"),
        Failpoint(rules=SEQUENCES_KEPT_ACROSS_EPOCHS, anomaly="leader-state-not-renewed"),
    ),
)
