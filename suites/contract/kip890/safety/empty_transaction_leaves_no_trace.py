"""KIP890-SAFE-06: the end of a transaction in which nothing was written leaves no trace and disturbs nothing.

A client sends no EndTxn for a commit without records. One that is sent all the same, before the first transaction and
after one of each kind, is refused, and nothing is written down about the id; after a commit only version 5 can be told
from a repetition. A transaction whose one write fails, because its record is too large, is aborted; the next one begins
anew with sequence 0.

This is the part that can be asked of a broker; that clients send no EndTxn is theirs. That nothing is shown, stuck or
lost is promised; that an empty commit is refused, and with which code, is as Kafka does it.
"""

from harness.base.json_value import Json
from harness.contract import Evidence, KafkaError, NotSeen, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import (
    CURRENT_EPOCH_TAKEN_FOR_REPETITION,
    EMPTY_COMMIT_TAKEN_FOR_ABORT,
)
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab, Producer

WRONG_STATE, TOO_LARGE = KafkaError.INVALID_TXN_STATE, KafkaError.MESSAGE_TOO_LARGE
SMALL = {"max.message.bytes": "1000"}
LARGE = "x" * 2_000
STATES = ("Empty", "CompleteCommit", "CompleteAbort")
MARKERS = (("COMMIT",), ("ABORT",))


def stimulus(lab: Lab) -> None:
    """Empty commits in three states of the id; then a transaction whose only write fails, and one that is whole."""
    partition, small = lab.partition("P1"), lab.partition("P2", configs=SMALL)
    txn = lab.producer(protocol=2)
    _commit_nothing(lab, txn, "Empty")
    for result in Result:
        txn.produce(partition, as_=f"write before {result.noun}")
        txn.end(commit=result.commits, as_="end")
        lab.reached(txn, result.completed, as_="ended")
        _commit_nothing(lab, txn, result.completed)
    txn.produce(small, values=[LARGE], as_="large write")
    txn.end(commit=False, as_="abort of nothing")
    lab.reached(txn, Result.ABORT.completed, as_="ended")
    txn.produce(small, sequence=0, as_="last write")
    txn.end(commit=True, as_="end")


def _commit_nothing(lab: Lab, txn: Producer, state: str) -> None:
    before = _records(lab, txn)
    for version in lab.offered("EndTxn", (5,) if state == Result.COMMIT.completed else range(6)):
        txn.end(commit=True, version=version, as_="commit of nothing", retry=())
    lab.note(f"records since {state}", _records(lab, txn)[len(before) :])


def _records(lab: Lab, txn: Producer) -> list[Json]:
    return lab.observer.transaction_records(txn.transactional_id, txn.coordinator)


def check(seen: Evidence) -> Observations:
    """Refused without a record; the transactions before and after are whole."""
    for commit in seen.all("commit of nothing"):
        yield expect.habit(expect.refused(commit, WRONG_STATE, otherwise="empty-commit-accepted"))
    for state in STATES:
        yield expect.agree(f"records since {state}", seen.fact(f"records since {state}"), [], otherwise="trace-left")
    if seen["large write"].error != TOO_LARGE:
        raise NotSeen("the large record was not refused")
    for mine in (*seen.all("end"), seen["abort of nothing"], seen["write before commit"], seen["last write"]):
        yield expect.accepted(mine, otherwise="own-transaction-disturbed")
    for ended in seen.all("ended"):
        yield expect.over(ended)
    yield from expect.sound(seen, "P1", committed=expect.values(seen, "write before commit"), markers=MARKERS)
    yield from expect.sound(seen, "P2", expect.values(seen, "last write"))


GOOD = adopted(__file__, "KIP890-SAFE-06")

REQUIREMENT = Requirement(
    id="KIP890-SAFE-06",
    source=Source(890, "Motivation"),
    statement="A transaction without records that is ended leaves no trace and disturbs nothing.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("empty-commit-accepted", GOOD.with_step("commit of nothing", error=0)),
        Refusal("wrong-error", GOOD.with_step("commit of nothing", error=KafkaError.PRODUCER_FENCED)),
        Refusal("unanswered", GOOD.with_step("commit of nothing", error=None)),
        *(Refusal("trace-left", GOOD.with_fact(f"records since {state}", [{"version": 1}])) for state in STATES),
        Refusal("own-transaction-disturbed", GOOD.with_step("abort of nothing", error=WRONG_STATE)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="PrepareAbort")),
        Refusal("wrong-markers", GOOD.with_log("P1", batches=GOOD.log("P1").batches[:-1])),
        *unsound(GOOD, "P1", appended=None),
        *unsound(GOOD, "P2"),
    ),
    refuted_by=(
        Failpoint(rules=EMPTY_COMMIT_TAKEN_FOR_ABORT, anomaly="trace-left"),
        Failpoint(rules=CURRENT_EPOCH_TAKEN_FOR_REPETITION, anomaly="empty-commit-accepted"),
    ),
)
