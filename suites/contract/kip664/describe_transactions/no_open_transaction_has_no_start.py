"""KIP664-DT-03: without a transaction in progress the partition set is empty and the start time is -1.

"When there is no transaction in progress, the TransactionStartTimeMs field will be set to -1 and the set of topic
partitions will be empty" (KIP-664). A tool that works out how long a transaction has been open would otherwise show an
idle id as the oldest one. Kafka keeps the promise for an id that never had a transaction; after an end it goes on
telling the start of the last one (``TransactionCoordinator.handleDescribeTransactions``).
"""

from dataclasses import replace

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.looks_rules import NO_PARTITIONS_TOLD, told_without
from harness.contract.byteman.transaction_metadata_rules import MARKED_PARTITIONS_KEPT
from harness.contract.doctored import abort, commit, data, described, ended, evidence, log, unsound, written
from harness.contract.refuters import BASELINE, Failpoint, Release
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

IDLE = ("never begun", "after commit", "after abort")


def stimulus(lab: Lab) -> None:
    """One id is looked at after its initialisation, in a transaction, and after a commit and an abort."""
    partition, txn = lab.partition("P1"), lab.producer()
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="never begun")
    for result in Result:
        txn.add(partition)
        txn.produce(partition, as_="write")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="open")
        txn.end(commit=result.commits, as_="end")
        lab.reached(txn, result.completed, "Empty", as_=f"after {result.noun}")


def check(seen: Evidence) -> Observations:
    """A start and the partition while it is open; neither at any other time."""
    for end in seen.all("end"):
        yield expect.accepted(end, otherwise="end-refused")
    for look in seen.all("open"):
        yield expect.keeps(look, partitions=("P1",), otherwise="wrong-partitions")
        yield expect.unless(look.answer_int("start_time_ms") > 0, "it has a start", look, otherwise="wrong-start-time")
    for name in IDLE:
        look = seen[name]
        yield expect.accepted(look, otherwise="look-refused")
        yield expect.over(look)
        yield expect.keeps(look, partitions=(), otherwise="partitions-of-none-open")
        yield expect.shows(look, start_time_ms=-1, otherwise="start-of-none-open")
    values = [value for write in seen.all("write") for value in write.written()]
    yield from expect.sound(seen, values=values, committed=values[:1])


def _look(name: str, state: str, start: int = -1, *partitions: str) -> Step:
    look = described(name, state, partitions=partitions)
    return replace(look, fields={**look.fields, "start_time_ms": start})


GOOD = evidence(
    _look("never begun", "Empty"),
    written("write", 9, "a"),
    _look("open", "Ongoing", 1_700_000_000_000, "P1"),
    ended(version=4),
    _look("after commit", "CompleteCommit"),
    written("write", 9, "b"),
    _look("open", "Ongoing", 1_700_000_000_500, "P1"),
    ended(version=4, committed=False),
    _look("after abort", "CompleteAbort"),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b", sequence=1), abort(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP664-DT-03",
    source=Source(664, "DescribeTransactions: when there is no transaction in progress"),
    statement="Without a transaction in progress the start time is -1 and there are no partitions.",
    needs=(Offers("DescribeTransactions", 0),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-partitions", GOOD.with_step("open", partitions=[])),
        Refusal("wrong-start-time", GOOD.with_step("open", start_time_ms=-1)),
        Refusal("look-refused", GOOD.with_step("never begun", error=KafkaError.TRANSACTIONAL_ID_NOT_FOUND)),
        Refusal("transaction-not-over", GOOD.with_step("after abort", state="PrepareAbort")),
        Refusal("partitions-of-none-open", GOOD.with_step("after commit", partitions=["P1"])),
        *(Refusal("start-of-none-open", GOOD.with_step(name, start_time_ms=1_700_000_000_000)) for name in IDLE),
        *unsound(GOOD),
    ),
    refuted_by=(
        Release(version=BASELINE, anomaly="start-of-none-open"),
        Failpoint(rules=told_without("TransactionStartTimeMs", "-1"), anomaly="wrong-start-time"),
        Failpoint(rules=NO_PARTITIONS_TOLD, anomaly="wrong-partitions"),
        Failpoint(rules=told_without("TransactionState", '"Ongoing"'), anomaly="transaction-not-over"),
        Failpoint(rules=MARKED_PARTITIONS_KEPT, anomaly="partitions-of-none-open"),
    ),
)
