"""KIP890-RETRY-04: who asks for the opposite of what was decided is refused, and the decision stands.

The last part is about a commit that comes after the coordinator itself aborted the transaction for a rival: releases up
to 4.4 refuse it as a wrong state, later ones as fenced (KAFKA-20785); both tell the client the truth. The KIP answers a
repetition of the same command alone, so that the opposite is refused and the decision stands is its promise; the codes
are Kafka's.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import LATE_ABORT_TAKEN_FOR_THE_NEXT, OPPOSITE_END_TAKEN_FOR_REPETITION
from harness.contract.doctored import abort, adopted, commit, data, log, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab, Producer

FENCED = "commit after fencing"
CASES = {"abort after commit": Result.COMMIT, "commit after abort": Result.ABORT, FENCED: Result.ABORT}
"""What is asked, and what was decided before."""


def stimulus(lab: Lab) -> None:
    """Abort after a commit, commit after an abort, commit after a rival's InitProducerId had it aborted."""
    partition, fenced = lab.partition("P1"), lab.partition("P2")
    for name, decided in CASES.items():
        txn = lab.producer("victim", protocol=2)
        txn.write(fenced if name == FENCED else partition)
        epoch = txn.epoch
        _decide(lab, txn, name, decided)
        lab.reached(txn, decided.completed, as_=f"before {name}")
        txn.end(commit=decided.opposite.commits, epoch=epoch, as_=name, retry=())
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"kept after {name}")


def _decide(lab: Lab, txn: Producer, name: str, decided: Result) -> None:
    if name != FENCED:
        txn.end(commit=decided.commits, as_="end")
        return
    rival = lab.same_id(txn.transactional_id, txn.coordinator, "rival", protocol=2, init=False)
    rival.init(as_="fencing", retry=(), adopt=False)


def check(seen: Evidence) -> Observations:
    """Each opposite end is refused without an identity; state, epoch and markers stay those of the first decision."""
    for end in seen.all("end"):
        yield expect.accepted(end, otherwise="end-refused")
    for name in CASES:
        before, opposite, after = seen[f"before {name}"], seen[name], seen[f"kept after {name}"]
        codes = {KafkaError.INVALID_TXN_STATE, *([KafkaError.PRODUCER_FENCED] if name == FENCED else [])}
        if name != FENCED:  # whether the coordinator aborted it is KIP360-INIT-04
            yield expect.over(before, otherwise="wrong-state-before")
        yield expect.refused(opposite, *sorted(codes), code=Level.SHOULD, otherwise="opposite-end-accepted")
        yield expect.habit(expect.identity(opposite, -1, -1, otherwise="identity-returned"))
        yield expect.unchanged(before, after, "state", otherwise="decision-changed")
        yield expect.unchanged(before, after, "producer_id", "producer_epoch", otherwise="epoch-changed")
    yield from expect.sound(seen, committed=seen.log().values()[:1], markers=(("COMMIT",), ("ABORT",)))
    yield expect.agree("committed values of P2", seen.log("P2").committed, (), otherwise="aborted-record-shown")


GOOD = adopted(__file__, "KIP890-RETRY-04")
_LOOKS = ("before abort after commit", "kept after abort after commit")
_ENDING = GOOD.with_step(_LOOKS[0], state="PrepareCommit").with_step(_LOOKS[1], state="PrepareCommit")
_STRAY = log(data(7, 0, "a"), commit(7, 1), abort(7, 2), data(8, 0, "b"), abort(8, 1))

REQUIREMENT = Requirement(
    id="KIP890-RETRY-04",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A retry of EndTxn v5 with the opposite command is refused, and nothing changes.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.with_step(FENCED, error=KafkaError.PRODUCER_FENCED)),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-state-before", _ENDING),
        *(Refusal("opposite-end-accepted", GOOD.with_step(name, error=0)) for name in CASES),
        Refusal("wrong-error", GOOD.with_step("abort after commit", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-error", GOOD.with_step("commit after abort", error=KafkaError.CONCURRENT_TRANSACTIONS)),
        Refusal("unanswered", GOOD.with_step(FENCED, error=None)),
        Refusal("identity-returned", GOOD.with_step("commit after abort", producer_id=7, producer_epoch=1)),
        Refusal("decision-changed", GOOD.with_step("kept after abort after commit", state="CompleteAbort")),
        Refusal("epoch-changed", GOOD.with_step("kept after commit after abort", producer_epoch=2)),
        Refusal("wrong-markers", GOOD.with_log("P1", _STRAY)),
        Refusal("aborted-record-shown", GOOD.with_log("P2", log(data(9, 0, "c"), commit(9, 1)))),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=OPPOSITE_END_TAKEN_FOR_REPETITION, anomaly="opposite-end-accepted"),
        Failpoint(rules=LATE_ABORT_TAKEN_FOR_THE_NEXT, anomaly="decision-changed"),
        Liar(
            api="EndTxn",
            instead_of=KafkaError.INVALID_TXN_STATE,
            fields={"producer_id": 7, "producer_epoch": 7},
            anomaly="identity-returned",
        ),
    ),
)
