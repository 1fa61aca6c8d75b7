"""KIP890-BUMP-11: a commit where nothing was added is refused and changes nothing.

A client that believes it wrote something would otherwise be told that it is committed. The KIP does not speak of it, so
the refusal and its code are Kafka's habit; that an end answered without error carries the producer's identity, and that
the producer can go on after a refusal, is the KIP's promise. Each case has a producer of its own.
"""

from harness.contract import (
    Evidence,
    KafkaError,
    Observation,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.coordinator_rules import EMPTY_COMMIT_CHANGES_THE_EPOCH, EMPTY_COMMIT_TAKEN_FOR_ABORT
from harness.contract.doctored import abort, commit, data, described, ended, evidence, log, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

STATES = ("Empty", "CompleteCommit", "CompleteAbort")
INVALID = KafkaError.INVALID_TXN_STATE


def stimulus(lab: Lab) -> None:
    """Commit after InitProducerId, after a commit, after an abort; then, where refused, go on in the same epoch."""
    partition = lab.partition("P1")
    for state in STATES:
        txn = lab.producer(protocol=2)
        if state != "Empty":
            txn.produce(partition, as_=f"write before {state}")
            txn.end(commit=state == "CompleteCommit")
        lab.reached(txn, state, as_=f"before, {state}")
        refused = txn.end(commit=True, as_=f"commit in {state}")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"after, {state}")
        if refused.error:
            txn.produce(partition, as_="next write")
            txn.end(commit=False, as_="next end")


def check(seen: Evidence) -> Observations:
    """Each commit is refused without an identity; state and epoch are as before, and the next transaction goes on."""
    for state in STATES:
        before, end, after = seen[f"before, {state}"], seen[f"commit in {state}"], seen[f"after, {state}"]
        yield expect.over(before, otherwise="wrong-state-before")
        yield _refused(end)
        if end.error != 0:
            yield expect.habit(expect.identity(end, -1, -1, otherwise="identity-returned"))
            yield expect.unchanged(before, after, "producer_id", "producer_epoch", otherwise="epoch-changed")
            yield expect.unchanged(before, after, "state", otherwise="state-changed")
    for step in (*expect.taken(seen, "next write"), *expect.taken(seen, "next end")):
        yield expect.accepted(step, otherwise="next-transaction-refused")
    commits = [one for one in seen.log().markers() if one.control == "COMMIT"]
    yield expect.agree("number of commit markers", len(commits), 1, otherwise="wrong-markers")
    yield from expect.sound(seen, committed=expect.values(seen, "write before CompleteCommit"))


def _refused(end: Step) -> Observation:
    """Refused, as Kafka does; where accepted, the answer must be an identity with which the producer can go on."""
    own, epoch = end.request_int("producer_id"), end.request_int("producer_epoch")
    returned = end.fields.get("producer_id"), end.fields.get("producer_epoch")
    if end.error == 0 and returned not in ((own, epoch), (own, epoch + 1)):
        return expect.identity(end, own, epoch + 1, otherwise="wrong-identity-returned")
    return expect.habit(expect.refused(end, INVALID, otherwise="empty-commit-accepted"))


_OPEN = {"state": "Ongoing"}
_NEXT = {"error": 0, "producer_epoch": 1, "producer_id": 7}
GOOD = evidence(
    *(described(f"before, {state}", state) for state in STATES),
    *(ended(f"commit in {state}", error=INVALID) for state in STATES),
    *(described(f"after, {state}", state) for state in STATES),
    written("write before CompleteCommit", 12, "a"),
    written("next write", 12, "b"),
    ended("next end", committed=False),
    logs={"P1": log(data(7, 0, "a"), commit(7, 1), data(7, 1, "b"), abort(7, 2))},
)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-11",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="Committing with EndTxn v5 when nothing was added is refused and leaves the epoch as it was.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("wrong-state-before", GOOD.with_step("before, Empty", **_OPEN).with_step("after, Empty", **_OPEN)),
        *(Refusal("empty-commit-accepted", GOOD.with_step(f"commit in {state}", **_NEXT)) for state in STATES),
        Refusal("wrong-identity-returned", GOOD.with_step("commit in Empty", error=0)),
        Refusal("wrong-error", GOOD.with_step("commit in CompleteAbort", error=KafkaError.PRODUCER_FENCED)),
        Refusal("unanswered", GOOD.with_step("commit in Empty", error=None)),
        Refusal("identity-returned", GOOD.with_step("commit in Empty", producer_epoch=0)),
        Refusal("epoch-changed", GOOD.with_step("after, Empty", producer_epoch=1)),
        Refusal("state-changed", GOOD.with_step("after, CompleteAbort", state="CompleteCommit")),
        *(Refusal("next-transaction-refused", GOOD.with_step(f"next {n}", error=INVALID)) for n in ("write", "end")),
        Refusal("wrong-markers", GOOD.with_log("P1", log(*GOOD.log().batches, commit(7, 3)))),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=EMPTY_COMMIT_TAKEN_FOR_ABORT, anomaly="empty-commit-accepted"),
        Failpoint(rules=EMPTY_COMMIT_CHANGES_THE_EPOCH, anomaly="epoch-changed"),
        Liar(
            api="DescribeTransactions", fields={"transaction_state": "Dead"}, skip=1, at_most=1, anomaly="state-changed"
        ),
    ),
)
