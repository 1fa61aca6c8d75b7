"""KIP890-RETRY-02: an abort repeated after completion is answered with the same identity and bumps no more.

The client that lost the answer learns its next epoch from the repeated one. An older epoch than that is fenced.
"""

from collections.abc import Iterator

from harness.base.json_value import Json
from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Requirement,
    Source,
    accepted,
    agree,
    refused,
    shows,
)
from harness.contract.byteman.coordinator_rules import END_KNOWS_NO_REPETITION, REPETITION_GETS_THE_OLD_EPOCH
from harness.contract.doctored import abort, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """Two transactions; the end of the second is asked for again three times, then that of the first."""
    txn = lab.producer("victim", protocol=2)
    partition = lab.partition("P1")
    for name in ("first end", "end"):
        epoch = txn.epoch
        txn.produce(partition, as_="write")
        txn.end(commit=False, as_=name)
        lab.reached(txn, "CompleteAbort", as_=f"kept after {name}")
    for _ in range(3):
        txn.end(commit=False, epoch=epoch, as_="end again")
    txn.end(commit=False, epoch=epoch - 1, as_="older end again")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")


def check(seen: Evidence) -> Iterator[Observation]:
    """Every repetition gets the producer id and the bumped epoch that the end itself got; nothing more happens."""
    end = seen["end"]
    own, epoch = end.asked("producer_id"), end.asked("producer_epoch")
    for once in (seen["first end"], end):
        yield accepted(once, otherwise="end-refused")
    for again in seen.all("end again"):
        yield agree(
            "epoch of the repetition", again.asked("producer_epoch"), epoch, again, otherwise="not-a-repetition"
        )
        yield accepted(again, otherwise="repetition-refused")
        yield shows(again, producer_id=own, otherwise="wrong-producer-id")
        yield shows(again, producer_epoch=epoch + 1, otherwise="wrong-epoch")
    yield refused(seen["older end again"], 90, otherwise="older-end-accepted")
    yield shows(
        seen["kept"], state="CompleteAbort", producer_id=own, producer_epoch=epoch + 1, otherwise="identity-changed"
    )
    marks = (("ABORT", epoch), ("ABORT", epoch + 1))
    yield agree("markers", seen.log().marks(), marks, otherwise="wrong-markers")


_FIRST: dict[str, Json] = {"producer_id": 7, "producer_epoch": 0}
_SECOND: dict[str, Json] = {"producer_id": 7, "producer_epoch": 1}
GOOD = evidence(
    step("first end", "EndTxn", 5, request=_FIRST, producer_id=7, producer_epoch=1),
    step("end", "EndTxn", 5, request=_SECOND, producer_id=7, producer_epoch=2),
    step("end again", "EndTxn", 5, request=_SECOND, producer_id=7, producer_epoch=2),
    step("end again", "EndTxn", 5, request=_SECOND, producer_id=7, producer_epoch=2),
    step("older end again", "EndTxn", 5, error=90, request=_FIRST, producer_id=-1, producer_epoch=-1),
    step("kept", "DescribeTransactions", 0, state="CompleteAbort", producer_id=7, producer_epoch=2),
    logs={"P1": log(data(7, 0, "a"), abort(7, 1), data(7, 1, "b"), abort(7, 2))},
)
_TWICE = log(data(7, 0, "a"), abort(7, 1), data(7, 1, "b"), abort(7, 2), abort(7, 3))

REQUIREMENT = Requirement(
    id="KIP890-RETRY-02",
    level=Level.MUST,
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A repeated abort after completion is answered with the current identity and does not bump again.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=90)),
        Refusal("not-a-repetition", GOOD.with_step("end again", request={"producer_epoch": 2})),
        Refusal("repetition-refused", GOOD.with_step("end again", error=90)),
        Refusal("repetition-refused", GOOD.with_step("end again", error=51)),
        Refusal("wrong-producer-id", GOOD.with_step("end again", producer_id=-1)),
        Refusal("wrong-epoch", GOOD.with_step("end again", producer_epoch=3)),
        Refusal("wrong-epoch", GOOD.with_step("end again", producer_epoch=1)),
        Refusal("older-end-accepted", GOOD.with_step("older end again", error=0)),
        Refusal("wrong-error", GOOD.with_step("older end again", error=48)),
        Refusal("unanswered", GOOD.with_step("older end again", error=None)),
        Refusal("identity-changed", GOOD.with_step("kept", producer_epoch=3)),
        Refusal("identity-changed", GOOD.with_step("kept", state="CompleteCommit")),
        Refusal("wrong-markers", GOOD.with_log("P1", _TWICE)),
    ),
    refuted_by=(
        Failpoint(rules=END_KNOWS_NO_REPETITION, anomaly="repetition-refused"),
        Failpoint(rules=REPETITION_GETS_THE_OLD_EPOCH, anomaly="wrong-epoch"),
    ),
)
