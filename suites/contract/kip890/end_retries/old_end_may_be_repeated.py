"""KIP890-RETRY-07: in the old protocol an end of the same kind may be repeated in the same epoch, the opposite may not.

Every version up to 4, committing and aborting. Where the link from the coordinator to the leader can be held, the
repetition also meets a transaction that is still being ended; ten holds make this take about a second.

KIP-890 has the old protocol for its background and promises nothing of repetitions in it. What any KIP's reader relies
on is a MUST: nobody is told the opposite of what was decided, and the decision stands. That the same end is accepted
again, and all codes, are Kafka's habit.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import OLD_END_NOT_REPEATABLE, OPPOSITE_END_TAKEN_FOR_REPETITION
from harness.contract.doctored import adopted, commit, log, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import fenced
from harness.lab import Lab, Partition, Producer

ENDING = KafkaError.CONCURRENT_TRANSACTIONS
WRONG_STATE = KafkaError.INVALID_TXN_STATE


def stimulus(lab: Lab) -> None:
    """One producer ends a transaction of each kind at each version, and asks again while it ends and afterwards."""
    txn = lab.producer("victim", protocol=1)
    partition = lab.partition("P1")
    for version in lab.offered("EndTxn", range(5)):
        for result in Result:
            txn.add(partition)
            txn.produce(partition, as_="write")
            _end(lab, txn, partition, version, result)
            _ask_again(lab, txn, version, result)


def _end(lab: Lab, txn: Producer, partition: Partition, version: int, result: Result) -> None:
    same, other = result.commits, result.opposite.commits
    if (txn.coordinator, partition.leader) not in lab.cluster.topology.links:
        txn.end(commit=same, version=version, as_="end")
        return
    with lab.preparing(txn, partition, commit=same, name=_name(version, result), version=version):
        txn.end(commit=same, version=version, as_="again while ending", retry=())
        txn.end(commit=other, version=version, as_="opposite while ending", retry=())


def _ask_again(lab: Lab, txn: Producer, version: int, result: Result) -> None:
    same, other = result.commits, result.opposite.commits
    lab.reached(txn, result.completed, as_="ended")
    txn.end(commit=same, version=version, as_="again", retry=())
    txn.end(commit=other, version=version, as_="opposite", retry=())
    txn.end(commit=same, version=version, epoch=txn.epoch + 1, as_="ahead", retry=())
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")


def _name(version: int, result: Result) -> str:
    return f"{result.noun} v{version}"


def check(seen: Evidence) -> Observations:
    """Retriable while it ends; then the same is accepted, the opposite and another epoch are refused."""
    ends = seen.all("end")
    results, epoch = [Result.of(end.request["committed"]) for end in ends], ends[0].request_int("producer_epoch")
    early, opposed = (expect.taken(seen, f"{name} while ending") for name in ("again", "opposite"))
    for end, result in zip(ends, results, strict=True):
        yield expect.accepted(end, otherwise="end-refused")
        if early:
            expect.prepared(seen, _name(end.version, result), end=end)
    for again in early:
        yield expect.habit(expect.refused(again, ENDING, otherwise="answered-before-complete"))
    for opposite in opposed:
        yield expect.refused(opposite, ENDING, code=Level.SHOULD, otherwise="answered-before-complete")
    for again, opposite, ahead in zip(seen.all("again"), seen.all("opposite"), seen.all("ahead"), strict=True):
        fenced_there = fenced("EndTxn", ahead.version)
        yield expect.habit(expect.accepted(again, otherwise="repetition-refused"))
        yield expect.refused(opposite, WRONG_STATE, code=Level.SHOULD, otherwise="opposite-end-accepted")
        yield expect.refused(ahead, fenced_there, code=Level.SHOULD, otherwise="later-epoch-accepted")
    for completed, kept in zip(seen.all("ended"), seen.all("kept"), strict=True):
        yield expect.over(completed, otherwise="wrong-state")
        yield expect.unchanged(completed, kept, "state", "producer_epoch", otherwise="decision-changed")
    yield expect.marks(seen, "P1", *((result.marker, epoch) for result in results))
    pairs = zip(seen.all("write"), results, strict=True)
    committed = [value for write, result in pairs if result.commits for value in write.written()]
    yield from expect.sound(seen, committed=committed)


GOOD = adopted(__file__, "KIP890-RETRY-07")
COMMITTED = GOOD.log().committed

REQUIREMENT = Requirement(
    id="KIP890-RETRY-07",
    source=Source(890, "Background/Motivation"),
    statement="With EndTxn up to v4 a repeated end of the same kind is idempotent in the same epoch.",
    needs=(Offers("EndTxn", 3),),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.without_step("again while ending").without_step("opposite while ending")),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("answered-before-complete", GOOD.with_step("again while ending", error=0)),
        Refusal("answered-before-complete", GOOD.with_step("opposite while ending", error=0)),
        Refusal("repetition-refused", GOOD.with_step("again", error=WRONG_STATE)),
        Refusal("opposite-end-accepted", GOOD.with_step("opposite", error=0)),
        Refusal("wrong-error", GOOD.with_step("opposite", error=ENDING)),
        Refusal("unanswered", GOOD.with_step("opposite", error=None)),
        Refusal("later-epoch-accepted", GOOD.with_step("ahead", error=0)),
        Refusal("wrong-state", GOOD.with_step("ended", state="PrepareCommit").with_step("kept", state="PrepareCommit")),
        Refusal("decision-changed", GOOD.with_step("kept", producer_epoch=1)),
        Refusal("wrong-markers", GOOD.with_log("P1", log(*GOOD.log().batches, commit(7, 0)), committed=COMMITTED)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=OLD_END_NOT_REPEATABLE, anomaly="repetition-refused"),
        Failpoint(rules=OPPOSITE_END_TAKEN_FOR_REPETITION, anomaly="opposite-end-accepted"),
        Liar(api="EndTxn", instead_of=ENDING, error=0, anomaly="answered-before-complete"),
    ),
)
