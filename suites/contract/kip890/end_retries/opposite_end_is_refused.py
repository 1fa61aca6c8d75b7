"""KIP890-RETRY-04: who asks for the opposite of what was decided is refused, and the decision stands.

The last part is about a commit that comes after the coordinator itself aborted the transaction for a rival: releases
up to 4.4 refuse it as a wrong state (48), later ones as fenced (90, KAFKA-20785); both tell the client the truth.
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
from harness.contract.byteman.coordinator_rules import LATE_ABORT_TAKEN_FOR_THE_NEXT, OPPOSITE_END_TAKEN_FOR_REPETITION
from harness.contract.doctored import abort, commit, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence, Step
from harness.lab import Lab, Partition, Producer

CASES = ("abort after commit", "commit after abort", "commit after fencing")
FENCED = CASES[2]


def stimulus(lab: Lab) -> None:
    """Abort after a commit, commit after an abort, commit after a rival's InitProducerId had it aborted."""
    partition = lab.partition("P1")
    for commits, name in ((True, CASES[0]), (False, CASES[1])):
        txn, epoch = _begun(lab, partition)
        txn.end(commit=commits, as_="end")
        _opposite(lab, txn, epoch, "CompleteCommit" if commits else "CompleteAbort", commit=not commits, name=name)
    txn, epoch = _begun(lab, partition)
    rival = lab.same_id(txn.transactional_id, txn.coordinator, "rival", protocol=2, init=False)
    rival.init(as_="fencing", retry=(), adopt=False)
    _opposite(lab, txn, epoch, "CompleteAbort", commit=True, name=FENCED)


def _begun(lab: Lab, partition: Partition) -> tuple[Producer, int]:
    txn = lab.producer("victim", protocol=2)
    txn.write(partition)
    return txn, txn.epoch


def _opposite(lab: Lab, txn: Producer, epoch: int, state: str, *, commit: bool, name: str) -> None:
    lab.reached(txn, state, as_=f"before {name}")
    txn.end(commit=commit, epoch=epoch, as_=name, retry=())
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"kept after {name}")


def check(seen: Evidence) -> Iterator[Observation]:
    """Each opposite end is refused without an identity; state, epoch and markers stay those of the first decision."""
    for end in seen.all("end"):
        yield accepted(end, otherwise="end-refused")
    for name, state in zip(CASES, ("CompleteCommit", "CompleteAbort", "CompleteAbort"), strict=True):
        before, opposite, after = seen[f"before {name}"], seen[name], seen[f"kept after {name}"]
        yield shows(before, state=state, otherwise="wrong-state-before")
        yield refused(opposite, *((48, 90) if name == FENCED else (48,)), otherwise="opposite-end-accepted")
        yield shows(opposite, producer_id=-1, producer_epoch=-1, otherwise="identity-returned")
        yield shows(after, state=state, otherwise="decision-changed")
        yield shows(after, producer_epoch=before.number("producer_epoch"), otherwise="epoch-changed")
    kinds = tuple(kind for kind, _ in seen.log().marks())
    yield agree("markers", kinds, ("COMMIT", "ABORT", "ABORT"), otherwise="wrong-markers")
    truth = seen.log()
    yield agree("committed values", truth.committed, truth.values()[:1], otherwise="wrong-records-shown")


def _case(name: str, state: str, epoch: int = 1, error: int = 48) -> tuple[Step, ...]:
    said: dict[str, Json] = {"producer_id": 7, "producer_epoch": 0}
    return (
        step(f"before {name}", "DescribeTransactions", 0, state=state, producer_epoch=epoch),
        step(name, "EndTxn", 5, error=error, request=said, producer_id=-1, producer_epoch=-1),
        step(f"kept after {name}", "DescribeTransactions", 0, state=state, producer_epoch=epoch),
    )


GOOD = evidence(
    step("end", "EndTxn", 5),
    *_case(CASES[0], "CompleteCommit"),
    step("end", "EndTxn", 5),
    *_case(CASES[1], "CompleteAbort"),
    step("fencing", "InitProducerId", 4, error=51),
    *_case(FENCED, "CompleteAbort"),
    logs={"P1": log(data(7, 0, "a"), commit(7, 1), data(8, 0, "b"), abort(8, 1), data(9, 0, "c"), abort(9, 1))},
)
_STRAY = log(data(7, 0, "a"), commit(7, 1), abort(7, 2), data(8, 0, "b"), abort(8, 1), data(9, 0, "c"), abort(9, 1))

REQUIREMENT = Requirement(
    id="KIP890-RETRY-04",
    level=Level.MUST,
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A retry of EndTxn v5 with the opposite command is refused, and nothing changes.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.with_step(FENCED, error=90)),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=90)),
        Refusal("wrong-state-before", GOOD.with_step(f"before {CASES[0]}", state="PrepareCommit")),
        *(Refusal("opposite-end-accepted", GOOD.with_step(name, error=0)) for name in CASES),
        Refusal("wrong-error", GOOD.with_step(CASES[0], error=90)),
        Refusal("wrong-error", GOOD.with_step(CASES[1], error=51)),
        Refusal("unanswered", GOOD.with_step(FENCED, error=None)),
        Refusal("identity-returned", GOOD.with_step(CASES[1], producer_id=7, producer_epoch=1)),
        Refusal("decision-changed", GOOD.with_step(f"kept after {CASES[0]}", state="CompleteAbort")),
        Refusal("epoch-changed", GOOD.with_step(f"kept after {CASES[1]}", producer_epoch=2)),
        Refusal("wrong-markers", GOOD.with_log("P1", _STRAY)),
        Refusal("wrong-records-shown", GOOD.with_log(committed=())),
    ),
    refuted_by=(
        Failpoint(rules=OPPOSITE_END_TAKEN_FOR_REPETITION, anomaly="opposite-end-accepted"),
        Failpoint(rules=LATE_ABORT_TAKEN_FOR_THE_NEXT, anomaly="decision-changed"),
    ),
)
